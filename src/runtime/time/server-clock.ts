// What time it is for the server, for whoever must judge by itself. Every answer that tells the server's time
// bounds the offset of the two clocks: the server looked at its clock after it was asked and before the answer
// came. The narrowest bounds count, and they widen as they age, for no two clocks run alike.

/** How much two clocks drift apart, at most: 0.1 %. */
const DRIFT = 0.001
/** Bounds that are older say nothing any more. */
const KNOWN_FOR_MS = 600_000
/** From then on it is time to ask again. */
const RENEW_AFTER_MS = 20_000

export class ServerClock {
  #low = -Infinity
  #high = Infinity
  /** When these bounds were learnt, by `performance.now()`. */
  #at = -Infinity

  /** `nowMs`: what the server answered to a question asked at `askedAt`, by `performance.now()`. */
  note(nowMs: number, askedAt: number, answeredAt: number = performance.now()): void {
    const [low, high] = [nowMs - answeredAt, nowMs + 1 - askedAt]
    const widerBy = (answeredAt - this.#at) * DRIFT
    const [knownLow, knownHigh] = [this.#low - widerBy, this.#high + widerBy]
    // The server's clock was set, or another server answers.
    const disagree = low > knownHigh || high < knownLow
    const narrower = high - low <= knownHigh - knownLow
    if (disagree || narrower || !this.known) [this.#low, this.#high, this.#at] = [low, high, answeredAt]
  }

  /** False until the server has told the time, and when that is long ago. */
  get known(): boolean {
    return performance.now() - this.#at < KNOWN_FOR_MS
  }

  /** True when somebody should ask again. */
  agedAt(now: number): boolean {
    return now - this.#at > RENEW_AFTER_MS
  }

  /** The latest that it may be for the server, in Unix milliseconds: never before its own time. `now`: by `performance.now()`. */
  latestMs(now: number = performance.now()): number {
    return now + this.#high + (now - this.#at) * DRIFT
  }

  forget(): void {
    this.#at = -Infinity
  }
}
