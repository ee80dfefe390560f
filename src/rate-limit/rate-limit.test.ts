import { type Decision, InvalidArgumentError, LeaseLostError, type RateLimitOptions } from 'perilune'
import { describe, expect, test } from 'vitest'
import { setup } from '../../test/rate-limit-fixture.ts'

function tokenOf(decision: Decision): number {
  return 'token' in decision ? decision.token : 0
}

const START_MS = 1_800_000_000_000

describe('taking', () => {
  test('a decision has everything that a response needs', async () => {
    const { redis, name, clock } = await setup()
    const logins = redis.rateLimit(name, { limit: 2, window: '1m' })

    const first = await logins.take('ada')
    await clock.advance(1)
    await logins.take('ada')
    const third = await logins.take('ada')

    expect(first).toEqual({
      allowed: true,
      remaining: 1,
      resetAtMs: START_MS + 30_000,
      limits: { default: { algorithm: 'gcra', limit: 2, windowMs: 60_000, remaining: 1, resetMs: 30_000 } },
      token: START_MS * 1000,
    })
    expect(third).toEqual({
      allowed: false,
      remaining: 0,
      resetAtMs: START_MS + 60_000,
      limits: { default: { algorithm: 'gcra', limit: 2, windowMs: 60_000, remaining: 0, resetMs: 59_999 } },
      retryAfterMs: 29_999,
      deniedBy: 'default',
    })
  })

  test('a denied take changes nothing, however often it is asked', async () => {
    // animir/node-rate-limiter-flexible#337 and its kin: rejected calls still consumed.
    const { redis, name, client, keyOf } = await setup()
    const logins = redis.rateLimit(name, { limit: 3, window: '1m' })
    await logins.take('ada', { cost: 2 })
    const before = await client.dumpBuffer(keyOf('ada'))

    for (let n = 0; n < 50; n++) {
      const denied = await logins.take('ada', { cost: 2 })
      expect(denied).toMatchObject({ allowed: false, remaining: 1, retryAfterMs: 20_000 })
    }

    expect(await client.dumpBuffer(keyOf('ada'))).toEqual(before)
    expect(await logins.take('ada')).toMatchObject({ allowed: true, remaining: 0 })
  })

  test('after retryAfterMs the same take is allowed, and a millisecond before it is not', async () => {
    const { redis, name, clock } = await setup()
    const calls = redis.rateLimit(name, { limit: 7, window: '1s', burst: 3 })
    await calls.take('ada', { cost: 3 })
    const denied = await calls.take('ada', { cost: 2 })
    const wait = denied.allowed ? 0 : denied.retryAfterMs

    await clock.advance(wait - 1)
    expect(await calls.take('ada', { cost: 2 })).toMatchObject({ allowed: false, retryAfterMs: 1 })
    await clock.advance(1)
    expect(await calls.take('ada', { cost: 2 })).toMatchObject({ allowed: true })
  })

  test('a take uses several limits together or not at all', async () => {
    const { redis, name, clock } = await setup()
    const api = redis.rateLimit(name, {
      limits: {
        perSecond: { limit: 2, window: '1s' },
        perDay: { limit: 3, window: '1d', algorithm: 'sliding-window' },
        parallel: { algorithm: 'concurrency', limit: 2, lease: '1m' },
      },
    })
    const first = await api.take('ada')
    await api.take('ada')

    expect(await api.take('ada')).toMatchObject({
      allowed: false,
      deniedBy: 'parallel',
      retryAfterMs: 60_000,
    })
    await api.release('ada', first.allowed ? first.token : 0)
    expect(await api.take('ada')).toMatchObject({ allowed: false, deniedBy: 'perSecond', retryAfterMs: 500 })
    await clock.advance(500)
    expect(await api.take('ada')).toMatchObject({ allowed: true })
    await clock.advance(60_000)
    expect(await api.take('ada')).toMatchObject({
      allowed: false,
      deniedBy: 'perDay',
      retryAfterMs: 86_400_000 - 60_000,
      limits: { perSecond: { remaining: 2 }, parallel: { remaining: 2 } },
    })
  })

  test('subjects and limiters are separate', async () => {
    const { redis, name } = await setup()
    const logins = redis.rateLimit(name, { limit: 1, window: '1m' })
    const others = redis.rateLimit(`${name}-others`, { limit: 1, window: '1m' })

    const taken = await Promise.all([logins.take('ada'), logins.take('bob:{x}'), others.take('ada')])

    expect(taken.map(({ allowed }) => allowed)).toEqual([true, true, true])
    const again = await Promise.all([logins.take('ada'), logins.take('bob:{x}')])
    expect(again.map(({ allowed }) => allowed)).toEqual([false, false])
  })

  test('many callers at once get exactly what the limit allows', async () => {
    const { redis, name } = await setup()
    for (const algorithm of ['gcra', 'sliding-window'] as const) {
      const limiter = redis.rateLimit(`${name}-${algorithm}`, { limit: 30, window: '1d', algorithm })
      const taken = await Promise.all(Array.from({ length: 100 }, () => limiter.take('all')))

      expect(taken.filter(({ allowed }) => allowed)).toHaveLength(30)
      expect(new Set(taken.flatMap((each) => (each.allowed ? [each.token] : []))).size).toBe(30)
    }
  })
})

