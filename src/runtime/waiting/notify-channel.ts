// The channel on which processes of waiters are notified of grants (lua/shared/line).

import type { LineTerms } from './line.ts'
import type { Trace } from '../calls/runner.ts'
import type { NotifyChannel, Unit } from '../connection/unit.ts'
import { toWaitMs, type Waiting } from './wait.ts'

/** How long the receiver of a hand-off has to confirm it, by extending or releasing the lease. */
export const CLAIM_MS = 1000

/** The beginning of the channels on which waiters for this unit are notified. */
function channelOf(unit: Unit): string | Promise<string> {
  if (unit.runtime.server.info !== null) return unit.notifyChannel.channel
  return learnNotifyChannel(unit).then(({ channel }) => channel)
}

/** How to wait in the line of this unit. Throws InvalidArgumentError. */
export function lineTermsOf(unit: Unit, waiting: Waiting): LineTerms {
  return {
    mailbox: unit.runtime.mailbox,
    deadlines: unit.runtime.runner.deadlines,
    line: unit.beginning,
    channel: () => channelOf(unit),
    node: unit.node,
    mayBeCleared: (since) => unit.runtime.keeper.mayBeCleared(unit.beginning, since),
    waitMs: toWaitMs(waiting),
    signal: waiting.signal,
  }
}

/**
 * The notification channel, once the server is known: until then a cluster would be taken for a single node. A call
 * that follows with this trace ends by the same deadline.
 */
export async function learnNotifyChannel(unit: Unit, trace: Trace = {}): Promise<NotifyChannel> {
  if (unit.runtime.server.info === null) await unit.learnFor(trace)
  return unit.notifyChannel
}
