import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import type { HttpAnswer } from '../../testing/test-app.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

const newSubject = (): string => `/v1/rate-limits/${randomUUID()}/subjects/ada`
const codeOf = ({ status, json }: HttpAnswer): unknown[] => [status, json.code]
const take = (subject: string, body: object): Promise<HttpAnswer> =>
  api.call('POST', `${subject}/takes`, { body })
const TWO = { limit: 2, window: '1h' }
const PLACES = { limit: 1, algorithm: 'concurrency', lease: '1m' }

describe('taking', () => {
  test('is allowed up to the limit, and then denied with everything that a caller needs', async () => {
    const subject = newSubject()
    const first = await take(subject, TWO)
    await take(subject, TWO)
    const third = await take(subject, TWO)

    expect(first.json).toMatchObject({ allowed: true, remaining: 1, limits: { default: { limit: 2 } } })
    expect(first.headers.get('ratelimit-policy')).toBe('"default";q=2;w=3600')
    expect(first.headers.get('ratelimit')).toMatch(/^"default";r=1;t=\d+$/)
    expect(first.headers.get('retry-after')).toBe(null)
    expect(third.json).toMatchObject({ status: 429, allowed: false, remaining: 0, deniedBy: 'default' })
    expect(codeOf(third)).toEqual([429, 'rate-limited'])
    expect(third.headers.get('content-type')).toContain('application/problem+json')
    expect(Number(third.headers.get('retry-after'))).toBe(Math.ceil(third.json.retryAfterMs / 1000))
    expect(third.headers.get('ratelimit')).toMatch(/^"default";r=0;/)
  })

  test('from several limits takes from all or none', async () => {
    const subject = newSubject()
    const limits = {
      hour: { limit: 5, window: '1h' },
      day: { limit: 1, window: '1d', algorithm: 'sliding-window' },
    }
    await take(subject, { limits })
    const denied = await take(subject, { limits })
    expect([...codeOf(denied), denied.json.deniedBy, denied.json.limits.hour.remaining]).toEqual([
      429,
      'rate-limited',
      'day',
      4,
    ])
  })

  test('takes its cost, and no more than could ever be allowed', async () => {
    const subject = newSubject()
    expect((await take(subject, { ...TWO, burst: 8, cost: 5 })).json.remaining).toBe(3)
    const { status, json } = await take(subject, { ...TWO, cost: 3 })
    expect([status, json.argument]).toEqual([400, 'cost'])
  })

  test('separates subjects, names and tenants', async () => {
    const subject = newSubject()
    const only = { limit: 1, window: '1h' }
    await take(subject, only)
    expect((await take(`${subject}2`, only)).status).toBe(200)
    expect((await take(newSubject(), only)).status).toBe(200)
    expect((await api.call('POST', `${subject}/takes`, { body: only, project: 'other' })).status).toBe(200)
    expect((await take(subject, only)).status).toBe(429)
  })
})

test('a check returns the answer of a take, and takes nothing', async () => {
  const subject = newSubject()
  const check = () => api.call('POST', `${subject}/checks`, { body: TWO })
  expect((await check()).json).toMatchObject({ allowed: true, remaining: 2, token: 0 })
  await take(subject, { ...TWO, cost: 2 })
  const { status, headers, json } = await check()
  expect([status, json.allowed, json.deniedBy]).toEqual([200, false, 'default'])
  expect(headers.get('ratelimit-policy')).toBe('"default";q=2;w=3600')
})

test('a refund with the token of a take counts once', async () => {
  const subject = newSubject()
  const { token } = (await take(subject, { ...TWO, cost: 2 })).json
  const refund = () => api.call('POST', `${subject}/refunds`, { body: { ...TWO, cost: 1, token } })
  expect([(await refund()).json, (await refund()).json]).toEqual([{ refunded: true }, { refunded: false }])
  expect((await take(subject, TWO)).status).toBe(200)
})

test('a place is held until it is released, and then lost to its former holder', async () => {
  const subject = newSubject()
  const { token } = (await take(subject, PLACES)).json
  expect((await take(subject, PLACES)).status).toBe(429)
  const { json } = await api.call('GET', `${subject}?limit=1&algorithm=concurrency`)
  expect(json).toMatchObject({ subject: 'ada', exists: true, held: [{ limit: 'default', token }] })

  const place = `${subject}/leases/${token}?limit=1&algorithm=concurrency`
  expect((await api.call('DELETE', place)).status).toBe(204)
  expect(codeOf(await api.call('DELETE', place))).toEqual([410, 'lease-lost'])
  expect((await take(subject, PLACES)).status).toBe(200)
})

