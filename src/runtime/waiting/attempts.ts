// How one attempt to get a lease speaks to the server, whatever it is a lease on.

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
  /** Stands in line when nothing is free. */
  readonly waits: boolean
  /** Letters reach this process. */
  readonly listens: boolean
  /** Takes what it was offered for the whole lease: it has asked before. */
  readonly confirms?: boolean
  readonly trace?: Trace
}

/** How one attempt speaks to the server. */
export interface Attempts {
  /** How long what it gets is to last. */
  readonly leaseMs: number
  /** True when an attempt may go before those in line: it then tries before it stands in line itself. */
  readonly passes: boolean
  attempt(id: string, how: AttemptHow): Promise<LineStanding>
  /** Leaves the line, or gives back what was granted meanwhile. */
  abandon(id: string, how: { listens: boolean }): Promise<unknown>
  /** Names the node that it speaks to. */
  readonly node: string
}

/** What gives up needs to know of them. */
export type Abandoning = Pick<Attempts, 'abandon' | 'node'>

/** The last time that an attempt asked. */
interface LastAsk {
  readonly asking: Promise<unknown>
  readonly trace: Trace
  readonly listens: boolean
  /** It stands in line from an ask before; default: it does not. */
  readonly stands?: boolean
}

/** Not awaited: the caller has its answer. After what was asked last has settled, so that it overtakes nothing. */
export function abandon(
  attempts: Abandoning,
  id: string,
  mailbox: Mailbox,
  { asking, trace, listens, stands = false }: LastAsk,
): void {
  const say = (): Promise<unknown> => attempts.abandon(id, { listens })
  const node = (): string => attempts.node
  // A copy of what was sent twice, or was never answered, may still be on its way.
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
 * An attempt goes on to be answered for once its lease is over. A copy of a question that was sent twice would be granted to nobody: it is
 * abandoned from then on. One that stood in line may stand there again, on a server that goes on from an older state: it is abandoned when
 * it is told something.
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
