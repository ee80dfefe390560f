// How long this process may regard a lease as held. Its clock is monotonic, and answers take time, so it counts from
// before the request and never reports "held" when the server does not. Time that this clock omits, while the machine
// was suspended, is added.

import { lookAgain, lookForSuspension, suspendedMs, suspendedSince } from '../time/suspended.ts'

/** A lease that the server granted: its end by the server's clock, and the latest end for this process. */
export interface Grant {
  readonly token: number
  readonly expiresAtMs: number
  /** `askingAt()` before its last request. */
  readonly askedAt: number
  /** The end of the lease for this process, by `performance.now()`; never later than for the server. */
  readonly endsAt: number
  /** Call this once the lease is over: a copy of the request may still be under way. */
  readonly onOver?: () => void
}

/** An end of something for this process, by `performance.now()`; a suspension of the machine moves it closer. */
export class End {
  /** By `performance.now()` alone: the lease is certainly over by then. */
  readonly latest: number
  /** When it was requested; for ends reported by others, when the report came. */
  readonly askedAt: number
  /** The total suspension before the ones that move this end. */
  readonly #suspendedMs: number

  /**
   * `suspendedBeforeMs`: suspensions noticed after this total move the end closer; default: those noticed from now on.
   */
  constructor(at: number, askedAt: number = performance.now(), suspendedBeforeMs: number = suspendedMs()) {
    this.latest = at
    this.askedAt = askedAt
    this.#suspendedMs = suspendedBeforeMs
  }

  /** Includes all suspensions noticed since. */
  get at(): number {
    return this.latest - (suspendedMs() - this.#suspendedMs)
  }

  /** Checks for suspensions first; never below 0. */
  get leftMs(): number {
    lookForSuspension()
    // The clock with which the lease was measured: a test may have replaced it since.
    return Math.max(0, this.at - performance.now())
  }
}

/** The server uses whole milliseconds, so a lease may end up to 1 ms earlier than its length says. */
export const ROUNDING_MS = 1

/**
 * `performance.now()` before a lease is requested. Checks for suspensions, so that earlier ones do not shorten the
 * lease.
 */
export function askingAt(): number {
  const now = performance.now()
  lookAgain(now)
  return now
}

/** The end of a lease of this length, as of now. `askedAt`: `askingAt()` before its request. */
export function endsAtOf(askedAt: number, lengthMs: number): number {
  return askedAt + lengthMs - ROUNDING_MS - suspendedSince(askedAt)
}

/**
 * The end of a lease of this length that was requested at `askedAt`. A suspension since then counts only as a possible
 * one, like future ones.
 */
export function endOf(askedAt: number, lengthMs: number): End {
  const sinceMs = suspendedSince(askedAt)
  return new End(askedAt + lengthMs - ROUNDING_MS, askedAt, suspendedMs() - sinceMs)
}

/** The answer to a request made at `askedAt`. */
export function toGrant(
  { token, expiresAtMs, nowMs }: { token: number; expiresAtMs: number; nowMs: number },
  askedAt: number,
): Grant {
  return { token, expiresAtMs, askedAt, endsAt: endsAtOf(askedAt, expiresAtMs - nowMs) }
}
