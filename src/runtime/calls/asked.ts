// Answer sizes are estimated from earlier answers: those of the same key, or, for a new key, the first answers of the
// other keys of its share.

/** Answers above this size are large. */
const LARGE_BYTES = 65_536
/**
 * The number of calls of a share under way before its first answer, and at most. Calls with large expected answers are
 * limited by their bytes instead.
 */
const FIRST_OF_SHARE = 4
const MOST_OF_SHARE = 32

/** An estimate that follows growth at once and shrinks slowly: a few small answers do not hide one large answer. */
function guessFrom(before: number, bytes: number): number {
  const guess = Math.max(bytes, before > 0 ? (before * 3 + bytes) / 4 : 0)
  return guess > LARGE_BYTES ? guess : 0
}

/** How many calls of one share with small expected answers may be under way. */
export class Window {
  due = 0
  #most = FIRST_OF_SHARE
  /** The number of known keys of this share. */
  keys = 0
  /** The estimated size of a key's first answer when such answers are large; else 0. */
  bytesOfFirst = 0

  get hasRoom(): boolean {
    return this.due < this.#most
  }

  learnFirst(bytes: number): void {
    this.bytesOfFirst = guessFrom(this.bytesOfFirst, bytes)
  }

  /** Learns whether an answer that was expected to be small was small. */
  learn(isSmall: boolean): void {
    if (!isSmall) this.#most = FIRST_OF_SHARE
    else if (this.#most < MOST_OF_SHARE) this.#most += 1
  }
}

/** The calls for one key. */
export class CallsOfKey<Asking> {
  readonly key: string
  readonly window: Window
  waiting: Set<Asking>
  due = 0
  readonly #shareOf: (key: string) => string
  #share: string | undefined
  #bytes = 0
  #isNew = true

  constructor(key: string, shareOf: (key: string) => string, window: Window, none: Set<Asking>) {
    this.key = key
    this.window = window
    this.waiting = none
    this.#shareOf = shareOf
  }

  /** Computed on demand: most keys never have a waiting call. */
  get share(): string {
    return (this.#share ??= this.#shareOf(this.key))
  }

  /** The estimated size of an answer when answers are large; else 0. */
  get bytes(): number {
    return this.#isNew ? this.window.bytesOfFirst : this.#bytes
  }

  get idle(): boolean {
    return this.due === 0 && this.waiting.size === 0
  }

  /** Learns from the size of an answer. */
  learn(bytes: number): void {
    const wasLarge = this.bytes > 0
    this.#bytes = this.#isNew ? guessFrom(0, bytes) : guessFrom(this.#bytes, bytes)
    if (this.#isNew) this.window.learnFirst(bytes)
    this.#isNew = false
    if (!wasLarge) this.window.learn(this.#bytes === 0)
  }
}
