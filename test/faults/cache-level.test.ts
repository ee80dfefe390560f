// L1 copies in many processes while values change and connections break: a process that was notified of an invalidation
// never serves the old value again, and no process serves it for ever.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cluster, Redis } from 'ioredis'
import { type Cache, type CacheOptions, type Driver, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { nodeRedis } from 'perilune/node-redis'
import { createClient } from 'redis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { startProxy } from '../servers/proxy.ts'
import { startRedis } from '../servers/redis.ts'
import { heard, startWorker } from './worker-process.ts'

const HOUR = { count: 10, age: '1h' } as const

interface Process {
  readonly cache: Cache<string>
  /** How many gets were answered without Redis. */
  copies(): number
}

function processOn(driver: Driver, name: string, options: CacheOptions<string> = {}): Process {
  let copies = 0
  const hooks: CacheOptions<string>['hooks'] = {
    event: (happened) => {
      if ('from' in happened && happened.from === 'process') copies += 1
    },
  }
  const redis = perilune(driver, { namespace: 'faults' })
  onTestFinished(() => redis.close())
  const cache = redis.cache<string>(name, { ttl: '1h', storeWithin: '20s', hooks, ...options })
  return { cache, copies: () => copies }
}

const drivers: [string, (port: number) => Promise<Driver>][] = [
  [
    'ioredis',
    async (port) => {
      const client = new Redis({ port, retryStrategy: () => 20 })
      client.on('error', () => undefined)
      onTestFinished(() => client.disconnect())
      return ioredis(client)
    },
  ],
  [
    'node-redis',
    async (port) => {
      const client = createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: 20 } })
      client.on('error', () => undefined)
      await client.connect()
      onTestFinished(() => client.destroy())
      return nodeRedis(client)
    },
  ],
]

async function isKept({ cache, copies }: Process): Promise<void> {
  const before = copies()
  const served = async (): Promise<boolean> => {
    await cache.get('k', () => 'loaded')
    return copies() > before
  }
  await expect.poll(served).toBe(true)
}

test.each(drivers)('with %s a lost subscription empties the L1, until it is back', async (_, connect) => {
  const port = inject('redisPort')
  const proxy = await startProxy(port)
  onTestFinished(() => proxy.stop())
  const name = randomUUID()
  const holder = processOn(await connect(proxy.port), name, { l1: HOUR })
  const writer = processOn(await connect(port), name)
  await isKept(holder)

  for (let n = 0; n < 5; n++) {
    proxy.resetAll()
    await expect.poll(() => holder.cache.inspectL1()?.count).toBe(0)
    // The notification reaches some processes, or none.
    await writer.cache.set('k', `v${n}`)
    await expect.poll(() => holder.cache.get('k', () => 'never'), { timeout: 5000 }).toBe(`v${n}`)
    await isKept(holder)
    expect(await holder.cache.get('k', () => 'never')).toBe(`v${n}`)
  }
})

test('four processes see values in the order in which they were set, and each sees the last one', {
  timeout: 60_000,
}, async () => {
  // Its own: others lost their connections, too.
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const { port } = server
  const client = new Redis(port)
  onTestFinished(() => client.disconnect())
  const redis = perilune(ioredis(client), { namespace: 'faults' })
  onTestFinished(() => redis.close())
  const cache = redis.cache<number>(randomUUID(), { ttl: '1h' })
  await cache.set('k', 0)
  const readers = [1, 2, 3, 4].map(() => startWorker('cache-worker.ts', port, cache.name, 'level'))
  await Promise.all(readers.map(heard))

  const last = 40
  for (let n = 1; n <= last; n++) {
    // Notifications are lost for some processes, or for all.
    if (n % 10 === 0) await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await cache.set('k', n)
    await sleep(Math.random() * 50)
  }
  await sleep(1500)
  for (const reader of readers) reader.send('end')

  const readings = (await Promise.all(readers.map(heard))) as { got: number[]; copies: number }[]
  for (const { got, copies } of readings) {
    expect(got).toEqual(got.toSorted((one, other) => one - other))
    expect(got.at(-1)).toBe(last)
    expect(copies).toBeGreaterThan(100)
  }
})

test('on a cluster each key and tag is announced on its own node, and a clear reaches all', async () => {
  const name = randomUUID()
  const connect = (): Driver => {
    const cluster = new Cluster(inject('clusterPorts').map((port) => ({ host: '127.0.0.1', port })))
    onTestFinished(() => cluster.disconnect())
    return ioredis(cluster)
  }
  const holder = processOn(connect(), name, { l1: { count: 100, age: '1h' } }).cache
  const writer = processOn(connect(), name).cache
  const keys = Array.from({ length: 12 }, (_, n) => `k${n}`)
  const tagsOf = (key: string): string[] => (key < 'k5' ? ['t', 'u'] : [])
  const getAll = (value: string): Promise<string[]> =>
    Promise.all(keys.map((key) => holder.get(key, () => value, { tags: tagsOf(key) })))
  const allKept = async (): Promise<number | undefined> => (await getAll('old')) && holder.inspectL1()?.count
  await expect.poll(allKept).toBe(12)

  await writer.invalidate(keys.slice(8))
  await expect.poll(() => holder.inspectL1()?.count).toBe(8)
  await writer.invalidate({ tag: 'u' })
  const tagged = async (): Promise<Set<string>> => {
    const values = await getAll('new')
    return new Set(values.filter((_, at) => tagsOf(keys[at] ?? '').length > 0))
  }
  await expect.poll(tagged, { timeout: 5000 }).toEqual(new Set(['new']))

  await writer.clear()
  expect(new Set(await getAll('newest'))).toEqual(new Set(['newest']))
})
