// How large answers will be is guessed from those before: of a key from its own, of a key that has had none from the first answers
// of the other keys of its share.

/** Above it an answer is a large one. */
const LARGE_BYTES = 65_536
/** Calls of a share that are under way before its first answer, and at most; those for which large answers are expected are counted by their bytes instead. */
const FIRST_OF_SHARE = 4
const MOST_OF_SHARE = 32

/** A guess that follows what grows at once, and what shrinks by and by: one large answer is not forgotten over a few small ones. */
function guessFrom(before: number, bytes: number): number {
  const guess = Math.max(bytes, before > 0 ? (before * 3 + bytes) / 4 : 0)
  return guess > LARGE_BYTES ? guess : 0
}

/** How many calls one share has under way for which small answers are expected. */
export class Window {
  due = 0
  #most = FIRST_OF_SHARE
  /** Keys that are known of this share. */
  keys = 0
  /** Of the first answer of a key, where they are large; else 0. */
  bytesOfFirst = 0

  get hasRoom(): boolean {
    return this.due < this.#most
  }

  learnFirst(bytes: number): void {
    this.bytesOfFirst = guessFrom(this.bytesOfFirst, bytes)
  }

  /** An answer that was expected to be small: whether it was. */
  learn(isSmall: boolean): void {
    if (!isSmall) this.#most = FIRST_OF_SHARE
    else if (this.#most < MOST_OF_SHARE) this.#most += 1
  }
}

/** What is asked by one key. */
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

  /** Most never wait, and have no need of it. */
  get share(): string {
    return (this.#share ??= this.#shareOf(this.key))
  }

  /** Of an answer, where they are large; else 0. */
  get bytes(): number {
    return this.#isNew ? this.window.bytesOfFirst : this.#bytes
  }

  get idle(): boolean {
    return this.due === 0 && this.waiting.size === 0
  }

  /** From the size of an answer. */
  learn(bytes: number): void {
    const wasLarge = this.bytes > 0
    this.#bytes = this.#isNew ? guessFrom(0, bytes) : guessFrom(this.#bytes, bytes)
    if (this.#isNew) this.window.learnFirst(bytes)
    this.#isNew = false
    if (!wasLarge) this.window.learn(this.#bytes === 0)
  }
}
