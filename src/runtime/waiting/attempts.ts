// How one attempt to get a lease of any kind calls the server.

import type { Grant } from '../keeper/grant.ts'
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

/** How one attempt calls the server. */
export interface Attempts {
  /** The requested length of the lease. */
  readonly leaseMs: number
  /** True when an attempt may overtake the line: it then tries once before it joins the line. */
  readonly passes: boolean
  attempt(id: string, how: AttemptHow): Promise<LineStanding>
  /** Leaves the line, or gives back what was granted in the meantime. */
  abandon(id: string, how: { listens: boolean }): Promise<unknown>
  /** Names the node of its calls. */
  readonly node: string
}

/** The part that is needed to give up. */
export type Abandoning = Pick<Attempts, 'abandon' | 'node'>

/** The last request of an attempt. */
interface LastAsk {
  readonly asking: Promise<unknown>
  readonly trace: Trace
  readonly listens: boolean
  /** It has been in line since an earlier request; default: it has not. */
  readonly stands?: boolean
}

/**
 * Not awaited: the caller has its answer. Runs after the last request has settled, so that it does not overtake that.
 */
export function abandon(
  attempts: Abandoning,
  id: string,
  mailbox: Mailbox,
  { asking, trace, listens, stands = false }: LastAsk,
): void {
  const say = (): Promise<unknown> => attempts.abandon(id, { listens })
  const node = (): string => attempts.node
  // A copy of a repeated or unanswered request may still be under way.
  const begin = (mayComeLate: boolean): void => mailbox.abandoned.add(id, { say, node, mayComeLate })
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
  attempts: Abandoning,
  id: string,
  mailbox: Mailbox,
  { trace, listens, stands = false }: Omit<LastAsk, 'asking'>,
): Grant {
  if (trace.repeated === true) {
    const onOver = (): void => abandon(attempts, id, mailbox, { asking: Promise.resolve(), trace, listens })
    return { ...grant, onOver }
  }
  if (!stands) return grant
  const say = (): Promise<unknown> => attempts.abandon(id, { listens })
  const onOver = (): void => mailbox.abandoned.know(id, { say, node: () => attempts.node })
  return { ...grant, onOver }
}
