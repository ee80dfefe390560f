import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import type { HttpAnswer } from '../../testing/test-app.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

const newKey = (): string => `/v1/once/orders/keys/${randomUUID()}`
const codeOf = ({ status, json }: HttpAnswer): unknown[] => [status, json.code]
const placeOf = ({ headers }: HttpAnswer): string => headers.get('location') ?? ''
const begin = (key: string, body: object = {}, query = ''): Promise<HttpAnswer> =>
  api.call('POST', `${key}/attempts${query}`, { body })
const put = (attempt: string, body: unknown): Promise<HttpAnswer> =>
  api.call('PUT', `${attempt}/result`, { body })

/** Resolves once a request waits for the key, so that its process listens. */
async function whenListening(key: string, expected = true): Promise<void> {
  const pattern = `*${key.split('/').at(-1)}*`
  while ((await api.client.pubsub('CHANNELS', pattern)).length > 0 !== expected) await sleep(5)
}

describe('an attempt', () => {
  test('is begun by one, and its result is replayed unchanged', async () => {
    const key = newKey()
    const first = await begin(key, { lease: '1m' })
    const second = await begin(key)
    expect([first.status, first.json.leaseMs]).toEqual([201, 60_000])
    expect(placeOf(first)).toBe(`${key}/attempts/${first.json.token}`)
    expect(codeOf(second)).toEqual([409, 'running'])
    expect(second.json.retryAfterMs).toBeGreaterThan(50_000)
    expect(second.headers.get('retry-after')).toBe('60')

    const result = '{"sum": 9007199254740993, "far": 1e400}'
    expect((await put(placeOf(first), result)).status).toBe(204)
    const replayed = await begin(key)
    expect(replayed.text).toBe(`{"token":${first.json.token},"result":${result}}`)
    expect((await api.call('GET', `${key}/result`)).text).toContain(`"result":${result}}`)
  })

  test('replays any JSON as its result', async () => {
    for (const result of ['null', '0', '""', '[]', 'false', ' {} ']) {
      const key = newKey()
      await put(placeOf(await begin(key)), result)
      const replayed = await begin(key)
      expect([replayed.status, replayed.json.result]).toEqual([200, JSON.parse(result)])
    }
  })

  test('may put its result twice; the first one stays', async () => {
    const key = newKey()
    const place = placeOf(await begin(key))
    expect([(await put(place, 1)).status, (await put(place, 2)).status]).toEqual([204, 204])
    expect((await begin(key)).json.result).toBe(1)
  })

  test('is waited for by others, who get its result', async () => {
    const key = newKey()
    const place = placeOf(await begin(key))
    const waiting = begin(key, {}, '?wait=25s')
    await whenListening(key)
    await put(place, { done: true })
    expect((await waiting).json.result).toEqual({ done: true })
  })

  test('that is given back is begun by a waiting request', async () => {
    const key = newKey()
    const first = await begin(key)
    const waiting = begin(key, {}, '?wait=25s')
    await whenListening(key)
    expect((await api.call('DELETE', placeOf(first))).status).toBe(204)
    const second = await waiting
    expect([second.status, second.json.token > first.json.token]).toEqual([201, true])
  })

  test('is the same one when it is begun again by its id', async () => {
    const key = newKey()
    const first = await begin(key, { id: 'a' })
    expect((await begin(key, { id: 'a' })).json.token).toBe(first.json.token)
    expect((await begin(key, { id: 'b' })).status).toBe(409)
  })

  test('is lost when it is begun again by its id after it was given back', async () => {
    const key = newKey()
    await api.call('DELETE', placeOf(await begin(key, { id: 'a' })))
    expect(codeOf(await begin(key, { id: 'a' }))).toEqual([410, 'lease-lost'])
    expect((await begin(key, { id: 'b' })).status).toBe(201)
  })

  test('lasts longer when it is extended', async () => {
    const place = placeOf(await begin(newKey()))
    expect((await api.call('PATCH', place, { body: { lease: '1h' } })).json.leaseMs).toBe(3_600_000)
    expect((await api.call('PATCH', place)).json.leaseMs).toBe(30_000)
  })

  test('that was taken over, or never existed, is lost', async () => {
    const key = newKey()
    const lapsed = placeOf(await begin(key, { lease: '200ms' }))
    while ((await begin(key)).status !== 201) await sleep(5)
    for (const place of [lapsed, `${newKey()}/attempts/1`]) {
      expect(codeOf(await put(place, 1)), place).toEqual([410, 'lease-lost'])
      expect(codeOf(await api.call('PATCH', place)), place).toEqual([410, 'lease-lost'])
      expect(codeOf(await api.call('DELETE', place)), place).toEqual([410, 'lease-lost'])
    }
  })

  test('of another request with the same key is a conflict', async () => {
    const key = newKey()
    const place = placeOf(await begin(key, { fingerprint: 'one' }))
    expect(codeOf(await begin(key, { fingerprint: 'two' }))).toEqual([422, 'conflict'])
    await put(place, 1)
    expect(codeOf(await begin(key, { fingerprint: 'two' }))).toEqual([422, 'conflict'])
    expect((await begin(key, { fingerprint: 'one' })).status).toBe(200)
  })

  test('is not waited for by a client that has left', async () => {
    const key = newKey()
    const first = await begin(key)
    const leaving = new AbortController()
    const headers = { 'X-Project-ID': 'test', 'Content-Type': 'application/json' }
    const url = `${api.url}${key}/attempts?wait=50s`
    const left = fetch(url, { method: 'POST', headers, signal: leaving.signal }).catch(() => null)
    await whenListening(key)
    leaving.abort()
    await left
    await whenListening(key, false)
    await api.call('DELETE', placeOf(first))
    expect((await api.call('GET', key)).json.state).toBe('free')
  })
})

