// When to renew a lease: after a third of its remaining time, or together with others after a sixth. A lease that
// already lasts beyond its planned length is left alone until it does not.

/** The minimum pause between two renewals of one lease, unless it would expire before. */
const LEAST_PAUSE_MS = 20

export class ExtensionPlan {
  readonly #holdUntil: number
  #isWanted = true
  /** When the renewal is due, by `performance.now()`; Infinity: never. */
  at: number = Infinity
  /** From when on it may be renewed together with others. */
  togetherAt: number = Infinity

  /** `holdUntil`: the latest end to which it is renewed. */
  constructor(holdUntil: number) {
    this.#holdUntil = holdUntil
  }

  /** False stops the renewal. */
  set wanted(wanted: boolean) {
    this.#isWanted = wanted
  }

  /** `leftMs` of the lease remain, and a renewal makes it last `leaseMs`. */
  renew(leftMs: number, leaseMs: number, now: number): void {
    const gainMs = this.#holdUntil - now - leftMs
    const isExtended = this.#isWanted && gainMs > leastPauseMs(3, leaseMs)
    this.at = isExtended ? now + pauseMs(3, leftMs, leaseMs) : Infinity
    this.togetherAt = isExtended ? now + pauseMs(6, leftMs, leaseMs) : Infinity
  }

  /** -Infinity: at once; Infinity: never. */
  set(at: number): void {
    this.at = at
    this.togetherAt = at
  }

  /** The length for which to renew the lease now. */
  wantedMs(leaseMs: number, now: number): number {
    return this.#isWanted ? Math.min(leaseMs, this.#holdUntil - now) : 0
  }
}

/** Until this part of the remaining time has passed. */
function pauseMs(part: number, leftMs: number, leaseMs: number): number {
  const tooLongMs = Math.max(0, leftMs - leaseMs)
  return Math.max(leastPauseMs(part, leaseMs), tooLongMs + (leftMs - tooLongMs) / part)
}

function leastPauseMs(part: number, leaseMs: number): number {
  return Math.min(LEAST_PAUSE_MS, leaseMs / part)
}
