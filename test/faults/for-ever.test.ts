// Endless operations continue after an outage that was longer than the deadline of calls.

import Database from 'libsql'
import { Redis } from 'ioredis'
import { type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { nodeRedis } from 'perilune/node-redis'
import { sqlite } from 'perilune/sqlite'
import { createClient } from 'redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { someOf } from '../proof.ts'

/** A server that is only slow must not be away. */
const DEADLINE = '1s'
const PARTITIONS = { partitions: 2 } as const

type Connect = (port: number) => Promise<Perilune>

const clients: [string, Connect][] = [
  [
    'ioredis',
    async (port) => {
      const client = new Redis(port, { retryStrategy: () => 20 })
      client.on('error', () => undefined)
      return closedAfter(perilune(ioredis(client), { deadline: DEADLINE }), () => client.disconnect())
    },
  ],
  [
    'node-redis',
    async (port) => {
      const client = createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: 20 } })
      client.on('error', () => undefined)
      await client.connect()
      return closedAfter(perilune(nodeRedis(client), { deadline: DEADLINE }), () => client.destroy())
    },
  ],
]

function closedAfter(redis: Perilune, disconnect: () => void): Perilune {
  onTestFinished(async () => {
    await redis.close()
    disconnect()
  })
  return redis
}

const outages: [string, (server: RedisServer) => Promise<() => Promise<void>>][] = [
  [
    'stands still',
    async ({ pid }) => {
      process.kill(pid, 'SIGSTOP')
      return async () => void process.kill(pid, 'SIGCONT')
    },
  ],
  [
    'is gone, and comes back',
    async (server) => {
      await server.kill()
      return () => server.restart()
    },
  ],
]

/** Begins it; the promise resolves to what `cause` brings about. */
type Begin = (redis: Perilune) => Promise<{ next(): Promise<unknown>; cause(): Promise<unknown> }>

/** One message was there, and was read. */
async function follow(
  messages: AsyncGenerator<{ readonly body: unknown }>,
  append: (body: string) => Promise<unknown>,
): Promise<{ next(): Promise<unknown>; cause(): Promise<unknown> }> {
  await append('first')
  expect((await messages.next()).value?.body).toBe('first')
  return { next: async () => (await messages.next()).value?.body, cause: () => append('come') }
}

const followers: [string, Begin][] = [
  [
    'a tail of a feed',
    async (redis) => {
      const feed = redis.feed('a')
      return follow(feed.tail(), (body) => feed.append(body))
    },
  ],
  [
    'a tail of a feed in partitions',
    async (redis) => {
      const feed = redis.feed('b', PARTITIONS)
      return follow(feed.tail(), (body) => feed.append(body))
    },
  ],
  [
    'the reading of a subscriber',
    async (redis) => {
      const feed = redis.feed('c')
      return follow(feed.subscriber('ada').read(), (body) => feed.append(body))
    },
  ],
  [
    'the reading of a subscriber in partitions',
    async (redis) => {
      const feed = redis.feed('d', PARTITIONS)
      return follow(feed.subscriber('ada').read(), (body) => feed.append(body))
    },
  ],
  [
    'a tail that begins in the outage',
    async (redis) => {
      const feed = redis.feed('e')
      const messages = feed.subscriber('ada').read()
      return { next: async () => (await messages.next()).value?.body, cause: () => feed.append('come') }
    },
  ],
  [
    'the events of a queue',
    async (redis) => {
      const queue = redis.queue('f')
      const events = queue.events({ kinds: ['enqueued'] })
      const first = events.next()
      await expect
        .poll(() => queue.enqueue('come', 0).then(() => Promise.race([first, Promise.resolve(null)])))
        .not.toBeNull()
      let heard = false
      const next = async (): Promise<unknown> => {
        for await (const event of events) if ('name' in event && event.name === 'late') break
        heard = true
        return 'come'
      }
      // Events before it listens again are reported as a gap.
      const cause = async (): Promise<boolean> => {
        await queue.enqueue('late', 0)
        if (!heard) throw new Error('not heard yet')
        return heard
      }
      return { next, cause }
    },
  ],
  [
    'a worker',
    async (redis) => {
      const queue = redis.queue('g')
      let done: (name: string) => void = () => undefined
      const worked = new Promise<string>((resolve) => (done = resolve))
      queue.work((job) => done(job.name))
      return { next: () => worked, cause: () => queue.enqueue('come', 0) }
    },
  ],
  [
    'a campaign',
    async (redis) => {
      let lead: (name: string) => void = () => undefined
      const elected = new Promise<string>((resolve) => (lead = resolve))
      const next = (): Promise<string> => {
        redis.election('h').campaign(() => lead('come'))
        return elected
      }
      return { next, cause: () => Promise.resolve() }
    },
  ],
  [
    'flushing again and again',
    async (redis) => {
      const database = new Database(':memory:')
      database.exec('CREATE TABLE items (id INTEGER PRIMARY KEY, value INTEGER NOT NULL)')
      const counters = redis.counters('i', { sink: sqlite(database, { table: 'items' }), fsyncGrace: '0ms' })
      await counters.increment(1)
      counters.flushEvery('20ms')
      const stored = (): unknown => database.prepare('SELECT value FROM items').get()
      const next = async (): Promise<string> => {
        await expect.poll(stored, { timeout: 60_000 }).toMatchObject({ value: 3 })
        return 'come'
      }
      return { next, cause: () => counters.increment(1, 2) }
    },
  ],
]

describe.each(someOf(clients, 1))('with %s', (_, connect) => {
  test.each(outages)('endless readers and workers continue when the server %s', async (_outage, begin) => {
    const server = await startRedis({ aof: 'always' })
    onTestFinished(() => server.stop())
    const redis = await connect(server.port)
    const all: Awaited<ReturnType<Begin>>[] = []
    for (const [, start] of followers) all.push(await start(redis))

    const end = await begin(server)
    const ends = all.map(({ next }) => next().catch((error: unknown) => error))
    // Calls that began before them are over their deadline, too.
    for (let times = 0; times < 2; times++)
      await redis
        .lock('other')
        .tryAcquire()
        .catch(() => undefined)
    await end()
    for (const { cause } of all) await eventually(cause)

    const outcomes = await Promise.all(ends)
    expect(Object.fromEntries(followers.map(([name], at) => [name, outcomes[at]]))).toEqual(
      Object.fromEntries(followers.map(([name]) => [name, 'come'])),
    )
  })
})

/** A server that has just come back may not serve yet. */
async function eventually(call: () => Promise<unknown>): Promise<void> {
  await expect
    .poll(() =>
      call().then(
        () => 'done',
        () => 'failed',
      ),
    )
    .toBe('done')
}