test('a key is inspected, and deleted when it is cleared', async () => {
  const key = newKey()
  expect((await api.call('GET', key)).json).toMatchObject({ state: 'free', token: null, fingerprint: null })
  expect(codeOf(await api.call('GET', `${key}/result`))).toEqual([404, 'not-found'])
  const { json, headers } = await begin(key, { fingerprint: 'f' })
  const { token, expiresAtMs } = json
  expect((await api.call('GET', key)).json).toMatchObject({
    key: key.split('/').at(-1),
    state: 'running',
    token,
    fingerprint: 'f',
    expiresAtMs,
  })

  await api.call('PUT', `${headers.get('location')}/result?resultTtl=1h`, { body: '"kept"' })
  const finished = (await api.call('GET', key)).json
  expect([finished.state, finished.bytes]).toEqual(['finished', 6])
  expect(finished.keptUntilMs).toBeLessThan(expiresAtMs + 3_600_000)

  expect((await api.call('DELETE', key)).status).toBe(204)
  expect((await begin(key)).status).toBe(201)
})

describe('an invalid argument', () => {
  const wrong: [argument: string, body: object, query?: string][] = [
    ['fingerprint', { fingerprint: '' }],
    ['fingerprint', { fingerprint: 1 }],
    ['fingerprint', { fingerprint: 'x'.repeat(513) }],
    ['id', { id: '' }],
    ['lease', { lease: '30' }],
    ['lease', { lease: '31d' }],
    ['resultTtl', { resultTtl: 'ever' }],
    ['ttl', { ttl: '1h' }],
    ['wait', {}, '?wait=soon'],
    ['wait', {}, '?wait=2h'],
  ]
  test.each(wrong)('is rejected by its name: %s', async (argument, body, query = '') => {
    const key = newKey()
    const { status, json } = await begin(key, body, query)
    expect([status, json.code, json.argument]).toEqual([400, 'invalid-argument', argument])
    expect((await api.call('GET', key)).json.state).toBe('free')
  })

  test('as a result is rejected: none, not JSON, too much', async () => {
    const key = newKey()
    const place = placeOf(await begin(key))
    const none = await api.call('PUT', `${place}/result`)
    expect([none.status, none.json.argument]).toEqual([400, 'body'])
    expect((await put(place, '{')).json.argument).toBe('body')
    expect(codeOf(await put(place, `"${'x'.repeat(4_194_304)}"`))).toEqual([413, 'too-large'])
    const plain = await api.call('PUT', `${place}/result`, {
      body: '1',
      headers: { 'Content-Type': 'text/plain' },
    })
    expect(plain.status).toBe(415)
    expect((await api.call('GET', key)).json.state).toBe('running')
  })

  test('in a path is rejected: huge names and keys, invalid tokens', async () => {
    const argumentOf = async (path: string): Promise<unknown[]> => {
      const { status, json } = await api.call('DELETE', path)
      return [status, json.argument]
    }
    expect(await argumentOf(`/v1/once/${'n'.repeat(600)}/keys/k`)).toEqual([400, 'name'])
    expect(await argumentOf(`/v1/once/n/keys/${'k'.repeat(600)}`)).toEqual([400, 'key'])
    expect(await argumentOf(`${newKey()}/attempts/0`)).toEqual([400, 'token'])
    expect(await argumentOf(`${newKey()}/attempts/1?shared=true`)).toEqual([400, 'shared'])
  })
})
