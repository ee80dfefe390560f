// The origin's way: probabilistic early recomputation in a script that reads the value, the time its load took, and
// the time that it has left. Ours, from the description, with its mistakes mended: all times in milliseconds, a value
// without an end or without a time of its load is not due, and the draw never is 0. After Vattani, Chierichetti and
// Lowenstein, "Optimal Probabilistic Cache Stampede Prevention", VLDB 2015.

import { Redis } from 'ioredis'
import { type Contender, type Entry, leftMs, type Load, nowMs, type Source, type Terms } from './contender.ts'

const BETA = 1

const READ = `
local stored = redis.call('MGET', KEYS[1], KEYS[2])
if not stored[1] then return { false, 1 } end
local left, took = redis.call('PTTL', KEYS[1]), tonumber(stored[2])
if left < 0 or not took then return { stored[1], 0 } end
return { stored[1], -took * tonumber(ARGV[1]) * math.log(tonumber(ARGV[2])) >= left and 1 or 0 }
`

export const xfetch: Contender = {
  name: 'XFetch in Lua',
  settings: `the origin's algorithm with its units mended; beta ${BETA}, value and time of its load in two keys of a slot, who draws an early load waits for it`,
  async connect(port: number, { freshMs }: Terms): Promise<Source> {
    const client = new Redis({ port, enableAutoPipelining: true })
    const hash = String(await client.script('LOAD', READ))
    const load = async (key: string, from: Load, ms: () => number): Promise<Entry> => {
      const beganAtMs = nowMs()
      const value = await from()
      const tookMs = Math.round(nowMs() - beganAtMs)
      const [kept, took] = keysOf(key)
      const forMs = ms()
      await client.multi().set(kept, JSON.stringify(value), 'PX', forMs).set(took, tookMs, 'PX', forMs).exec()
      return value
    }
    return {
      async get(key, from) {
        // random() may be 0, and a logarithm of 0 would load at any time.
        const read = await client.evalsha(hash, 2, ...keysOf(key), BETA, 1 - Math.random())
        const [text, due] = read as [string | null, number]
        if (text === null || due === 1) return load(key, from, () => freshMs)
        const value: Entry = JSON.parse(text)
        return value
      },
      fill: (key, from, endsAtMs) => load(key, from, () => leftMs(endsAtMs)),
      close: async () => client.disconnect(),
    }
  },
}

function keysOf(key: string): [string, string] {
  return [`xfetch:{${key}}:value`, `xfetch:{${key}}:took`]
}
