// A program that loads two versions of the library, or one next to a bundled one, passes objects of one copy to the
// other.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import * as own from 'perilune'
import type * as ioredisDriver from 'perilune/ioredis'
import { ioredis as ownDriver } from 'perilune/ioredis'
import type * as middleware from 'perilune/middleware'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConnectionLostError, ServerReplyError } from '../../src/driver.ts'
import { callOf, FAIL, failureOf } from '../../src/testing/driver-calls.ts'
import { freePort } from '../servers/ports.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { loadCopy } from './second-copy.ts'

type Library = typeof own & typeof ioredisDriver & typeof middleware

let server: RedisServer
let other: Library
let client: Redis
let mine: own.Perilune
let theirs: own.Perilune
/** The other copy's driver under our library. */
let mixed: own.Perilune

beforeAll(async () => {
  const names = ['perilune', 'perilune/ioredis', 'perilune/middleware']
  other = await loadCopy<Library>(names.map((name) => `export * from '${name}'`).join('\n'))
  server = await startRedis()
  client = new Redis({ host: '127.0.0.1', port: server.port })
  mine = own.perilune(ownDriver(client))
  theirs = other.perilune(other.ioredis(client))
  mixed = own.perilune(other.ioredis(client))
})
afterAll(async () => {
  await Promise.all([mine, theirs, mixed].map((redis) => redis.close()))
  client.disconnect()
  await server.stop()
})

test('the copies are different', () => {
  expect(other.LeaseLostError).not.toBe(own.LeaseLostError)
})

describe('a driver of one copy under the other', () => {
  test('sends the source of a script that the server has lost', async () => {
    await client.script('FLUSH')

    expect(await mixed.lock(randomUUID()).run(() => 'done')).toBe('done')
  })

  test('reports server errors and lost replies', async () => {
    const nowhere = new Redis({ port: await freePort(), retryStrategy: () => null, lazyConnect: true })
    nowhere.on('error', () => undefined)
    const driver = other.ioredis(client)

    expect(await failureOf(driver.run(callOf(FAIL, ['k'])))).toBeInstanceOf(ServerReplyError)
    expect(await failureOf(other.ioredis(nowhere).run(callOf(FAIL, ['k'])))).toBeInstanceOf(
      ConnectionLostError,
    )
    await driver.close()
  })

  test('is closed with the last instance of both copies', async () => {
    const driver = other.ioredis(client)
    const [first, second] = [own.perilune(driver), other.perilune(driver)]

    await first.close()
    expect(await second.lock(randomUUID()).run(() => 'done')).toBe('done')
    await second.close()

    expect(() => own.perilune(driver)).toThrow(own.InvalidArgumentError)
  })

  test('an error of a script keeps its code', async () => {
    const name = randomUUID()
    await client.set(`perilune:{lock:${name}}:state`, 'garbage')

    await expect(mixed.lock(name).tryAcquire()).rejects.toMatchObject({ code: 'unknown-layout' })
  })
})

describe('an object of one copy in the other', () => {
  test('a lease as `held`, and one that is already held', async () => {
    const name = randomUUID()
    const lease = await theirs.lock(name).acquire()
    const again = await theirs.lock(name).acquire({ held: lease })

    expect(await mine.lock(name).run(() => 'inside', { held: lease })).toBe('inside')
    expect(await mine.lock(name).run(() => 'inside', { held: again })).toBe('inside')
    await lease.release()
  })

  test('claimed jobs as `acks`', async () => {
    const name = randomUUID()
    await mine.queue(name).enqueue('job', {})
    const [job] = await theirs.queue(name).claim()
    if (job === undefined) throw new Error('there was no job')

    await mine.queue(name).claim({ acks: [job] })

    expect(job.outcome).toBe('acked')
  })

  test('a handler of batches', async () => {
    const queue = mine.queue(randomUUID())
    const { id } = await queue.enqueue('job', {}, { resultTtl: '1m' })
    const handler = other.batch({ size: 2, within: '0ms' }, (jobs) => jobs.map(() => 'batched'))
    const worker = queue.work({ job: handler })

    expect(await queue.jobs.waitForResult(id, { wait: '10s' })).toMatchObject({ result: 'batched' })
    await worker.close()
  })
})

describe('middleware of one copy on structures of the other', () => {
  const request = (headers = {}): Request => new Request('http://x/', { method: 'POST', body: 'a', headers })
  const hello = async (): Promise<Response> => new Response('hello')

  test('recognises an outage', async () => {
    const away = new Redis({ port: await freePort(), retryStrategy: () => 50 })
    away.on('error', () => undefined)
    const redis = own.perilune(ownDriver(away), { deadline: '200ms' })
    const limit = redis.rateLimit('x', { limit: 1, window: '1s', onOutage: 'fail-closed' })
    const limited = other.withRateLimit(limit, { subject: () => 'a' }, hello)
    const once = other.withIdempotency(redis.once('x'), {}, hello)
    const cached = other.withResponseCache(redis.cache('x'), {}, hello)

    const answers = await Promise.all([
      limited(request()),
      once(request({ 'idempotency-key': '"a"' })),
      cached(new Request('http://x/')),
    ])

    expect(answers.map(({ status }) => status)).toEqual([503, 503, 200])
    await redis.close()
    away.disconnect()
  })

  test('gives a response that must not be shared to each waiter', async () => {
    const slow = async (): Promise<Response> => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return new Response('mine', { headers: { 'cache-control': 'private' } })
    }
    const cached = other.withResponseCache(mine.cache(randomUUID()), {}, slow)

    const answers = await Promise.all([1, 2, 3].map(() => cached(new Request('http://x/p'))))

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  })
})

describe('an error of one copy', () => {
  test('is an instance of its class in the other copy, and of no other class', async () => {
    const name = randomUUID()
    const lease = await theirs.lock(name).acquire()
    await theirs.lock(name).clear()

    const lost = await failureOf(lease.release())

    expect(lost).toBeInstanceOf(own.LeaseLostError)
    expect(lost).toBeInstanceOf(own.PeriluneError)
    expect(lost).not.toBeInstanceOf(own.DriverError)
  })

  const args: Record<string, readonly unknown[]> = {
    SinkError: ['sink-failed', 'x'],
    DriverError: ['busy', 'x'],
    LeaseLostError: ['x', 1],
    MaxRunError: [1],
    RefusedError: ['x', []],
  }
  const classes = Object.entries(own).filter(([name]) => name.endsWith('Error') && name !== 'PeriluneError')

  test.each(classes)('the other copy recognises %s', (name) => {
    const make = other[name as keyof Library] as new (...given: readonly unknown[]) => Error
    const error = new make(...(args[name] ?? ['x', 'y']))
    const known = classes.filter(([, type]) => error instanceof (type as typeof own.DriverError))

    // And the class that it extends, if any.
    const extended: unknown = Object.getPrototypeOf(classes.find(([each]) => each === name)?.[1])
    const expected = classes.filter(([each, type]) => each === name || type === extended)
    expect(known).toEqual(expected)
  })

  test('a class of a user that extends one of ours has its own instances only', () => {
    class Mine extends own.DriverError {}

    expect(new Mine('busy', 'x')).toBeInstanceOf(own.DriverError)
    expect(new own.DriverError('busy', 'x')).not.toBeInstanceOf(Mine)
    expect(null).not.toBeInstanceOf(own.DriverError)
  })
})
