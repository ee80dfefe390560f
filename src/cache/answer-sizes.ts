// How many values may be asked for at once: as many as come as 2 MiB, by the mean of those that came before. All that is asked for
// comes over one connection, and others wait behind it; who waits here has not asked yet, so that no server is late for him. What this
// process stores counts as well as what it reads: a key is mostly absent, then stored, and only then read.

const MOST_BYTES = 2 * 1024 * 1024
/** Smaller values are asked for in any number. */
const LARGE_BYTES = 65_536
/** While none has come. */
const FIRST = 4
/** So many keys the mean is of, about. */
const LOOKED_BACK = 16

export class AnswerSizes {
  /** Of the values of keys; null before the first answer. */
  #mean: number | null = null
  #due = 0

  /** How many more keys may be asked for. */
  get room(): number {
    return Math.max(0, this.#most() - this.#due)
  }

  asked(keys: number): void {
    this.#due += keys
  }

  /** Nobody waits for their answer any more; `bytes` of all of them, null where there was none. */
  over(keys: number, bytes: number | null): void {
    this.#due -= keys
    if (bytes !== null) this.learn(keys, bytes)
  }

  /** So many bytes are what comes for so many keys, or will come. */
  learn(keys: number, bytes: number): void {
    if (keys === 0) return
    const before = this.#mean === null ? 0 : LOOKED_BACK
    this.#mean = ((this.#mean ?? 0) * before + bytes) / (before + keys)
  }

  #most(): number {
    if (this.#mean === null) return FIRST
    return this.#mean < LARGE_BYTES ? Infinity : Math.max(1, Math.floor(MOST_BYTES / this.#mean))
  }
}
