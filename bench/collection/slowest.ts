// The longest script, as SLOWLOG has it.

import type { Redis } from 'ioredis'

export async function watchScripts(client: Redis): Promise<void> {
  await client.config('SET', 'slowlog-log-slower-than', '1000')
  await client.config('SET', 'slowlog-max-len', '10000')
  await client.slowlog('RESET')
}

/** Of the collections of Perilune; 1 when none took longer than that. */
export async function longestScriptMs(client: Redis): Promise<number> {
  const slow = (await client.slowlog('GET', 10_000)) as [number, number, number, string[]][]
  const scripts = slow.filter(([, , , [, , , key]]) => key?.includes(':{collection:'))
  return scripts.reduce((longest, [, , us]) => Math.max(longest, us / 1000), 1)
}
