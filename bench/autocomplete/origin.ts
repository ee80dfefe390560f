// Our ports of the autocomplete of Redis in Action: chapter 6.1.2, two sentinels that are put around the range under
// WATCH, and chapter 11.4, the same in a script. Both suggest the first ten in the order of the alphabet.

import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { type Client, type Contender, INDEX, type Member } from './contender.ts'

const LETTERS = '`abcdefghijklmnopqrstuvwxyz{'
const BATCH = 10_000

function sentinels(prefix: string): [start: string, end: string] {
  const before = LETTERS[Math.max(LETTERS.indexOf(prefix.slice(-1)), 1) - 1] ?? ''
  const id = randomUUID()
  return [`${prefix.slice(0, -1)}${before}{${id}`, `${prefix}{${id}`]
}

async function load(connection: Redis, members: readonly Member[]): Promise<void> {
  for (let at = 0; at < members.length; at += BATCH) {
    await connection.zadd(INDEX, ...members.slice(at, at + BATCH).flatMap(({ text }) => ['0', text]))
  }
}

async function suggestWatched(connection: Redis, prefix: string): Promise<string[]> {
  const [start, end] = sentinels(prefix)
  await connection.zadd(INDEX, '0', start, '0', end)
  for (;;) {
    await connection.watch(INDEX)
    const from = (await connection.zrank(INDEX, start)) ?? 0
    const to = (await connection.zrank(INDEX, end)) ?? 0
    const done = await connection
      .multi()
      .zrem(INDEX, start, end)
      .zrange(INDEX, String(from), String(Math.min(from + 9, to - 2)))
      .exec()
    const found = done?.[1]?.[1]
    if (Array.isArray(found)) return found.filter((each: string) => !each.includes('{'))
  }
}

export const originWatch: Contender = {
  name: 'origin, WATCH',
  load,
  client: async (connection): Promise<Client> => ({
    suggest: (prefix) => suggestWatched(connection, prefix),
  }),
}

const SCRIPT = `
redis.call('zadd', KEYS[1], 0, ARGV[1], 0, ARGV[2])
local from = redis.call('zrank', KEYS[1], ARGV[1])
local to = redis.call('zrank', KEYS[1], ARGV[2])
to = math.min(from + 9, to - 2)
redis.call('zrem', KEYS[1], ARGV[1], ARGV[2])
return redis.call('zrange', KEYS[1], from, to)
`

export const originLua: Contender = {
  name: 'origin, Lua',
  load,
  async client(connection): Promise<Client> {
    const sha1 = String(await connection.script('LOAD', SCRIPT))
    return {
      async suggest(prefix) {
        const found = await connection.evalsha(sha1, 1, INDEX, ...sentinels(prefix))
        return (found as string[]).filter((each) => !each.includes('{'))
      },
    }
  },
}

/** The floor: a plain range, not ranked either. */
export const plainRange: Contender = {
  name: 'floor: ZRANGE BYLEX',
  load,
  client: async (connection): Promise<Client> => ({
    suggest: (prefix) => connection.zrange(INDEX, `[${prefix}`, `(${prefix}\u00ff`, 'BYLEX', 'LIMIT', 0, 10),
  }),
}
