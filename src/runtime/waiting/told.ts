// Where the processes of those who wait in a line are told what became of them (lua/shared/line).

import type { LineTerms } from './line.ts'
import type { ToldChannel, Unit } from '../connection/unit.ts'
import { toWaitMs, type Waiting } from './wait.ts'

/** Whoever is handed something has this long to confirm that it is there: by extending or releasing it. */
export const CLAIM_MS = 1000

/** Everybody who waits for something of this unit is told on a channel that begins so. */
function channelOf(unit: Unit): string | Promise<string> {
  if (unit.runtime.server.info !== null) return unit.told.channel
  return learnTold(unit).then(({ channel }) => channel)
}

/** How somebody stands in the line of this unit. Throws InvalidArgumentError. */
export function lineTermsOf(unit: Unit, waiting: Waiting): LineTerms {
  return {
    mailbox: unit.runtime.mailbox,
    deadlines: unit.runtime.runner.deadlines,
    line: unit.beginning,
    channel: () => channelOf(unit),
    waitMs: toWaitMs(waiting),
    signal: waiting.signal,
  }
}

/** Where those who wait are told, once the server is known: before that a cluster would be taken for one node. */
export async function learnTold(unit: Unit): Promise<ToldChannel> {
  if (unit.runtime.server.info === null) await unit.learn()
  return unit.told
}
