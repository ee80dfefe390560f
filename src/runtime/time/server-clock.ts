// Estimates the server's time for decisions in this process. Every answer with the server's time bounds the offset of
// the two clocks: the server read its clock after the request and before the answer. The narrowest bounds apply. They
// widen with age, because clocks drift.

/** The maximum drift between two clocks: 0.1 %. */
const DRIFT = 0.001
/** Older bounds are not used. */
const KNOWN_FOR_MS = 600_000
/** Bounds of this age should be renewed. */
const RENEW_AFTER_MS = 20_000

export class ServerClock {
  #low = -Infinity
  #high = Infinity
  /** When these bounds were determined, by `performance.now()`. */
  #at = -Infinity

  /** `nowMs`: the server's time, from the answer to a request made at `askedAt`, by `performance.now()`. */
  note(nowMs: number, askedAt: number, answeredAt: number = performance.now()): void {
    const [low, high] = [nowMs - answeredAt, nowMs + 1 - askedAt]
    const widerBy = (answeredAt - this.#at) * DRIFT
    const [knownLow, knownHigh] = [this.#low - widerBy, this.#high + widerBy]
    // The server's clock was set, or another server has answered.
    const disagree = low > knownHigh || high < knownLow
    const narrower = high - low <= knownHigh - knownLow
    if (disagree || narrower || !this.known) [this.#low, this.#high, this.#at] = [low, high, answeredAt]
  }

  /** False before the first server time, and when it was long ago. */
  get known(): boolean {
    return performance.now() - this.#at < KNOWN_FOR_MS
  }

  /** True when a caller should ask again. */
  agedAt(now: number): boolean {
    return now - this.#at > RENEW_AFTER_MS
  }

  /**
   * The latest possible server time, in Unix milliseconds; never earlier than the real one. `now`: by
   * `performance.now()`.
   */
  latestMs(now: number = performance.now()): number {
    return now + this.#high + (now - this.#at) * DRIFT
  }

  forget(): void {
    this.#at = -Infinity
  }
}