describe('looking', () => {
  test('get returns the decision that a take would get, and takes nothing', async () => {
    const { redis, name, client, keyOf } = await setup()
    const logins = redis.rateLimit(name, { limit: 3, window: '1m' })

    expect(await logins.get('ada')).toMatchObject({ allowed: true, remaining: 3, token: 0 })
    expect(await client.exists(keyOf('ada'))).toBe(0)
    await logins.take('ada', { cost: 2 })
    expect(await logins.get('ada', { cost: 2 })).toMatchObject({ allowed: false, retryAfterMs: 20_000 })
    expect(await logins.get('ada')).toMatchObject({ allowed: true, remaining: 1 })
  })

  test('inspect shows which takes hold places, and clear deletes the subject', async () => {
    const { redis, name } = await setup()
    const exports = redis.rateLimit(name, { algorithm: 'concurrency', limit: 2, lease: '10s' })
    const taken = await exports.take('ada')
    const token = taken.allowed ? taken.token : 0

    expect(await exports.inspect('ada')).toEqual({
      exists: true,
      limits: {
        default: { algorithm: 'concurrency', limit: 2, windowMs: 10_000, remaining: 1, resetMs: 10_000 },
      },
      held: [{ limit: 'default', token, expiresAtMs: START_MS + 10_000 }],
    })
    expect(await exports.clear('ada')).toBe(true)
    expect(await exports.clear('ada')).toBe(false)
    expect(await exports.inspect('ada')).toMatchObject({ exists: false, held: [] })
  })
})

describe('giving back', () => {
  test('a refund by token is applied once, however often it is sent', async () => {
    const { redis, name } = await setup()
    const limiter = redis.rateLimit(name, { limit: 10, window: '1m' })
    const taken = await limiter.take('ada', { cost: 4 })
    await limiter.take('ada', { cost: 4 })
    const token = taken.allowed ? taken.token : 0

    expect(await limiter.refund('ada', { cost: 4, token })).toBe(true)
    expect(await limiter.refund('ada', { cost: 4, token })).toBe(false)
    expect(await limiter.get('ada')).toMatchObject({ remaining: 6 })
  })

  test('a refund never fills a limit beyond its maximum', async () => {
    const { redis, name, clock } = await setup()
    for (const algorithm of ['gcra', 'sliding-window'] as const) {
      const limiter = redis.rateLimit(name, { limit: 10, window: '1m', algorithm })
      await limiter.take('ada', { cost: 4 })
      expect(await limiter.refund('ada', { cost: 9 })).toBe(true)
      expect(await limiter.get('ada')).toMatchObject({ remaining: 10 })
      await clock.advance(60_000)
      expect(await limiter.get('ada')).toMatchObject({ remaining: 10 })
    }
  })

  test('a refund is forgotten when its units would be free anyway', async () => {
    const { redis, client, name, clock, keyOf } = await setup()
    const limiter = redis.rateLimit(name, { limit: 10, window: '1s' })
    for (let n = 0; n < 600; n++) {
      const taken = await limiter.take('ada')
      expect(await limiter.refund('ada', { token: tokenOf(taken) })).toBe(true)
      await clock.advance(1000)
    }
    expect(await client.hlen(keyOf('ada'))).toBeLessThan(300)
  })

  test('when too many refunds must be remembered, older takes are treated as refunded', async () => {
    const { redis, client, name, keyOf } = await setup()
    const limiter = redis.rateLimit(name, { limit: 100, window: '1h' })
    const takes = []
    for (let n = 0; n < 67; n++) takes.push(tokenOf(await limiter.take('ada')))
    const fill = "for at = 1, 10000 do redis.call('HSET', KEYS[1], 'field ' .. at, '') end"
    await client.eval(fill, 1, keyOf('ada'))
    const [oldest, second, third, ...others] = takes as [number, number, number, ...number[]]

    for (const token of others) expect(await limiter.refund('ada', { token })).toBe(true)
    expect(await limiter.refund('ada', { token: second })).toBe(true)
    for (const token of [second, oldest]) expect(await limiter.refund('ada', { token })).toBe(false)
    expect(await limiter.refund('ada', { token: third })).toBe(true)
  })

  test('a released place is free at once, and a second release frees nothing', async () => {
    const { redis, name } = await setup()
    const limiter = redis.rateLimit(name, { algorithm: 'concurrency', limit: 1 })
    const first = await limiter.take('ada')
    expect((await limiter.take('ada')).allowed).toBe(false)
    const token = first.allowed ? first.token : 0

    await limiter.release('ada', token)
    const second = await limiter.take('ada')

    expect(second).toMatchObject({ allowed: true, remaining: 0 })
    await expect(limiter.release('ada', token)).rejects.toThrow(LeaseLostError)
    expect((await limiter.take('ada')).allowed).toBe(false)
  })

  test('the place of a crashed holder is free again when its lease has ended', async () => {
    const { redis, name, clock } = await setup()
    const limiter = redis.rateLimit(name, { algorithm: 'concurrency', limit: 1, lease: '10s' })
    const crashed = await limiter.take('ada')

    await clock.advance(9999)
    expect(await limiter.take('ada')).toMatchObject({ allowed: false, retryAfterMs: 1 })
    await clock.advance(1)
    expect(await limiter.take('ada')).toMatchObject({ allowed: true })
    const late = limiter.release('ada', crashed.allowed ? crashed.token : 0)
    await expect(late).rejects.toThrow(LeaseLostError)
  })
})

