// Connections that break, servers that forget or restart, holders that are paused: the work of a key is still
// recorded once.

import { randomUUID } from 'node:crypto'
import { Cluster, Redis } from 'ioredis'
import { type Attempt, type Once, type OnceOptions, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { type Proxy, startProxy } from '../servers/proxy.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { heard, startWorker } from './worker-process.ts'

interface Setup {
  once: Once<string>
  client: Redis
}

function connect(port: number, options: OnceOptions<string> = {}): Setup {
  const client = new Redis({ port, retryStrategy: () => 20 })
  client.on('error', () => undefined)
  const redis = perilune(ioredis(client), { namespace: 'faults' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { once: redis.once<string>(randomUUID(), options), client }
}

async function behindProxy(): Promise<Setup & { proxy: Proxy }> {
  const proxy = await startProxy(inject('redisPort'))
  onTestFinished(() => proxy.stop())
  const connected = connect(proxy.port)
  // The scripts are known to the server afterwards, so that the calls below are one request each.
  await attemptOf(connected.once, 'warm').then((attempt) => attempt.complete(''))
  await attemptOf(connected.once, 'up').then((attempt) => attempt.release())
  return { ...connected, proxy }
}

async function ownServer(options: Parameters<typeof startRedis>[0] = {}): Promise<RedisServer> {
  const server = await startRedis(options)
  onTestFinished(() => server.stop())
  return server
}

async function attemptOf(once: Once<string>, key: string): Promise<Attempt<string>> {
  const begun = await once.begin(key)
  if (begun.status !== 'started') throw new Error(`it was ${begun.status}`)
  return begun.attempt
}

test('a task runs once though the connection is reset repeatedly', async () => {
  const { once, proxy } = await behindProxy()
  proxy.resetEach(25)
  let ran = 0

  for (let n = 0; n < 50; n++) {
    const result = await once.run(`k${n}`, () => `${(ran += 1)}`)
    expect(await once.run(`k${n}`, () => 'again')).toBe(result)
  }
  proxy.resetEach(0)
  expect(proxy.connections).toBeGreaterThan(5)

  expect(ran).toBe(50)
})

test('a server that loses its scripts repeatedly goes unnoticed', async () => {
  const server = await ownServer()
  const { once, client } = connect(server.port)
  // None may be under way when its client is closed: its rejection would go unhandled.
  const flushes: Promise<unknown>[] = []
  const flushing = setInterval(() => flushes.push(client.script('FLUSH')), 20)

  const results = await Promise.all(
    Array.from({ length: 200 }, (_, n) => once.run(`k${n % 50}`, () => 'done', { wait: '10s' })),
  )
  clearInterval(flushing)
  await Promise.all(flushes)

  expect(new Set(results)).toEqual(new Set(['done']))
})

test('a restart of the server while a task is under way neither loses nor repeats it', async () => {
  const server = await ownServer({ aof: 'always' })
  const { once } = connect(server.port)
  await once.run('before', () => 'kept')
  let ran = 0

  const running = once.run('k', async () => {
    ran += 1
    await server.kill()
    await server.restart()
    return 'done'
  })

  expect(await running).toBe('done')
  expect(await once.run('k', () => 'again')).toBe('done')
  expect(await once.run('before', () => 'again')).toBe('kept')
  expect(ran).toBe(1)
})

test('a holder that is paused past its lease is replaced, and its late result is rejected', async () => {
  const port = inject('redisPort')
  const { once } = connect(port, { lease: '500ms' })
  const holder = startWorker('once-worker.ts', port, once.name, 'k', '0', '500ms', 'hold')
  const token = Number(await heard(holder))
  holder.kill('SIGSTOP')

  const taken = await once.run('k', ({ token: greater }) => `after ${greater - token}`, { wait: '20s' })
  holder.kill('SIGCONT')
  holder.send('complete')

  expect(Number(taken.split(' ')[1])).toBeGreaterThan(0)
  expect(await heard(holder)).toMatchObject({ error: 'LeaseLostError' })
  expect(await once.get('k')).toMatchObject({ result: taken })
})

test('a holder that dies is replaced when its lease ends', async () => {
  const port = inject('redisPort')
  const { once } = connect(port, { lease: '500ms' })
  const holder = startWorker('once-worker.ts', port, once.name, 'k', '0', '500ms', 'hold')
  await heard(holder)
  holder.kill('SIGKILL')

  expect(await once.run('k', () => 'mine', { wait: '20s' })).toBe('mine')
})

test('a hundred runs of one key in four processes run its task once', { timeout: 60_000 }, async () => {
  const port = inject('redisPort')
  const { once, client } = connect(port)
  const workers = [1, 2, 3, 4].map(() => startWorker('once-worker.ts', port, once.name, 'k', '25', '10s'))

  const results = (await Promise.all(workers.map(heard))).flat()

  expect(results).toHaveLength(100)
  expect(new Set(results).size).toBe(1)
  expect(await client.get(`ran:${once.name}`)).toBe('1')
})

test('on a cluster keys lie in many slots, each attempt is extended, and a waiter is woken', async () => {
  const cluster = new Cluster(inject('clusterPorts').map((port) => ({ host: '127.0.0.1', port })))
  const redis = perilune(ioredis(cluster), { namespace: 'faults' })
  onTestFinished(async () => {
    await redis.close()
    cluster.disconnect()
  })
  const once = redis.once<string>(randomUUID(), { lease: '1s' })
  const keys = Array.from({ length: 6 }, (_, n) => `k${n}`)
  const attempts = await Promise.all(keys.map((key) => attemptOf(once, key)))
  const ends = attempts.map(({ expiresAtMs }) => expiresAtMs)

  const extended = (): boolean => attempts.every((attempt, at) => attempt.expiresAtMs > (ends[at] ?? 0))
  await expect.poll(extended, { timeout: 10_000 }).toBe(true)
  const waiting = keys.map((key) => once.run(key, () => 'mine', { wait: '1h' }))
  for (const attempt of attempts) await attempt.complete('done')

  expect(await Promise.all(waiting)).toEqual(keys.map(() => 'done'))
})
