// Before: a guild's members by prefix, as chapter 6.1.2 of "Redis in Action" finds them. Two sentinels are put around
// the names, their ranks are read, and names and sentinels are taken in a transaction, which fails and is tried again
// whenever another client has changed the members meanwhile.

import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'

export interface Completed {
  readonly names: string[]
  /** How often it was tried. */
  readonly tries: number
}

/** The first ten members whose names begin with `prefix`. The connection may serve nothing else meanwhile. */
export async function complete(client: Redis, key: string, prefix: string): Promise<Completed> {
  const [before, behind] = sentinels(prefix)
  await client.zadd(key, 0, before, 0, behind)
  for (let tries = 1; ; tries++) {
    await client.watch(key)
    const [first, last] = await Promise.all([client.zrank(key, before), client.zrank(key, behind)])
    if (first === null || last === null) throw new Error('another client removed a sentinel')
    const results = await client
      .multi()
      .zrange(key, `${first + 1}`, `${Math.min(first + 10, last - 1)}`)
      .zrem(key, before, behind)
      .exec()
    // Null: the members have changed since WATCH.
    if (results !== null) return { names: withoutSentinels(results[0]?.[1]), tries }
  }
}

/** What stands before all names with the prefix, and behind them: `abb{…` and `abc{…` for `abc`. */
function sentinels(prefix: string): [before: string, behind: string] {
  const last = prefix.charCodeAt(prefix.length - 1)
  // Others put sentinels around the same names at the same time.
  const id = randomUUID()
  return [`${prefix.slice(0, -1)}${String.fromCharCode(last - 1)}{${id}`, `${prefix}{${id}`]
}

function withoutSentinels(names: unknown): string[] {
  if (!Array.isArray(names)) throw new TypeError('ZRANGE answers with a list')
  return names.map(String).filter((name) => !name.includes('{'))
}