describe('refusing', () => {
  test('a cost that could never be allowed is an error before anything is sent', async () => {
    const { redis, name, client, keyOf } = await setup()
    const limiter = redis.rateLimit(name, {
      limits: { a: { limit: 5, window: '1m', burst: 3 }, b: { limit: 9, window: '1m' } },
    })

    await expect(limiter.take('ada', { cost: 4 })).rejects.toThrow('cost must be a whole number from 1 to 3')
    await expect(limiter.take('ada', { cost: 0.5 })).rejects.toThrow(InvalidArgumentError)
    expect(await client.exists(keyOf('ada'))).toBe(0)
  })

  const wrong: [string, unknown][] = [
    ['options', null],
    ['limit', { limit: 0, window: '1m' }],
    ['limit', { limit: 1.5, window: '1m' }],
    ['window', { limit: 1 }],
    ['window', { limit: 1, window: 1000 }],
    ['options.burst', { limit: 1, window: '1m', algorithm: 'sliding-window', burst: 2 }],
    ['burst', { limit: 1, window: '366d', burst: 11 }],
    ['algorithm', { limit: 1, window: '1m', algorithm: 'fixed-window' }],
    ['algorithm', { limit: 1, window: '1m', algorithm: 'toString' }],
    ['options.window', { limit: 1, window: '1m', algorithm: 'concurrency' }],
    ['options.windw', { limit: 1, window: '1m', windw: '1m' }],
    ['limits', { limits: {} }],
    ['limits', { limits: { 'per second': { limit: 1, window: '1m' } } }],
    ['limits.a.window', { limits: { a: { limit: 1 } } }],
    ['limits.a', { limits: { a: null } }],
    ['options.limit', { limits: { a: { limit: 1, window: '1m' } }, limit: 1 }],
    ['onOutage', { limit: 1, window: '1m', onOutage: 'ignore' }],
  ]

  test.each(wrong)('%s is named when it is wrong: %j', async (argument, options) => {
    const { redis, name } = await setup()
    let error: unknown
    try {
      redis.rateLimit(name, options as RateLimitOptions)
    } catch (reason) {
      error = reason
    }
    expect(error).toBeInstanceOf(InvalidArgumentError)
    expect(error).toMatchObject({ argument })
  })

  test('subjects and tokens are checked before anything is sent', async () => {
    const { redis, name } = await setup()
    const limiter = redis.rateLimit(name, { limit: 1, window: '1m' })

    await expect(limiter.take('')).rejects.toThrow('subject must not be empty')
    await expect(limiter.get('a'.repeat(513))).rejects.toThrow('subject must be at most 512 bytes')
    await expect(limiter.refund('ada', { token: 0 })).rejects.toThrow('token must be')
    await expect(limiter.release('ada', 1)).rejects.toThrow('token holds no place')
  })
})
