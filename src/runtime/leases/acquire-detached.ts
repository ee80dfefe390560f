// Leases for somebody else: this process stands in line and hands a token on. It neither extends the lease nor
// watches it, and keeps nothing of it.

import { type Attempts, abandon, type LineStanding } from '../waiting/attempts.ts'
import { askingAt, ROUNDING_MS, toGrant } from '../keeper/grant.ts'
import { unlessAborted } from '../time/in-time.ts'
import { type LineTerms, standInLine } from '../waiting/line.ts'
import type { Trace } from '../calls/runner.ts'

/** Why no lease was granted: the one of its kind is held, or all of a limit is out. */
export type NotGranted = 'held' | 'full'

/** A lease for another process, or why there is none. */
export type DetachedLease<Refusal extends NotGranted = 'held'> =
  | {
      readonly status: 'granted'
      /** Greater than that of every earlier lease on the same resource. */
      readonly token: number
      readonly leaseMs: number
      /** When the lease ends, in milliseconds of the server's clock. */
      readonly expiresAtMs: number
    }
  /** Nothing became free in time; something will after `retryAfterMs`, unless it is extended. */
  | { readonly status: Refusal; readonly retryAfterMs: number }

export interface DetachedTerms<Refusal extends NotGranted> extends LineTerms {
  readonly refusal: Refusal
  readonly leaseMs: number
}

/** Stands in line for `waitMs`, then tries once more. Rejects with the signal's reason. */
export async function acquireDetached<Refusal extends NotGranted>(
  attempts: Attempts,
  terms: DetachedTerms<Refusal>,
): Promise<DetachedLease<Refusal>> {
  const { leaseMs, waitMs, refusal } = terms
  const grant = waitMs === 0 ? null : await standInLine(attempts, terms)
  if (grant !== null)
    return { status: 'granted', token: grant.token, leaseMs, expiresAtMs: grant.expiresAtMs }
  terms.signal?.throwIfAborted()
  const last = await tryAgain(attempts, terms)
  if (last.status === 'granted') {
    return { status: 'granted', token: last.token, leaseMs, expiresAtMs: last.expiresAtMs }
  }
  return { status: refusal, retryAfterMs: last.status === 'queued' ? last.recheckMs : last.retryAfterMs }
}

/** One attempt more. */
async function tryAgain(
  attempts: Attempts,
  { mailbox, signal }: Pick<LineTerms, 'mailbox' | 'signal'>,
): Promise<LineStanding> {
  const id = mailbox.newId()
  const askedAt = askingAt()
  const trace: Trace = {}
  const asking = attempts.attempt(id, { waits: false, listens: false, trace })
  const giveUp = (): void => abandon(attempts, id, mailbox, { asking, trace, listens: false })
  try {
    const standing = await unlessAborted(asking, signal)
    if (standing.status === 'granted' && toGrant(standing, askedAt).endsAt <= performance.now()) {
      // Spent on the way: it is anybody's by now.
      giveUp()
      return { status: 'held', retryAfterMs: ROUNDING_MS }
    }
    // A copy that comes late would be granted to nobody.
    if (standing.status !== 'granted' && trace.repeated === true) giveUp()
    return standing
  } catch (error) {
    // Without an answer, or after the signal has aborted, it may have been granted: to nobody.
    giveUp()
    throw error
  }
}
