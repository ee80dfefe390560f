import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import type { HttpAnswer } from '../../testing/test-app.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

const newCache = (): string => `/v1/caches/${randomUUID()}`
const keyOf = (cache: string, key = 'user/42'): string => `${cache}/keys/${encodeURIComponent(key)}`
const put = (place: string, body: unknown): Promise<HttpAnswer> => api.call('PUT', place, { body })
const post = (place: string, body: unknown = {}): Promise<HttpAnswer> => api.call('POST', place, { body })
const get = (place: string): Promise<HttpAnswer> => api.call('GET', place)
const codeOf = ({ status, json }: HttpAnswer): unknown[] => [status, json.code]

test('a value is set and read unchanged', async () => {
  const key = keyOf(newCache())
  const value = '{"sum": 9007199254740993, "far": 1e400}'

  const stored = await put(`${key}/value`, `{"ttl": "1h", "value": ${value}, "staleWhileRevalidate": "2h"}`)

  expect(stored.json).toMatchObject({ stored: true })
  expect(stored.json.staleUntilMs - stored.json.freshUntilMs).toBe(7_200_000)
  const kept = await get(`${key}/value`)
  expect(kept.text).toContain(`"value":${value},`)
  expect(kept.json).toMatchObject({ fresh: true, freshUntilMs: stored.json.freshUntilMs })
})

test('a version that is not greater is rejected', async () => {
  const key = keyOf(newCache())
  expect((await put(`${key}/value`, { value: 1, version: 7 })).json).toMatchObject({ stored: true })
  expect((await put(`${key}/value`, { value: 2, version: 7 })).json).toEqual({ stored: false, version: 7 })
  expect((await get(`${key}/value`)).json.value).toBe(1)
})

test('the absence of a value is cached, too', async () => {
  const key = keyOf(newCache())
  await put(`${key}/value`, { value: null })
  expect((await get(`${key}/value`)).json).toMatchObject({ value: null, fresh: true })
  expect((await get(key)).json).toMatchObject({ state: 'fresh', negative: true })
})

test('a key is inspected, and deleted', async () => {
  const key = keyOf(newCache())
  expect((await get(key)).json).toMatchObject({ key: 'user/42', state: 'absent', load: null })
  expect(codeOf(await get(`${key}/value`))).toEqual([404, 'not-found'])
  await put(`${key}/value`, { value: 'abc', version: 3, tags: ['team:7'] })
  const seen = { state: 'fresh', version: 3, negative: false, codec: 'json', tags: ['team:7'], loadMs: 0 }
  expect((await get(key)).json).toMatchObject(seen)
  expect((await api.call('DELETE', key)).status).toBe(204)
  expect(codeOf(await get(`${key}/value`))).toEqual([404, 'not-found'])
})

test('several keys are deleted, or all values with a tag', async () => {
  const cache = newCache()
  for (const key of ['a', 'b']) await put(`${keyOf(cache, key)}/value`, { value: key, tags: ['t'] })
  await put(`${keyOf(cache, 'c')}/value`, { value: 'c', tags: ['t'] })

  expect((await post(`${cache}/invalidations`, { keys: ['a', 'x', 'b'] })).json).toEqual({ invalidated: 2 })
  expect((await get(`${keyOf(cache, 'c')}/value`)).status).toBe(200)
  expect((await post(`${cache}/invalidations`, { tag: 't' })).json).toEqual({ invalidated: null })
  expect((await get(`${keyOf(cache, 'c')}/value`)).status).toBe(404)
})

