// What work on jobs costs the server and this process.

import type { Redis } from 'ioredis'
import { cpuOf } from '../harness/server-time.ts'
import { commandStats, type Stat } from '../locks/cost.ts'

export interface Cost {
  /** Of the whole server process; NaN where the system does not tell. */
  readonly cpuUs: number
  /** Inside scripts and the commands sent beside them, as INFO commandstats has it. */
  readonly insideUs: number
  /** How many scripts and commands beside them. */
  readonly commands: number
  /** How many commands those scripts called. */
  readonly called: number
  /** Of this process, the bench's own share included. */
  readonly clientCpuUs: number
}

const SCRIPTS = new Set(['eval', 'evalsha', 'fcall'])

/** Starts to measure; the function that comes back tells the cost since then. `sends` as a `Source` has it. */
export async function measureCost(
  client: Redis,
  pid: number,
  sends: readonly string[],
): Promise<() => Promise<Cost>> {
  const before = await commandStats(client)
  const [cpuBefore, clientBefore] = [cpuOf(pid), process.cpuUsage()]
  return async () => {
    // First: INFO itself costs about as much as a hundred small commands.
    const cpuUs = cpuOf(pid) - cpuBefore
    const { user, system } = process.cpuUsage(clientBefore)
    const stats = since(before, await commandStats(client))
    const sent = stats.filter(([name]) => SCRIPTS.has(name) || sends.includes(name))
    const others = stats.filter(([name]) => name !== 'info' && name !== 'exec')
    const commands = sum(sent, ({ calls }) => calls)
    return {
      cpuUs,
      insideUs: sum(sent, ({ us }) => us),
      commands,
      called: sum(others, ({ calls }) => calls) - commands,
      clientCpuUs: user + system,
    }
  }
}

type Stats = readonly (readonly [name: string, stat: Stat])[]

function since(before: ReadonlyMap<string, Stat>, after: ReadonlyMap<string, Stat>): Stats {
  return [...after].map(([name, { calls, us }]) => {
    const known = before.get(name)
    return [name, { calls: calls - (known?.calls ?? 0), us: us - (known?.us ?? 0) }]
  })
}

function sum(stats: Stats, of: (stat: Stat) => number): number {
  return stats.reduce((total, [, stat]) => total + of(stat), 0)
}
