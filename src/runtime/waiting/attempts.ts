// How one attempt to get a lease of any kind calls the server.

import type { Grant } from '../keeper/grant.ts'
import type { LastWord } from '../subscriptions/abandoned.ts'
import type { Mailbox } from '../subscriptions/mailbox.ts'
import { didNotHappen } from '../errors/outage.ts'
import type { Trace } from '../calls/runner.ts'

export type LineStanding =
  | {
      readonly status: 'granted'
      readonly token: number
      readonly expiresAtMs: number
      readonly nowMs: number
    }
  | { readonly status: 'held' | 'full'; readonly retryAfterMs: number }
  | {
      readonly status: 'queued'
      readonly position: number
      readonly recheckMs: number
      readonly nowMs: number
    }

export interface AttemptHow {
  /** Waits in line when nothing is free. */
  readonly waits: boolean
  /** Letters reach this process. */
  readonly listens: boolean
  /** Accepts an offer for the whole lease: it has asked before. */
  readonly confirms?: boolean
  readonly trace?: Trace
}

/** How one attempt calls the server, and leaves the line or gives back what was granted in the meantime. */
export interface Attempts extends LastWord {
  /** The requested length of the lease. */
  readonly leaseMs: number
  /** True when an attempt may overtake the line: it then tries once before it joins the line. */
  readonly passes: boolean
  attempt(id: string, how: AttemptHow): Promise<LineStanding>
}

/** The last request of an attempt. */
interface LastAsk {
  readonly asking: Promise<unknown>
  readonly trace: Trace
  /** It has been in line since an earlier request; default: it has not. */
  readonly stands?: boolean
}

/**
 * Not awaited: the caller has its answer. Runs after the last request has settled, so that it does not overtake that.
 */
export function abandon(
  attempts: LastWord,
  id: string,
  mailbox: Mailbox,
  { asking, trace, stands = false }: LastAsk,
): void {
  // A copy of a repeated or unanswered request may still be under way.
  const begin = (mayComeLate: boolean): void => mailbox.abandoned.add(id, attempts, mayComeLate)
  asking.then(
    () => begin(trace.repeated === true),
    (error: unknown) => {
      if (!didNotHappen(error)) begin(true)
      else if (stands || trace.repeated === true) begin(trace.repeated === true)
    },
  )
}

/**
 * Abandons an attempt after its lease is over, as far as needed. A copy of a repeated request would get a lease without
 * a holder: such an attempt is abandoned at once. An attempt that was in line may be there again, on a server that
 * continues from an older state: it is abandoned when a letter comes for it.
 */
export function guarded(
  grant: Grant,
  attempts: LastWord,
  id: string,
  mailbox: Mailbox,
  { trace, stands = false }: Omit<LastAsk, 'asking'>,
): Grant {
  if (trace.repeated === true) {
    const onOver = (): void => abandon(attempts, id, mailbox, { asking: Promise.resolve(), trace })
    return { ...grant, onOver }
  }
  if (!stands) return grant
  const { token, expiresAtMs, askedAt, endsAt } = grant
  return { token, expiresAtMs, askedAt, endsAt, onOver: () => mailbox.abandoned.know(id, attempts) }
}
