// What a process may believe of a lease. Its clock is monotonic and its answers travel, so it counts from before
// it asked, and never says "held" when the server does not.

/** A lease that the server granted: by whose clock it ends, and when by ours at the latest. */
export interface Grant {
  readonly token: number
  readonly expiresAtMs: number
  /** `performance.now()` at which the lease is over for this process; never later than for the server. */
  readonly endsAt: number
}

/** The server counts whole milliseconds, so a lease may end up to one earlier than its length says. */
export const ROUNDING_MS = 1

/** `endsAt` of a lease of this length. `askedAt`: `performance.now()` before it was asked for. */
export function endsAtOf(askedAt: number, lengthMs: number): number {
  return askedAt + lengthMs - ROUNDING_MS
}

/** What was answered to a question asked at `askedAt`. */
export function toGrant(
  { token, expiresAtMs, nowMs }: { token: number; expiresAtMs: number; nowMs: number },
  askedAt: number,
): Grant {
  return { token, expiresAtMs, endsAt: endsAtOf(askedAt, expiresAtMs - nowMs) }
}
