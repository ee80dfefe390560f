// Detached leases: this process waits in line and passes the token on. It neither renews the lease nor watches it, and
// stores nothing about it.

import { type Attempts, abandon, type LineStanding } from '../waiting/attempts.ts'
import { askingAt, ROUNDING_MS, toGrant } from '../keeper/grant.ts'
import { unlessAborted } from '../time/in-time.ts'
import { type LineTerms, standInLine } from '../waiting/line.ts'
import type { Trace } from '../calls/runner.ts'

/** Why no lease was granted: it is held, or the limit is used up. */
export type NotGranted = 'held' | 'full'

/** A lease for another process, or the reason why there is none. */
export type DetachedLease<Refusal extends NotGranted = 'held'> =
  | {
      readonly status: 'granted'
      /** Greater than that of every earlier lease on the same resource. */
      readonly token: number
      readonly leaseMs: number
      /** When the lease ends, in milliseconds of the server's clock. */
      readonly expiresAtMs: number
    }
  /** Nothing became free in time; something will after `retryAfterMs`, unless its lease is extended. */
  | { readonly status: Refusal; readonly retryAfterMs: number }

export interface DetachedTerms<Refusal extends NotGranted> extends LineTerms {
  readonly refusal: Refusal
  readonly leaseMs: number
}

/** Waits in line for `waitMs`, then tries once more. Rejects with the signal's reason. */
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

/** One more attempt. */
async function tryAgain(
  attempts: Attempts,
  { mailbox, signal }: Pick<LineTerms, 'mailbox' | 'signal'>,
): Promise<LineStanding> {
  const id = mailbox.newId()
  const askedAt = askingAt()
  const trace: Trace = {}
  const asking = attempts.attempt(id, { waits: false, listens: false, trace })
  const giveUp = (): void => abandon(attempts, id, mailbox, { asking, trace })
  try {
    const standing = await unlessAborted(asking, signal)
    if (standing.status === 'granted' && toGrant(standing, askedAt).endsAt <= performance.now()) {
      // The lease expired on the way; others may have it by now.
      giveUp()
      return { status: 'held', retryAfterMs: ROUNDING_MS }
    }
    // A delayed copy of the request would get a lease without a holder.
    if (standing.status !== 'granted' && trace.repeated === true) giveUp()
    return standing
  } catch (error) {
    // Without an answer, or after an abort, a lease without a holder may have been granted.
    giveUp()
    throw error
  }
}
