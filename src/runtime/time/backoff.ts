// How long to pause between tries that fail: twice as long each time, up to a limit. Half of each pause is random, so that
// processes that failed together do not try again together.

export class ExponentialBackoff {
  readonly #firstMs: number
  readonly #longestMs: number
  #failures = 0

  constructor(firstMs: number, longestMs: number) {
    this.#firstMs = firstMs
    this.#longestMs = longestMs
  }

  /** How many tries have failed since the last one that did not. */
  get failures(): number {
    return this.#failures
  }

  /** How long to pause after one more failure, in whole milliseconds. */
  next(): number {
    const ms = Math.min(this.#longestMs, this.#firstMs * 2 ** this.#failures)
    this.#failures += 1
    return Math.ceil(ms * (0.5 + Math.random() / 2))
  }

  /** A try did not fail. */
  reset(): void {
    this.#failures = 0
  }
}
