// Spreads retries of many processes over time. Calls of one process that fail together get the same factor, so that they
// are sent again in their order.

/** Failures within this time have one cause. */
const TOGETHER_MS = 20

export class Jitter {
  #factor = 1
  #at = -Infinity

  /** From 0.5 to 1.5. */
  get factor(): number {
    const now = performance.now()
    if (now - this.#at > TOGETHER_MS) {
      this.#factor = 0.5 + Math.random()
      this.#at = now
    }
    return this.#factor
  }
}
