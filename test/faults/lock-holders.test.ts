// Holders of a lock under faults.

import { Redis } from 'ioredis'
import { DriverError, LeaseLostError } from 'perilune'
import { expect, inject, onTestFinished, test } from 'vitest'
import { setup } from '../lock-fixture.ts'
import { countOf, tell } from '../proof.ts'
import { until } from '../servers/ask.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { LockProcess } from './lock-processes.ts'

const port = inject('redisPort')

async function ownServer(options: Parameters<typeof startRedis>[0] = {}): Promise<RedisServer> {
  const server = await startRedis(options)
  onTestFinished(() => server.stop())
  return server
}

// bull#1355, redis-semaphore#24
test('writes and releases of a holder that was paused beyond its lease are rejected', async () => {
  const { lock, redis, name } = await setup({ clock: 'real' })
  const value = redis.fenced<string>(`${name} value`)
  const paused = new LockProcess({ port, name, lease: '300ms' })
  const oldToken = Number(await paused.says('token'))
  expect(await value.set('before', oldToken)).toBe(true)

  paused.stop()
  await lock.run(async ({ token }) => value.set('of the next holder', token), { wait: '20s' })
  paused.goOn()
  paused.stall(0)

  expect(await paused.says('afterwards')).toBe('lost')
  expect(await paused.says('outcome')).toBe('lost')
  expect(await value.set('late', oldToken)).toBe(false)
  expect(await value.get()).toMatchObject({ value: 'of the next holder' })
  await expect(lock.byToken.release(oldToken)).rejects.toThrow(LeaseLostError)
})

// node-redlock#283, redis-semaphore#24
test('a process that was stalled for twice its lease learns of the loss at once, and nothing goes unhandled', async () => {
  const { name, lock } = await setup({ clock: 'real' })
  const stalled = new LockProcess({ port, name, lease: '300ms' })
  await stalled.says('token')

  stalled.stall(600)

  expect(await stalled.says('afterwards')).toBe('lost')
  expect(await stalled.says('aborted')).toBe(true)
  expect(await stalled.says('outcome')).toBe('lost')
  expect(stalled.hasSaid).not.toContain('unhandled')
  expect((await lock.inspect()).mode).toBe('free')
})

// redis-semaphore#175
test('an extension after the end of the lease restores nothing', async () => {
  const { lock, clock } = await setup({ lease: '30s' })
  const lease = await lock.acquire()
  await clock.advance(30_000)

  await expect(lease.extend('1h')).rejects.toThrow(LeaseLostError)

  expect(lease.signal.aborted).toBe(true)
  expect((await lock.inspect()).mode).toBe('free')
})

test('tokens still rise after a server lost all its data', async () => {
  const server = await ownServer()
  const { lock } = await setup({ clock: 'real', port: server.port })
  const lease = await lock.acquire()

  await server.kill()
  await server.restart()
  const next = await lock.acquire()

  expect(next.token).toBeGreaterThan(lease.token)
  await expect(lease.release()).rejects.toThrow(LeaseLostError)
  expect(lease.signal.aborted).toBe(true)
  await next.release()
})

test('a lease outlives a restart of a server that persists every write', async () => {
  const server = await ownServer({ aof: 'always' })
  const { lock } = await setup({ clock: 'real', port: server.port })
  const lease = await lock.acquire()

  await server.kill()
  await server.restart()

  expect(await lock.tryAcquire()).toBeNull()
  await lease.extend()
  await lease.release()
  const next = await lock.acquire()
  expect(next.token).toBeGreaterThan(lease.token)
})

// bee-queue: NOSCRIPT for ever
test('a server that loses its scripts repeatedly goes unnoticed', async () => {
  const server = await ownServer()
  const { lock } = await setup({ clock: 'real', port: server.port })
  const admin = new Redis(server.port)
  onTestFinished(() => admin.disconnect())
  let inside = 0
  const work = async (): Promise<void> => {
    expect(++inside).toBe(1)
    await admin.script('FLUSH')
    inside--
  }

  await Promise.all(Array.from({ length: 50 }, () => lock.run(work, { wait: '20s' })))

  expect(await lock.inspect()).toMatchObject({ mode: 'free', waiting: 0 })
})

// redis-semaphore#205
test('a release that races with an extension is never reported as a loss', { timeout: 120_000 }, async () => {
  const { lock } = await setup({ clock: 'real' })
  const unhandled: unknown[] = []
  const note = (error: unknown): void => void unhandled.push(error)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  const rounds = countOf(10_000, 500)
  for (let n = 0; n < rounds; n++) {
    const lease = await lock.acquire()
    const [extension, release] =
      n % 2 === 0 ? [lease.extend(), lease.release()] : [lease.release(), lease.extend()].toReversed()
    const settled = await Promise.allSettled([extension, release])

    expect(settled[1]?.status).toBe('fulfilled')
    expect(lease.signal.aborted).toBe(false)
  }
  expect(unhandled).toEqual([])
  tell(`${rounds} releases raced with an extension`)
})

test('a server out of memory rejects acquires, whole, and still accepts releases and extensions', async () => {
  const server = await ownServer({ args: ['--maxmemory-policy', 'noeviction'] })
  const { lock, client, redis } = await setup({ clock: 'real', port: server.port })
  await redis.preload()
  const other = redis.lock('other')
  const readers = redis.lock('readers')
  const [lease, second] = [await lock.acquire(), await readers.shared.acquire()]
  const leaving = new AbortController()
  const waiting = lock.acquire({ wait: '20s' })
  const quitter = lock.acquire({ wait: '20s', signal: leaving.signal })
  await until('two wait', async () => (await lock.inspect()).waiting === 2)
  await client.config('SET', 'maxmemory', '1')

  for (const acquire of [other.acquire(), other.shared.acquire(), readers.shared.acquire()]) {
    const refused = await acquire.catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(DriverError)
    expect(refused).toMatchObject({ code: 'store-full' })
  }
  expect(await other.inspect()).toMatchObject({ mode: 'free', token: null, waiting: 0 })
  expect(await readers.inspect()).toMatchObject({ mode: 'shared', holders: [{ token: second.token }] })
  await lease.extend('1h')
  await second.extend('1h')
  leaving.abort()
  await expect(quitter).rejects.toThrow()
  await until('the quitter left the line', async () => (await lock.inspect()).waiting === 1)
  await lease.release()
  await second.release()
  await (await waiting).release()
  expect(await lock.clear()).toBe(true)
})

test('every key of a lock expires by itself', async () => {
  const { lock, client, name } = await setup({ clock: 'real' })
  const reading = await lock.shared.acquire()
  const waiting = lock.acquire({ wait: '20s' })
  await until('one waits', async () => (await lock.inspect()).waiting === 1)

  const keys = await client.keys(`lock-test:{lock:${name}}:*`)
  const lives = await Promise.all(keys.map((key) => client.pttl(key)))

  expect(keys).toHaveLength(4)
  expect(lives.filter((ms) => ms <= 0)).toEqual([])
  await reading.release()
  await (await waiting).release()
})
