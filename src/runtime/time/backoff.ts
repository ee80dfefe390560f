// Exponential backoff: pauses between failing attempts double, up to a limit. Half of each pause is random, so that
// processes that failed together do not retry together.

export class ExponentialBackoff {
  readonly #firstMs: number
  readonly #longestMs: number
  #failures = 0

  constructor(firstMs: number, longestMs: number) {
    this.#firstMs = firstMs
    this.#longestMs = longestMs
  }

  /** The number of failures since the last success. */
  get failures(): number {
    return this.#failures
  }

  /** The pause after one more failure, in whole milliseconds. */
  next(): number {
    const ms = Math.min(this.#longestMs, this.#firstMs * 2 ** this.#failures)
    this.#failures += 1
    return Math.ceil(ms * (0.5 + Math.random() / 2))
  }

  /** An attempt has succeeded. */
  reset(): void {
    this.#failures = 0
  }
}
