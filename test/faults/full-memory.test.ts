import { Redis } from 'ioredis'
import { DriverError, type Feed, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../servers/redis.ts'

async function setup(): Promise<{ feed: Feed<string>; fill(): Promise<void>; client: Redis }> {
  const server = await startRedis({ args: ['--maxmemory-policy', 'noeviction'] })
  const client = new Redis(server.port)
  const redis = perilune(ioredis(client))
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
    await server.stop()
  })
  await redis.preload()
  const feed = redis.feed<string>('full', { keep: 50 })
  return { feed, client, fill: async () => void (await client.config('SET', 'maxmemory', '1')) }
}

test('a server out of memory refuses to append, for certain, and nothing is half done', async () => {
  const { feed, client, fill } = await setup()
  await feed.appendMany(Array.from({ length: 60 }, (_, n) => ({ body: `${n}`, idempotencyKey: `${n}` })))
  const before = await dump(client)
  await fill()

  const error = await feed.append('more', { idempotencyKey: 'more' }).catch((reason: unknown) => reason)

  expect(error).toBeInstanceOf(DriverError)
  expect(error).toMatchObject({ code: 'store-full' })
  expect(await dump(client)).toEqual(before)
})

test('a server out of memory still lets claims be extended, given back and acked', async () => {
  const { feed, fill } = await setup()
  await feed.appendMany([{ body: 'a', expireAfter: '1h' }, { body: 'b' }, { body: 'c' }])
  const first = await feed.claim({ limit: 1 })
  const second = await feed.claim({ limit: 2 })
  await fill()

  await first?.extend('2h', { grace: '1h' })
  await first?.release()
  expect(await second?.ack()).toEqual([])

  expect(await feed.inspect()).toMatchObject({ total: 1, free: 1, claimed: 0 })
})

test('a server out of memory still lets messages be removed and the feed be cleared', async () => {
  const { feed, client, fill } = await setup()
  const { id } = await feed.append('a')
  await feed.append('b')
  await fill()

  expect(await feed.remove([id])).toMatchObject({ count: 1 })
  expect(await feed.clear()).toBe(true)
  expect(await client.dbsize()).toBe(0)
})

/** All keys with their contents, but for the remembered calls' times. */
async function dump(client: Redis): Promise<Record<string, string | null>> {
  const keys = (await client.keys('*')).toSorted()
  const contents = await Promise.all(
    keys.map(async (key) => (await client.dumpBuffer(key))?.toString('base64')),
  )
  return Object.fromEntries(keys.map((key, at) => [key, contents[at] ?? null]))
}