test('several limits are passed in a query as JSON', async () => {
  const subject = newSubject()
  const limits = { a: PLACES, b: TWO }
  const { token } = (await take(subject, { limits })).json
  const query = `limits=${encodeURIComponent(JSON.stringify(limits))}`
  expect((await api.call('GET', `${subject}?${query}`)).json).toMatchObject({
    limits: { a: { remaining: 0 }, b: { remaining: 1 } },
    held: [{ limit: 'a', token }],
  })
  expect((await api.call('DELETE', `${subject}/leases/${token}?${query}`)).status).toBe(204)
})

test('a subject that is cleared may take everything again', async () => {
  const subject = newSubject()
  await take(subject, { ...TWO, cost: 2 })
  expect((await api.call('DELETE', subject)).status).toBe(204)
  expect((await api.call('GET', `${subject}?limit=2&window=1h`)).json).toMatchObject({
    exists: false,
    limits: { default: { remaining: 2 } },
  })
})

describe('an invalid argument', () => {
  const wrong: [argument: string, body: object][] = [
    ['limit', {}],
    ['limit', { limit: 0, window: '1m' }],
    ['limit', { limit: '2', window: '1m' }],
    ['window', { limit: 1 }],
    ['window', { limit: 1, window: 60 }],
    ['window', { limit: 1, window: '400d' }],
    ['burst', { limit: 1, window: '1m', burst: 0 }],
    ['burst', { limit: 1, window: '1m', burst: 2, algorithm: 'sliding-window' }],
    ['algorithm', { limit: 1, window: '1m', algorithm: 'guess' }],
    ['lease', { limit: 1, window: '1m', lease: '1m' }],
    ['onOutage', { limit: 1, window: '1m', onOutage: 'fail-open' }],
    ['cost', { ...TWO, cost: 0 }],
    ['limits', { limits: {} }],
    ['limits.a.window', { limits: { a: { limit: 1 } } }],
    ['limits.a.ttl', { limits: { a: { limit: 1, window: '1m', ttl: 1 } } }],
    ['limits', { limits: { 'a b': { limit: 1, window: '1m' } } }],
  ]
  test.each(wrong)('in a body is rejected by its name: %s %j', async (argument, body) => {
    const subject = newSubject()
    for (const kind of ['takes', 'checks', 'refunds']) {
      const { status, json } = await api.call('POST', `${subject}/${kind}`, { body })
      expect([status, json.code, json.argument]).toEqual([400, 'invalid-argument', argument])
    }
    expect((await api.call('GET', `${subject}?limit=1&window=1m`)).json.exists).toBe(false)
  })

  test('in a query or a path is rejected by its name', async () => {
    const argumentOf = async (method: string, path: string): Promise<unknown[]> => {
      const { status, json } = await api.call(method, path)
      return [status, json.argument]
    }
    const subject = newSubject()
    expect(await argumentOf('GET', subject)).toEqual([400, 'limit'])
    expect(await argumentOf('GET', `${subject}?limits=x`)).toEqual([400, 'limits'])
    expect(await argumentOf('GET', `${subject}?limits=1`)).toEqual([400, 'limits'])
    expect(await argumentOf('GET', `${subject}?limits={}&limit=1`)).toEqual([400, 'limit'])
    expect(await argumentOf('GET', `${subject}?limit=1&window=1m&deep=1`)).toEqual([400, 'deep'])
    expect(await argumentOf('DELETE', `${subject}/leases/1?limit=1&window=1m`)).toEqual([400, 'token'])
    expect(await argumentOf('DELETE', `${subject}/leases/x?limit=1`)).toEqual([400, 'token'])
    const huge = `/v1/rate-limits/${'n'.repeat(600)}/subjects/a`
    expect(await argumentOf('DELETE', huge)).toEqual([400, 'name'])
    expect(await argumentOf('DELETE', `/v1/rate-limits/n/subjects/${'s'.repeat(600)}`)).toEqual([
      400,
      'subject',
    ])
  })
})
