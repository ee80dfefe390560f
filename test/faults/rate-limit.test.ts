// Invariants of limits when no answer arrives, scripts are lost and servers are away.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type Driver, LeaseLostError, type Perilune, perilune, type RateLimitOptions } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { LONG, SEED, tell } from '../proof.ts'
import { until } from '../servers/ask.ts'
import { type Proxy, startProxy } from '../servers/proxy.ts'
import { startRedis } from '../servers/redis.ts'

function connect(port: number): { driver: Driver; disconnect(): void } {
  const client = new Redis(port, { retryStrategy: () => 20 })
  client.on('error', () => undefined)
  return { driver: ioredis(client), disconnect: () => client.disconnect() }
}

interface Setup {
  redis: Perilune
  proxy: Proxy
  name: string
}

async function setup(deadline: '3s' | '2s' = '3s'): Promise<Setup> {
  const proxy = await startProxy(inject('redisPort'))
  const { driver, disconnect } = connect(proxy.port)
  const redis = perilune(driver, { deadline, namespace: 'faults' })
  onTestFinished(async () => {
    await redis.close()
    disconnect()
    await proxy.stop()
  })
  const name = randomUUID()
  // The scripts are known to the server, so that the calls below are one request each.
  await redis.preload()
  await redis.rateLimit(name, { limit: 1, window: '1d' }).get('ada')
  return { redis, proxy, name }
}

const kinds: [string, RateLimitOptions][] = [
  ['one limit', { limit: 30, window: '1d' }],
  ['a sliding window', { limit: 30, window: '1d', algorithm: 'sliding-window' }],
  [
    'several limits',
    {
      limits: {
        day: { limit: 30, window: '1d' },
        week: { limit: 100, window: '7d', algorithm: 'sliding-window' },
        parallel: { algorithm: 'concurrency', limit: 100, lease: '1h' },
      },
    },
  ],
]

test('takes that travel together count once, even when their answer is lost', async () => {
  const { redis, proxy, name } = await setup()
  const limiter = redis.rateLimit(name, { limit: 30, window: '1d' })
  const subjects = ['ada', 'bob', 'ada', 'eve', 'ada']

  for (let n = 1; n <= 5; n++) {
    proxy.cutReplies(1, /evalsha/i)
    const taken = await Promise.all(subjects.map((subject) => limiter.take(subject)))
    const left = taken.map((each) => (each.outage ? null : each.remaining))
    expect(left).toEqual([32 - 3 * n, 30 - n, 31 - 3 * n, 30 - n, 30 - 3 * n])
    expect(proxy.pendingFaults).toBe(0)
  }
})

describe('an outage is not a limit (animir/node-rate-limiter-flexible#337, #286)', () => {
  const limit = { limit: 1, window: '1d' } as const

  test('takes that wait after calls without an answer settle by their own deadline', async () => {
    const { redis, proxy, name } = await setup('2s')
    const limiter = redis.rateLimit(name, { limit: 10_000, window: '1d' })
    proxy.halfOpen()

    // More than two calls can carry.
    const taken = await Promise.allSettled(Array.from({ length: 1000 }, (_, n) => limiter.take(`${n}`)))

    const codes = taken.map((each) => (each.status === 'rejected' ? each.reason.code : 'none'))
    expect(codes.slice(0, 600)).toEqual(Array.from({ length: 600 }, () => 'ambiguous'))
    // Never sent, unless they were asked for so much later that there was time for another call.
    expect(['unreachable', 'ambiguous']).toEqual(expect.arrayContaining([...new Set(codes.slice(600))]))
  })

  test('by default a call without an answer rejects', async () => {
    const { redis, proxy, name } = await setup('2s')
    const limiter = redis.rateLimit(name, limit)

    proxy.halfOpen()
    const [taken, peeked] = await Promise.allSettled([limiter.take('ada'), limiter.get('ada')])

    expect(taken).toMatchObject({ status: 'rejected', reason: { code: 'ambiguous' } })
    expect(peeked).toMatchObject({ status: 'rejected', reason: { code: 'unreachable' } })
  })

  test.each([
    ['fail-open', true],
    ['fail-closed', false],
  ] as const)('%s decides locally, says so, and gives no retry time', async (onOutage, allowed) => {
    const { redis, proxy, name } = await setup('2s')
    const limiter = redis.rateLimit(name, { ...limit, onOutage })

    proxy.halfOpen()
    const decision = await limiter.take('ada')

    expect(decision).toEqual({ allowed, outage: true, cause: expect.objectContaining({ code: 'ambiguous' }) })
    expect(await limiter.get('ada')).toMatchObject({ allowed, outage: true, cause: { code: 'unreachable' } })
  })

  test('a request that never arrives is sent again and decided by the store', async () => {
    const { redis, proxy, name } = await setup()
    const limiter = redis.rateLimit(name, { ...limit, onOutage: 'fail-open' })

    proxy.dropRequests(1, /evalsha/i)
    expect(await limiter.take('ada')).toMatchObject({ allowed: true, remaining: 0 })
    proxy.dropRequests(1, /evalsha/i)
    const denied = await limiter.take('ada')

    expect(denied).toMatchObject({ allowed: false, deniedBy: 'default' })
    expect(denied).not.toHaveProperty('outage')
  })

  test('a full server is an outage for a take, and accepts returned places and units', async () => {
    const { redis, client } = await ownServer(['--maxmemory-policy', 'noeviction'])
    const options = { limits: { day: limit, parallel: { algorithm: 'concurrency', limit: 1 } } } as const
    const open = redis.rateLimit('full', { ...options, onOutage: 'fail-open' })
    const taken = await open.take('ada')
    const token = taken.allowed && !taken.outage ? taken.token : 0
    await client.config('SET', 'maxmemory', '1')

    expect(await open.take('bob')).toMatchObject({ outage: true, cause: { code: 'store-full' } })
    await expect(redis.rateLimit('full', options).take('bob')).rejects.toMatchObject({ code: 'store-full' })
    expect(await open.take('ada')).toMatchObject({ allowed: false, deniedBy: 'day' })
    await open.release('ada', token)
    expect(await open.refund('ada', { token })).toBe(true)
    expect(await client.pttl('perilune:{rate-limit:full:ada}:state')).toBeGreaterThan(0)
    expect(await client.exists('perilune:{rate-limit:full:bob}:state')).toBe(0)
  })

  test('an error that a repetition cannot repair is thrown, whatever the choice', async () => {
    const { redis, client } = await ownServer()
    const limiter = redis.rateLimit('mine', { ...limit, onOutage: 'fail-open' })
    await limiter.get('ada')
    await client.hset('perilune:{rate-limit:mine:ada}:state', 'layout', '9')
    await client.set('perilune:{rate-limit:mine:bob}:state', 'of another program')

    await expect(limiter.take('ada')).rejects.toMatchObject({ code: 'unknown-layout' })
    await expect(limiter.take('bob')).rejects.toMatchObject({ code: 'script-failed' })
  })
})

