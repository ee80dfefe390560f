// When a lease is extended by itself: when a third of what is left has passed, or together with others when a sixth has.
// A lease that lasts longer than it is to be extended is left alone until it does not.

/** Two extensions of one lease are so far apart at least, unless it is so short that it would end before. */
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
    const gainMs = this.#holdUntil - now - leftMs
    const isExtended = this.#isWanted && gainMs > leastPauseMs(3, leaseMs)
    this.at = isExtended ? now + pauseMs(3, leftMs, leaseMs) : Infinity
    this.togetherAt = isExtended ? now + pauseMs(6, leftMs, leaseMs) : Infinity
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

/** Until this part of the lease has passed. */
function pauseMs(part: number, leftMs: number, leaseMs: number): number {
  const tooLongMs = Math.max(0, leftMs - leaseMs)
  return Math.max(leastPauseMs(part, leaseMs), tooLongMs + (leftMs - tooLongMs) / part)
}

function leastPauseMs(part: number, leaseMs: number): number {
  return Math.min(LEAST_PAUSE_MS, leaseMs / part)
}
