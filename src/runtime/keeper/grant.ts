// What a process may believe of a lease. Its clock is monotonic and its answers travel, so it counts from before
// it asked, and never says "held" when the server does not. What that clock leaves out, a suspended machine, is added.

import { lookAgain, lookForSuspension, suspendedMs, suspendedSince } from '../time/suspended.ts'

/** A lease that the server granted: by whose clock it ends, and when by ours at the latest. */
export interface Grant {
  readonly token: number
  readonly expiresAtMs: number
  /** `askingAt()` before it was asked for the last time. */
  readonly askedAt: number
  /** `performance.now()` at which the lease is over for this process; never later than for the server. */
  readonly endsAt: number
  /** To be called once the lease is over: a copy of the question may still be on its way. */
  readonly onOver?: () => void
}

/** When something ends for this process, as a `performance.now()` that a suspension of the machine brings nearer. */
export class End {
  /** By `performance.now()` alone: there is no doubt any more. */
  readonly latest: number
  /** When it was asked for what ends so; of what others told, when that came. */
  readonly askedAt: number
  /** Of the suspensions that count for it those before it. */
  readonly #suspendedMs: number

  /** `suspendedBeforeMs`: suspensions noticed after these bring it nearer; default: those noticed from now on. */
  constructor(at: number, askedAt: number = performance.now(), suspendedBeforeMs: number = suspendedMs()) {
    this.latest = at
    this.askedAt = askedAt
    this.#suspendedMs = suspendedBeforeMs
  }

  /** With all suspensions that were noticed since. */
  get at(): number {
    return this.latest - (suspendedMs() - this.#suspendedMs)
  }

  /** Looks for suspensions; never below 0. */
  get leftMs(): number {
    lookForSuspension()
    // The clock by which the lease was counted: a test may have replaced it since.
    return Math.max(0, this.at - performance.now())
  }
}

/** The server counts whole milliseconds, so a lease may end up to one earlier than its length says. */
export const ROUNDING_MS = 1

/** `performance.now()` before a lease is asked for. Looks for suspensions, so that earlier ones do not shorten the lease. */
export function askingAt(): number {
  const now = performance.now()
  lookAgain(now)
  return now
}

/** `endsAt` of a lease of this length, as of now. `askedAt`: `askingAt()` before it was asked for. */
export function endsAtOf(askedAt: number, lengthMs: number): number {
  return askedAt + lengthMs - ROUNDING_MS - suspendedSince(askedAt)
}

/** When a lease of this length ends that was asked for then. A suspension since is one that may be none, as those to come. */
export function endOf(askedAt: number, lengthMs: number): End {
  const sinceMs = suspendedSince(askedAt)
  return new End(askedAt + lengthMs - ROUNDING_MS, askedAt, suspendedMs() - sinceMs)
}

/** What was answered to a question asked at `askedAt`. */
export function toGrant(
  { token, expiresAtMs, nowMs }: { token: number; expiresAtMs: number; nowMs: number },
  askedAt: number,
): Grant {
  return { token, expiresAtMs, askedAt, endsAt: endsAtOf(askedAt, expiresAtMs - nowMs) }
}
