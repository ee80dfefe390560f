// What a call costs the server must not grow with the feed: the same commands, and no more elements
// touched, at a thousand messages and at a hundred thousand (a million with PERILUNE_LONG=1).

import { Redis } from 'ioredis'
import { type Feed, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { LONG, tell } from '../proof.ts'
import { startRedis } from '../servers/redis.ts'

const LARGE = LONG ? 1_000_000 : 100_000

interface Setup {
  client: Redis
  filled(count: number): Promise<Feed<string>>
}

async function setup(): Promise<Setup> {
  const server = await startRedis()
  const client = new Redis(server.port)
  const redis = perilune(ioredis(client), { deadline: '60s' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
    await server.stop()
  })
  await redis.preload()
  const filled = async (count: number): Promise<Feed<string>> => {
    const feed = redis.feed<string>(`of ${count}`, { maxClaims: 3 })
    for (let n = 0; n < count; n += 1000) {
      await feed.appendMany(
        Array.from({ length: 1000 }, (_, at) => ({
          body: `message ${n + at}`,
          expireAfter: at % 3 === 0 ? '2h' : '1h',
        })),
      )
    }
    return feed
  }
  return { client, filled }
}

/** Calls a command at a time, counted inside scripts too. */
async function commandsOf(client: Redis, call: () => Promise<unknown>): Promise<Record<string, number>> {
  await client.config('RESETSTAT')
  await call()
  const stats = await client.info('commandstats')
  const counts = [...stats.matchAll(/cmdstat_([a-z|]+):calls=(\d+)/g)].map(([, name = '', calls]) => [
    name,
    Number(calls),
  ])
  return Object.fromEntries(counts.filter(([name]) => !String(name).startsWith('config')))
}

const calls: [string, number, (feed: Feed<string>) => Promise<unknown>][] = [
  ['an append', 16, (feed) => feed.append('one more', { expireAfter: '1h' })],
  ['a page of twenty from the start', 8, (feed) => feed.read({ limit: 20 })],
  ['a page of twenty at the end', 8, (feed) => feed.read({ limit: 20, after: 'end' })],
  [
    'a page of twenty without claimed messages',
    12,
    (feed) => feed.read({ limit: 20, includeClaimed: false }),
  ],
  ['a claim of twenty', 30, (feed) => feed.claim({ limit: 20, lease: '1h' })],
  ['an inspection', 24, (feed) => feed.inspect()],
]

test(`calls cost the same commands at 1,000 and at ${LARGE} messages`, { timeout: 180_000 }, async () => {
  const { client, filled } = await setup()
  const small = await filled(1000)
  const large = await filled(LARGE)

  for (const [what, most, call] of calls) {
    await call(small)
    await call(large)
    const few = await commandsOf(client, () => call(small))
    const many = await commandsOf(client, () => call(large))
    const total = Object.values(many).reduce((sum, count) => sum + count, 0)

    tell(`${what}: ${total} commands at ${LARGE} messages`)
    expect(many, what).toEqual(few)
    expect(total, what).toBeLessThanOrEqual(most)
  }
})

test('a call after a long silence removes a bounded number of what has expired', {
  timeout: 180_000,
}, async () => {
  const { client } = await setup()
  const redis = perilune(ioredis(client))
  const feed = redis.feed<string>('silent', { expireAfter: '1s' })
  for (let n = 0; n < 20; n++) {
    await feed.appendMany(Array.from({ length: 1000 }, (_, at) => ({ body: `${at}` })))
  }
  await new Promise((resolve) => setTimeout(resolve, 1200))

  await client.config('RESETSTAT')
  await feed.append('after the silence')

  expect(await client.xlen('perilune:{feed:silent}:log')).toBeGreaterThan(19_000)
  expect((await feed.inspect()).total).toBe(1)
})
