// The least that keeps the promises of an increment: those of one turn are one call, which changes the value and what waits for
// SQL in one step, and does nothing twice when it is repeated. By hand, without a library: nothing is loaded, refused or retried.

import { randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'

const INCREMENT = `
local ids, values, waits = {}, {}, {}
for at = 3, #ARGV, 2 do
  ids[#ids + 1] = ARGV[at]
end
local now = redis.call('HMGET', KEYS[1], unpack(ids))
if redis.call('HGET', KEYS[3], ARGV[1]) == ARGV[2] then return now end
local waiting = redis.call('HMGET', KEYS[2], unpack(ids))
for place, id in ipairs(ids) do
  local by = ARGV[place * 2 + 2]
  now[place] = string.format('%d', (now[place] or 0) + by)
  values[place * 2 - 1], values[place * 2] = id, now[place]
  waits[place * 2 - 1], waits[place * 2] = id, string.format('%d', (waiting[place] or 0) + by)
end
redis.call('HSET', KEYS[1], unpack(values))
redis.call('HSET', KEYS[2], unpack(waits))
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
return now
`
const UNDER_WAY = 2

type Resolve = (value: number) => void

/** Resolves to a function that counts one more of an item, and then to its value. */
export async function leastIncrements(client: Redis): Promise<(item: number) => Promise<number>> {
  const keys = ['values', 'pending', 'calls'].map((part) => `least:{counted}:${part}`)
  const sha = String(await client.script('LOAD', INCREMENT))
  // One for each place under way: a call remembers the last one of its place only.
  const free = Array.from({ length: UNDER_WAY }, () => randomBytes(9).toString('base64url'))
  let open = new Map<number, Resolve[]>()
  let call = 0
  let isScheduled = false
  const send = async (caller: string, groups: Map<number, Resolve[]>): Promise<void> => {
    const counted = [...groups].flatMap(([item, { length }]) => [item, length])
    const values = (await client.evalsha(sha, 3, ...keys, caller, ++call, ...counted)) as string[]
    let place = 0
    for (const waiting of groups.values()) {
      const last = Number(values[place++])
      for (const [at, resolve] of waiting.entries()) resolve(last - waiting.length + at + 1)
    }
    free.push(caller)
    schedule()
  }
  const flush = (): void => {
    isScheduled = false
    const isAlone = free.length === UNDER_WAY
    const caller = open.size === 0 ? undefined : free.pop()
    if (caller === undefined) return
    const all = [...open]
    // Shared out, so that this process and the server work at the same time.
    const some = isAlone ? Math.ceil(all.length / UNDER_WAY) : all.length
    open = new Map(all.slice(some))
    void send(caller, new Map(all.slice(0, some)))
    schedule()
  }
  const schedule = (): void => {
    if (isScheduled || open.size === 0 || free.length === 0) return
    isScheduled = true
    setImmediate(flush)
  }
  return (item) =>
    new Promise((resolve) => {
      const known = open.get(item)
      if (known === undefined) open.set(item, [resolve])
      else known.push(resolve)
      schedule()
    })
}
