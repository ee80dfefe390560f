// Many processes, loaders that die or are paused, a server that is away: one loader runs at a time, everybody
// gets a value, and nothing that is late is kept.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cluster, Redis } from 'ioredis'
import { type Cache, type CacheOptions, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { startProxy } from '../servers/proxy.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { heard, startWorker } from './worker-process.ts'

interface Setup {
  cache: Cache<string>
  client: Redis
}

function connect(port: number, options: CacheOptions<string> = {}): Setup {
  const client = new Redis({ port, retryStrategy: () => 20 })
  client.on('error', () => undefined)
  const redis = perilune(ioredis(client), { namespace: 'faults' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { cache: redis.cache<string>(randomUUID(), options), client }
}

async function ownServer(): Promise<RedisServer> {
  const server = await startRedis({})
  onTestFinished(() => server.stop())
  return server
}

/** A loader that counts how often it runs, and how often at once. */
function metered(ms: number): { load: () => Promise<string>; runs(): number; most(): number } {
  let [runs, running, most] = [0, 0, 0]
  const load = async (): Promise<string> => {
    runs += 1
    running += 1
    most = Math.max(most, running)
    await sleep(ms)
    running -= 1
    return `run ${runs}`
  }
  return { load, runs: () => runs, most: () => most }
}

test('a hundred readers in four processes: one load a cycle, never two at once', {
  timeout: 60_000,
}, async () => {
  const port = inject('redisPort')
  const { cache, client } = connect(port)
  const readers = [1, 2, 3, 4].map(() =>
    startWorker('cache-worker.ts', port, cache.name, 'read', '25', '150'),
  )

  const got = new Set((await Promise.all(readers.map(heard))).flat())

  const runs = Number(await client.get(`runs:${cache.name}`))
  expect(await client.zscore(`most:${cache.name}`, 'most')).toBe('1')
  expect(runs).toBeGreaterThan(2)
  // Each load was for everybody: none was thrown away, but for one that ended after the last read.
  const inOrder = Array.from({ length: runs }, (_, n) => n + 1)
  const left = inOrder.filter((run) => !got.has(run))
  expect(left.length === 0 || (left.length === 1 && left[0] === runs)).toBe(true)
})

test('a loader that dies is replaced when its lease ends', async () => {
  const port = inject('redisPort')
  const { cache } = connect(port, { lease: '500ms' })
  const loader = startWorker('cache-worker.ts', port, cache.name, 'hold', '500ms')
  await heard(loader)
  loader.kill('SIGKILL')

  expect(await cache.get('k', () => 'mine')).toBe('mine')
})

test('the value of a loader that was paused past its lease is rejected', async () => {
  const port = inject('redisPort')
  const { cache } = connect(port, { lease: '500ms' })
  const loader = startWorker('cache-worker.ts', port, cache.name, 'hold', '500ms')
  await heard(loader)
  loader.kill('SIGSTOP')

  expect(await cache.get('k', () => 'mine')).toBe('mine')
  loader.kill('SIGCONT')
  loader.send('end')
  await heard(loader)
  expect((await cache.getEntry('k'))?.value).toBe('mine')
})

test('while Redis is away loaders answer, up to the concurrency limit, and then the cache works again', async () => {
  const server = await ownServer()
  const { cache } = connect(server.port, { localConcurrency: 3, storeWithin: '200ms' })
  const { load, most } = metered(20)
  await cache.get('before', load)
  await server.kill()

  const keys = Array.from({ length: 20 }, (_, n) => `k${n % 10}`)
  const values = await Promise.all(keys.map((key) => cache.get(key, load)))
  expect(values).toHaveLength(20)
  expect(most()).toBeLessThanOrEqual(3)

  await server.restart()
  const kept = async (): Promise<boolean> => {
    await cache.get('k0', load)
    return (await cache.getEntry('k0').catch(() => null)) !== null
  }
  await expect.poll(kept, { timeout: 20_000 }).toBe(true)
})

test('connections that are reset repeatedly cause no second load of a cached value', async () => {
  const proxy = await startProxy(inject('redisPort'))
  onTestFinished(() => proxy.stop())
  const { cache } = connect(proxy.port, { storeWithin: '5s' })
  await cache.get('warm', () => 'warm')
  proxy.resetEach(25)

  for (let n = 0; n < 50; n++) {
    const value = await cache.get(`k${n}`, () => `v${n}`)
    expect(await cache.get(`k${n}`, () => 'again')).toBe(value)
  }
  proxy.resetEach(0)
  expect(proxy.connections).toBeGreaterThan(5)
})

test('a server that loses its scripts repeatedly goes unnoticed', async () => {
  const server = await ownServer()
  const { cache, client } = connect(server.port)
  // None may be under way when its client is closed: its rejection would go unhandled.
  const flushes: Promise<unknown>[] = []
  const flushing = setInterval(() => flushes.push(client.script('FLUSH')), 20)

  const values = await Promise.all(
    Array.from({ length: 200 }, (_, n) => cache.get(`k${n % 50}`, async () => sleep(20, 'done'))),
  )
  clearInterval(flushing)
  await Promise.all(flushes)

  expect(new Set(values)).toEqual(new Set(['done']))
})

test('on a cluster keys and tags lie in many slots, and a waiter is woken', async () => {
  const cluster = new Cluster(inject('clusterPorts').map((port) => ({ host: '127.0.0.1', port })))
  const instances = [0, 1].map(() => perilune(ioredis(cluster), { namespace: 'faults' }))
  onTestFinished(async () => {
    for (const each of instances) await each.close()
    cluster.disconnect()
  })
  const name = randomUUID()
  const [one, two] = instances.map((each) => each.cache<string>(name)) as [Cache<string>, Cache<string>]
  const keys = Array.from({ length: 8 }, (_, n) => `k${n}`)
  const tags = ['t', 'u']
  const slow = metered(300)

  const first = keys.map((key) => one.get(key, slow.load, { tags }))
  const second = keys.map((key) => two.get(key, slow.load, { tags }))
  expect(await Promise.all(second)).toEqual(await Promise.all(first))
  expect(slow.runs()).toBe(8)

  await one.invalidate({ tag: 'u' })
  const many = await two.getMany(keys, (wanted) => new Map(wanted.map((key) => [key, 'new'])), { tags })
  expect(new Set(many.values())).toEqual(new Set(['new']))
})
