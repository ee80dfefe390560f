// How long the server worked.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'

interface Reading {
  /** Inside scripts, with the commands that they called. */
  readonly scriptUs: number
  /** Inside all commands; those that scripts called count twice, alone and as part of the script. */
  readonly commandUs: number
  readonly cpuUs: number
}

export interface ServerTime {
  /** Inside scripts if any ran, else inside commands, as INFO commandstats has it. */
  readonly insideUs: number
  /** Of the whole process, with reading, parsing and answering; NaN where the system does not tell. */
  readonly cpuUs: number
}

/** Starts to measure; the function that comes back tells the server's time since then. */
export async function measureServer(client: Redis, pid: number): Promise<() => Promise<ServerTime>> {
  const start = await read(client, pid)
  return async () => {
    // First: INFO itself costs about as much as a hundred small commands.
    const cpuUs = cpuOf(pid) - start.cpuUs
    const end = await read(client, pid)
    const scriptUs = end.scriptUs - start.scriptUs
    return { insideUs: scriptUs > 0 ? scriptUs : end.commandUs - start.commandUs, cpuUs }
  }
}

async function read(client: Redis, pid: number): Promise<Reading> {
  let [scriptUs, commandUs] = [0, 0]
  const stats = await client.info('commandstats')
  for (const [, name, us] of stats.matchAll(/^cmdstat_([^:]+):calls=\d+,usec=(\d+)/gm)) {
    if (name === 'info') continue
    commandUs += Number(us)
    if (/^(eval|evalsha|fcall)(_ro)?$/.test(name ?? '')) scriptUs += Number(us)
  }
  return { scriptUs, commandUs, cpuUs: cpuOf(pid) }
}

/** CPU time that a process has used, all its threads together, in microseconds; NaN where the system does not tell. */
export function cpuOf(pid: number): number {
  // The first number of schedstat is what a thread has used, in nanoseconds; `stat` counts in 10 ms.
  const threads = `/proc/${pid}/task`
  if (!existsSync(threads)) return Number.NaN
  const used = readdirSync(threads).map((id) => parseInt(readFileSync(`${threads}/${id}/schedstat`, 'utf8')))
  return used.reduce((sum, ns) => sum + ns, 0) / 1000
}
