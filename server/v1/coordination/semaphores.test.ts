import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import type { HttpAnswer } from '../../testing/test-app.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

const newSemaphore = (): string => `/v1/semaphores/${randomUUID()}`
const codeOf = ({ status, json }: HttpAnswer): unknown[] => [status, json.code]
const placeOf = ({ headers }: HttpAnswer): string => headers.get('location') ?? ''
const acquire = (semaphore: string, body: object, query = ''): Promise<HttpAnswer> =>
  api.call('POST', `${semaphore}/leases${query}`, { body })

async function whenWaiting(semaphore: string, waiting: number): Promise<void> {
  while ((await api.call('GET', semaphore)).json.waiting !== waiting) await sleep(5)
}

test('permits are granted up to the limit, each with its weight', async () => {
  const semaphore = newSemaphore()
  const heavy = await acquire(semaphore, { limit: 3, weight: 2, lease: '1m', holder: 'ada' })
  const light = await acquire(semaphore, { limit: 3 })
  const none = await acquire(semaphore, { limit: 3 })

  expect([heavy.status, heavy.json.leaseMs, light.status]).toEqual([201, 60_000, 201])
  expect(placeOf(heavy)).toBe(`${semaphore}/leases/${heavy.json.token}`)
  expect([...codeOf(none), Number(none.headers.get('retry-after'))]).toEqual([409, 'full', 30])
  expect(none.json.retryAfterMs).toBeGreaterThan(20_000)
  const { json } = await api.call('GET', semaphore)
  expect(json).toMatchObject({ limit: 3, resized: false, used: 3, waiting: 0, line: [] })
  expect(json.permits).toContainEqual({
    token: heavy.json.token,
    expiresAtMs: heavy.json.expiresAtMs,
    weight: 2,
    holder: 'ada',
  })
})

test('a waiting request is served when enough has been given back', async () => {
  const semaphore = newSemaphore()
  const first = await acquire(semaphore, { limit: 1 })
  const waiting = acquire(semaphore, { limit: 1, lease: '2m' }, '?wait=25s')
  await whenWaiting(semaphore, 1)
  expect((await api.call('DELETE', placeOf(first))).status).toBe(204)
  const second = await waiting
  expect([second.status, second.json.leaseMs]).toEqual([201, 120_000])
  expect((await api.call('GET', semaphore)).json.permits[0].expiresAtMs).toBe(second.json.expiresAtMs)
  expect(second.json.expiresAtMs).toBeGreaterThan(first.json.expiresAtMs)
})

test('a client that leaves while it waits leaves nothing in line', async () => {
  const semaphore = newSemaphore()
  await acquire(semaphore, { limit: 1 })
  const leaving = new AbortController()
  const left = fetch(`${api.url}${semaphore}/leases?wait=50s`, {
    method: 'POST',
    headers: { 'X-Project-ID': 'test', 'Content-Type': 'application/json' },
    body: '{"limit":1}',
    signal: leaving.signal,
  }).catch(() => null)
  await whenWaiting(semaphore, 1)
  leaving.abort()
  await left
  await whenWaiting(semaphore, 0)
})

test('the limit can be set for all, and no permit is revoked', async () => {
  const semaphore = newSemaphore()
  const permits = [await acquire(semaphore, { limit: 2 }), await acquire(semaphore, { limit: 2 })]
  expect((await api.call('PUT', `${semaphore}/limit`, { body: { limit: 1 } })).status).toBe(204)
  expect((await api.call('GET', semaphore)).json).toMatchObject({ limit: 1, resized: true, used: 2 })
  for (const permit of permits) expect((await api.call('PATCH', placeOf(permit))).status).toBe(200)

  expect(codeOf(await acquire(semaphore, { limit: 5 }))).toEqual([409, 'full'])
  const { status, json } = await acquire(semaphore, { limit: 5, weight: 2 })
  expect([status, json.argument]).toEqual([400, 'weight'])
})

test('a permit is extended by its token, and lost when it has ended or never existed', async () => {
  const semaphore = newSemaphore()
  const permit = await acquire(semaphore, { limit: 1 })
  expect((await api.call('PATCH', placeOf(permit), { body: { lease: '5m' } })).json).toMatchObject({
    token: permit.json.token,
    leaseMs: 300_000,
  })
  expect((await api.call('DELETE', semaphore)).status).toBe(204)
  for (const place of [placeOf(permit), `${newSemaphore()}/leases/1`]) {
    expect(codeOf(await api.call('PATCH', place))).toEqual([410, 'lease-lost'])
    expect(codeOf(await api.call('DELETE', place))).toEqual([410, 'lease-lost'])
  }
  expect(codeOf(await api.call('GET', newSemaphore()))).toEqual([404, 'not-found'])
})

test('an invalid argument is rejected by its name, before anything is written', async () => {
  const wrong = [
    ['limit', {}],
    ['limit', { limit: 0 }],
    ['limit', { limit: 1.5 }],
    ['limit', { limit: 1e10 }],
    ['weight', { limit: 1, weight: 0 }],
    ['weight', { limit: 1, weight: 2 }],
    ['lease', { limit: 1, lease: 'long' }],
    ['lease', { limit: 1, lease: '31d' }],
    ['holder', { limit: 1, holder: '' }],
    ['shared', { limit: 1, shared: true }],
    ['wait', { limit: 1 }, '?wait=5'],
  ] as const
  for (const [argument, body, query] of wrong) {
    const semaphore = newSemaphore()
    const { status, json } = await acquire(semaphore, body, query)
    expect([status, json.argument], JSON.stringify(body)).toEqual([400, argument])
    expect((await api.call('GET', semaphore)).status).toBe(404)
  }
  const { status, json } = await api.call('PUT', `${newSemaphore()}/limit`, { body: { limit: 0 } })
  expect([status, json.argument]).toEqual([400, 'limit'])
})
