// What a contender asks of the server: commands over the wire, and the server's time inside them.

import type { Redis } from 'ioredis'
import { cpuOf } from '../harness/server-time.ts'
import type { Stand } from './stand.ts'

export interface Cost {
  /** Sent over the wire; those that scripts call are not. */
  readonly commands: number
  /** Inside these commands, as INFO commandstats has it, in microseconds. */
  readonly insideUs: number
  /** Of the whole server process; NaN where the system does not tell. */
  readonly cpuUs: number
}

/** What INFO commandstats has of a command. */
export interface Stat {
  readonly calls: number
  readonly us: number
}

/** Starts to measure; the function that comes back tells the cost since then. */
export async function measureCost(client: Redis, pid: number, stand: Stand): Promise<() => Promise<Cost>> {
  const [before, sentBefore] = [await commandStats(client), new Map(stand.sent)]
  const cpuBefore = cpuOf(pid)
  return async () => {
    const cpuUs = cpuOf(pid) - cpuBefore
    const after = await commandStats(client)
    let [commands, insideUs] = [0, 0]
    for (const [name, count] of stand.sent) {
      const sent = count - (sentBefore.get(name) ?? 0)
      commands += sent
      // EXEC counts the time of what it runs, which is sent and counted too.
      if (name !== 'exec') insideUs += timeOf(sent, before.get(name), after.get(name))
    }
    return { commands, insideUs, cpuUs }
  }
}

/** Of a command that scripts call too, the share of those that were sent. */
function timeOf(sent: number, before: Stat | undefined, after: Stat | undefined): number {
  const calls = (after?.calls ?? 0) - (before?.calls ?? 0)
  const us = (after?.us ?? 0) - (before?.us ?? 0)
  return calls === 0 ? 0 : us * Math.min(1, sent / calls)
}

export async function commandStats(client: Redis): Promise<Map<string, Stat>> {
  const stats = await client.info('commandstats')
  const found = stats.matchAll(/^cmdstat_([^:]+):calls=(\d+),usec=(\d+)/gm)
  return new Map(
    [...found].map(([, name = '', calls, us]) => [name, { calls: Number(calls), us: Number(us) }]),
  )
}
