// When a lease is extended by itself: when a third of what is left has passed, or together with others when a sixth has.

/** Two extensions of one lease are so far apart at least. */
const LEAST_PAUSE_MS = 20

export class ExtensionPlan {
  readonly #holdUntil: number
  #isWanted = true
  /** When it is due, by `performance.now()`; Infinity: not at all. */
  at: number = Infinity
  /** From when on it may go along with others. */
  togetherAt: number = Infinity

  /** `holdUntil`: until when it is extended at most. */
  constructor(holdUntil: number) {
    this.#holdUntil = holdUntil
  }

  /** False: it is not extended by itself any more. */
  set wanted(wanted: boolean) {
    this.#isWanted = wanted
  }

  /** So much of the lease is left, and so long it is to last again. */
  renew(leftMs: number, leaseMs: number, now: number): void {
    const longer = Math.min(leaseMs, this.#holdUntil - now - leftMs / 3) > (leftMs * 2) / 3
    const isExtended = longer && this.#isWanted
    this.at = isExtended ? now + Math.max(LEAST_PAUSE_MS, leftMs / 3) : Infinity
    this.togetherAt = isExtended ? now + Math.max(LEAST_PAUSE_MS, leftMs / 6) : Infinity
  }

  /** -Infinity: at once; Infinity: not at all. */
  set(at: number): void {
    this.at = at
    this.togetherAt = at
  }

  /** How long to extend the lease now. */
  wantedMs(leaseMs: number, now: number): number {
    return this.#isWanted ? Math.min(leaseMs, this.#holdUntil - now) : 0
  }
}
