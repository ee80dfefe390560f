import { type Decision, DriverError, type LimitState, rateLimitHeaders } from 'perilune'
import { expect, test } from 'vitest'

const second: LimitState = { algorithm: 'gcra', limit: 10, windowMs: 1000, remaining: 0, resetMs: 1001 }
const day: LimitState = {
  algorithm: 'sliding-window',
  limit: 1000,
  windowMs: 86_400_000,
  remaining: 7,
  resetMs: 3_600_000,
}
const parallel: LimitState = {
  algorithm: 'concurrency',
  limit: 3,
  windowMs: 60_000,
  remaining: 1,
  resetMs: 60_000,
}
const allowed: Decision = {
  allowed: true,
  remaining: 0,
  resetAtMs: 5_003_600_000,
  limits: { second, day, parallel },
  token: 1,
}
const denied: Decision = {
  allowed: false,
  remaining: 0,
  resetAtMs: 5_003_600_000,
  limits: { second, day },
  retryAfterMs: 100_001,
  deniedBy: 'second',
}

test('an allowed take has policies and limits as structured fields, and no Retry-After', () => {
  expect(rateLimitHeaders(allowed)).toEqual({
    'RateLimit-Policy': '"second";q=10;w=1, "day";q=1000;w=86400, "parallel";q=3;qu="concurrent-requests"',
    RateLimit: '"second";r=0;t=2, "day";r=7;t=3600, "parallel";r=1',
  })
})

test('a denied take has Retry-After in seconds, rounded up, and no later end of a window', () => {
  expect(rateLimitHeaders(denied)).toEqual({
    'RateLimit-Policy': '"second";q=10;w=1, "day";q=1000;w=86400',
    RateLimit: '"second";r=0;t=2, "day";r=7;t=101',
    'Retry-After': '101',
  })
})

test('times are counted from when the response is sent', () => {
  expect(rateLimitHeaders(denied, { sentAtMs: 5_000_000_000 + 99_500 })).toMatchObject({
    RateLimit: '"second";r=0;t=0, "day";r=7;t=1',
    'Retry-After': '1',
  })
  expect(rateLimitHeaders(denied, { sentAtMs: 5_000_200_000 })).toMatchObject({ 'Retry-After': '0' })
  expect(rateLimitHeaders(denied, { sentAtMs: 1 })).toEqual(rateLimitHeaders(denied))
})

test('a window of less than a second is reported as one second', () => {
  const limits = { fast: { ...second, windowMs: 50 } }
  expect(rateLimitHeaders({ ...allowed, limits })).toMatchObject({ 'RateLimit-Policy': '"fast";q=10;w=1' })
})

test('an outage has no limit headers', () => {
  const cause = new DriverError('unreachable', 'no server')
  expect(rateLimitHeaders({ allowed: false, outage: true, cause })).toEqual({})
})