test('no caller notices a server that loses its scripts (rate-limit-redis#71, #144)', {
  timeout: 60_000,
}, async () => {
  const { redis, client } = await ownServer()
  const limiters = kinds.map(([name, options]) => redis.rateLimit(name, options))
  const ends = performance.now() + (LONG ? 30_000 : 2000)
  // None may be under way when its client is closed: its rejection would go unhandled.
  const flushes: Promise<unknown>[] = []
  const flushing = setInterval(() => flushes.push(client.script('FLUSH')), 50)
  onTestFinished(() => clearInterval(flushing))

  let calls = 0
  // On a busy machine the time may be over before a limit of thirty is used up.
  const work = async (worker: number): Promise<void> => {
    for (let round = 0; round < 30 || performance.now() < ends; round++) {
      for (const limiter of limiters) {
        await limiter.take(`${worker}`)
        await limiter.get(`${worker}`)
        calls += 2
      }
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, worker) => work(worker)))
  clearInterval(flushing)
  await Promise.all(flushes)

  tell(`limits under SCRIPT FLUSH every 50 ms: ${calls} calls, no error`)
  for (const limiter of limiters) expect(await limiter.get('0')).toMatchObject({ remaining: 0 })
})

test('no key stays for ever, whatever was called and lost (fastify-rate-limit#152)', async () => {
  const { client, port } = await ownServer()
  const proxy = await startProxy(port)
  const { driver, disconnect } = connect(proxy.port)
  const redis = perilune(driver, { namespace: 'ends' })
  onTestFinished(async () => {
    await redis.close()
    disconnect()
    await proxy.stop()
  })
  const random = randomFrom(SEED)
  const limiters = kinds.map(([name, options]) => redis.rateLimit(name, options))

  for (let n = 0; n < 1000; n++) {
    if (n % 20 === 0) proxy.dropRequests(1, /evalsha/i)
    if (n % 20 === 10) proxy.cutReplies(1, /evalsha/i)
    const limiter = limiters[n % limiters.length] ?? expect.fail()
    const subject = `s${random(40)}`
    const decision = await limiter.take(subject, { cost: 1 + random(8) })
    const what = random(6)
    if (what === 0) await limiter.refund(subject)
    if (what === 1 && decision.allowed && !decision.outage)
      await limiter.refund(subject, { token: decision.token })
    if (what === 2) await limiter.clear(subject)
    if (what === 3 && n % 3 === 2) await limiter.release(subject, tokenOf(decision)).catch(unlessLost)
  }

  const keys = await client.keys('ends:*')
  const lives = await Promise.all(keys.map((key) => client.pttl(key)))
  expect(keys.length).toBeGreaterThan(50)
  expect(keys.filter((_, at) => (lives[at] ?? -1) < 0)).toEqual([])
})

test('a subject whose window is over vanishes from the server by itself', { timeout: 60_000 }, async () => {
  const { redis, client } = await ownServer()
  await redis.rateLimit('short', { limit: 1, window: '1ms' }).take('ada')

  const left = await client.pttl('perilune:{rate-limit:short:ada}:state')
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThanOrEqual(21_000)
  if (!LONG) return
  await sleep(left)
  // The server looks for what has expired several times a second.
  await until('the server has dropped the key', async () => (await client.dbsize()) === 0)
})

function unlessLost(error: unknown): void {
  if (!(error instanceof LeaseLostError)) throw error
}

function tokenOf(decision: { allowed: boolean; token?: number }): number {
  return decision.token ?? 1
}

/** Whole numbers below what is asked for. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

async function ownServer(args: string[] = []): Promise<{ redis: Perilune; client: Redis; port: number }> {
  const server = await startRedis({ args })
  const client = new Redis(server.port)
  const redis = perilune(ioredis(client))
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
    await server.stop()
  })
  await redis.preload()
  return { redis, client, port: server.port }
}
