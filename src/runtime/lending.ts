// Leases for somebody else: this process stands in line and hands a token on. It neither extends the lease nor
// watches it, and keeps nothing of it.

import type { Grant } from './grant.ts'
import { unlessAborted } from './in-time.ts'
import type { LeaseKind } from './lease-keeper.ts'
import { type LineTerms, standInLine } from './line.ts'
import type { Attempts, Standing } from './waiter.ts'

/** Why nothing was lent: one of a kind is held, or all of a limit is out. */
export type NotLent = 'held' | 'full'

/** What became of a wish to lend. */
export type Lent<Refusal extends NotLent = 'held'> =
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

export interface LendTerms<Refusal extends NotLent> extends LineTerms {
  readonly refusal: Refusal
  readonly kind: LeaseKind
  /** What the keys of the unit begin with. */
  readonly beginning: string
  readonly leaseMs: number
}

/** Stands in line for `waitMs`, then tries once more. Rejects with the signal's reason. */
export async function lend<Refusal extends NotLent>(
  attempts: Attempts,
  terms: LendTerms<Refusal>,
): Promise<Lent<Refusal>> {
  const { mailbox, leaseMs, waitMs, refusal } = terms
  const grant = waitMs === 0 ? null : await standInLine(attempts, terms)
  const expiresAtMs = grant === null ? 0 : await confirm(grant, terms)
  if (grant !== null && expiresAtMs > 0)
    return { status: 'granted', token: grant.token, leaseMs, expiresAtMs }
  terms.signal?.throwIfAborted()
  const last = await tryAgain(attempts, mailbox.newId(), terms.signal)
  if (last.status === 'granted') {
    return { status: 'granted', token: last.token, leaseMs, expiresAtMs: last.expiresAtMs }
  }
  return { status: refusal, retryAfterMs: last.status === 'queued' ? last.recheckMs : last.retryAfterMs }
}

/** One attempt more; what is granted after the signal has aborted is given back. */
function tryAgain(attempts: Attempts, id: string, signal: AbortSignal | undefined): Promise<Standing> {
  const asking = attempts.attempt(id, { waits: false, listens: false })
  return unlessAborted(asking, signal, () => attempts.abandon(id, { listens: false }))
}

/** When the lease ends; 0: it has. One that was handed over is short until it is extended for the first time. */
async function confirm(
  { token, expiresAtMs, endsAt }: Grant,
  terms: Pick<LendTerms<NotLent>, 'kind' | 'beginning' | 'leaseMs'>,
): Promise<number> {
  const { kind, beginning, leaseMs } = terms
  if (endsAt - performance.now() >= leaseMs * 0.9) return expiresAtMs
  const { endsAtMs } = await kind.extend([{ beginning, token, leaseMs }])
  return endsAtMs[0] ?? 0
}