describe('a load', () => {
  test('is for one client at a time, and all get its result', async () => {
    const key = keyOf(newCache())
    const elected = await post(`${key}/loads`, { lease: '1m' })
    expect(elected.status).toBe(201)
    expect(elected.json).toMatchObject({ leaseMs: 60_000, token: expect.any(Number) })
    const other = await post(`${key}/loads`)
    expect(codeOf(other)).toEqual([409, 'loading'])
    expect(other.json.retryAfterMs).toBeGreaterThan(0)
    const waiting = post(`${key}/loads?wait=20s`)

    const place = elected.headers.get('location') ?? ''
    const done = await put(`${place}/value`, '{"value": [1.0], "ttl": "1h"}')

    expect(done.json).toMatchObject({ stored: true })
    expect((await waiting).text).toContain('"value":[1.0],"fresh":true')
    expect((await post(`${key}/loads`)).status).toBe(200)
    expect((await put(`${place}/value`, { value: 2, ttl: '1h' })).json).toEqual(done.json)
  })

  test('is rejected if the key was invalidated or set meanwhile', async () => {
    for (const meanwhile of ['DELETE', 'PUT']) {
      const key = keyOf(newCache())
      const place = (await post(`${key}/loads`)).headers.get('location') ?? ''
      if (meanwhile === 'DELETE') await api.call('DELETE', key)
      else await put(`${key}/value`, { value: 'newer' })

      expect(codeOf(await put(`${place}/value`, { value: 'older' }))).toEqual([410, 'lease-lost'])
      expect((await get(`${key}/value`)).status).toBe(meanwhile === 'DELETE' ? 404 : 200)
    }
  })

  test('uses the tags that it was requested with, as they were before', async () => {
    const cache = newCache()
    const key = keyOf(cache)
    const tags = ['t']
    const first = (await post(`${key}/loads`, { tags })).headers.get('location') ?? ''
    await put(`${first}/value`, { value: 1 })
    expect((await post(`${key}/loads`, { tags })).json.value).toBe(1)
    await post(`${cache}/invalidations`, { tag: 't' })

    const second = (await post(`${key}/loads`, { tags })).headers.get('location') ?? ''
    await post(`${cache}/invalidations`, { tag: 't' })
    await put(`${second}/value`, { value: 2 })

    expect((await get(`${key}/value`)).status).toBe(404)
    expect((await post(`${key}/loads`, { tags })).status).toBe(201)
  })

  test('of a stale value is for one client, and the others get that value', async () => {
    const key = keyOf(newCache())
    await put(`${key}/value`, { value: 'old', ttl: '1ms', staleWhileRevalidate: '1h' })
    await expect.poll(async () => (await get(`${key}/value`)).json.fresh).toBe(false)

    const elected = await post(`${key}/loads`)
    expect(elected.status).toBe(201)
    expect((await post(`${key}/loads`)).json).toMatchObject({ value: 'old', fresh: false })
    await put(`${elected.headers.get('location')}/value`, { value: 'new', ttl: '1h' })
    expect((await post(`${key}/loads`)).json).toMatchObject({ value: 'new', fresh: true })
  })

  test('is extended, and given up with a reason or without', async () => {
    const key = keyOf(newCache())
    const { headers, json } = await post(`${key}/loads`, { lease: '1s' })
    const place = headers.get('location') ?? ''
    const longer = await api.call('PATCH', place, { body: { lease: '2m' } })
    expect(longer.json).toMatchObject({ load: json.load, leaseMs: 120_000 })
    expect(longer.json.expiresAtMs).toBeGreaterThan(json.expiresAtMs)
    const waiting = post(`${key}/loads?wait=20s`)
    await expect.poll(async () => waitersOf(key)).toBe(1)

    expect((await api.call('DELETE', `${place}?reason=the%20shop%20is%20closed`)).status).toBe(204)

    const failed = await waiting
    expect(codeOf(failed)).toEqual([409, 'load-failed'])
    expect(failed.json.detail).toContain('the shop is closed')
    expect(codeOf(await api.call('PATCH', place, { body: {} }))).toEqual([410, 'lease-lost'])
    const next = await post(`${key}/loads`)
    const after = post(`${key}/loads?wait=20s`)
    await expect.poll(async () => waitersOf(key)).toBe(1)
    await api.call('DELETE', next.headers.get('location') ?? '')
    expect((await after).status).toBe(201)
    expect(codeOf(await api.call('DELETE', place))).toEqual([410, 'lease-lost'])
  })

  test('that was granted to a client which has left is done by another one', async () => {
    const key = keyOf(newCache())
    const place = (await post(`${key}/loads`)).headers.get('location') ?? ''
    const leaving = new AbortController()
    const left = fetch(`${api.url}${key}/loads?wait=20s`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-project-id': 'test' },
      body: '{}',
      signal: leaving.signal,
    })
    await expect.poll(async () => waitersOf(key)).toBe(1)
    leaving.abort()
    await expect(left).rejects.toThrow()
    await api.call('DELETE', place)

    expect((await post(`${key}/loads?wait=20s`)).status).toBe(201)
  })
})

describe('an invalid argument', () => {
  const wrong: [argument: string, method: string, path: string, body: unknown][] = [
    ['value', 'PUT', '/keys/k/value', {}],
    ['version', 'PUT', '/keys/k/value', { value: 1, version: 0 }],
    ['ttl', 'PUT', '/keys/k/value', { value: 1, ttl: '26d' }],
    ['tags', 'PUT', '/keys/k/value', { value: 1, tags: Array.from({ length: 17 }, String) }],
    ['tag', 'PUT', '/keys/k/value', { value: 1, tags: [''] }],
    ['ttl', 'PUT', '/keys/k/value', { value: 1, ttl: 1 }],
    ['key', 'PUT', `/keys/${'k'.repeat(513)}/value`, { value: 1 }],
    ['body', 'POST', '/invalidations', {}],
    ['body', 'POST', '/invalidations', { keys: ['a'], tag: 't' }],
    ['keys', 'POST', '/invalidations', { keys: [] }],
    ['lease', 'POST', '/keys/k/loads', { lease: '1ms' }],
    ['load', 'PUT', '/keys/k/loads/x/value', { value: 1 }],
    ['load', 'PATCH', '/keys/k/loads/WzEsMl0', {}],
    ['value', 'PUT', '/keys/k/loads/x/value', { ttl: '1s' }],
  ]
  test.each(wrong)('is rejected by its name: %s of %s %s', async (argument, method, path, body) => {
    const { status, json } = await api.call(method, `${newCache()}${path}`, { body })
    expect([status, json.code, json.argument]).toEqual([400, 'invalid-argument', argument])
  })
})

/** How many requests wait for the load of a key. */
async function waitersOf(key: string): Promise<number> {
  const [, , , cache = ''] = key.split('/')
  const [hash = ''] = await api.client.keys(`*${cache}*:load`)
  return ((await api.client.hget(hash, 'waiters')) ?? '').split(' ').filter((id) => id !== '').length
}

test('foreign bytes in the place of a value are no value, and are replaced by one', async () => {
  const name = randomUUID()
  const path = `${keyOf(`/v1/caches/${name}`)}/value`
  await put(path, { value: 1 })
  const [stored = ''] = await api.client.keys(`*${name}*:value`)
  for (const bytes of ['', '\u0001', '\u0001\u0002\u0003', `\u0001${'\u00ff'.repeat(200)}`]) {
    await api.client.set(stored, Buffer.from(bytes, 'latin1'))
    expect(codeOf(await get(path))).toEqual([404, 'not-found'])
    expect((await put(path, { value: 2 })).json).toMatchObject({ stored: true })
    expect((await get(path)).json.value).toBe(2)
  }
})
