// Errors of the store, as clients of /v1 see them.

import { expect, test } from 'vitest'
import { startProxy } from '../../../test/servers/proxy.ts'
import { startRedis } from '../../../test/servers/redis.ts'
import { openEvents } from '../../testing/events.ts'
import type { FeedLimits } from '../api/limits.ts'
import { bodiesOf, type FeedApi, startFeedApi } from '../../testing/feed-api.ts'

const ROUTES = [
  ['GET', ''],
  ['DELETE', ''],
  ['POST', '/messages', { body: 1 }],
  ['GET', '/messages'],
  ['GET', '/messages?wait=1s'],
  ['GET', '/messages/1'],
  ['DELETE', '/messages/1'],
  ['POST', '/claims', {}],
  ['POST', '/claims?wait=1s', {}],
  ['GET', '/claims/1'],
  ['PATCH', '/claims/1', {}],
  ['DELETE', '/claims/1'],
  ['DELETE', '/claims/1/messages'],
  ['DELETE', '/claims/1/messages/1'],
  ['PUT', '/subscribers/s', {}],
  ['PATCH', '/subscribers/s', { cursor: '1-1' }],
  ['DELETE', '/subscribers/s'],
  ['GET', '/subscribers/s/messages'],
  ['GET', '/dead-letters/messages'],
  ['GET', '/dead-letters/messages/1'],
  ['DELETE', '/dead-letters/messages/1'],
] as const

test('without its store every route but the tail answers 503 and says when to retry', async () => {
  await using faults = await behindProxy()
  const { api, proxy } = faults
  proxy.halfOpen()

  const answers = await Promise.all(
    ROUTES.map(([method, path, body]) => api.call(method, `/v1/feeds/f${path}`, { body })),
  )

  for (const { status, headers, json, text } of answers) {
    expect([status, headers.get('retry-after')], text).toEqual([503, '1'])
    expect(['ambiguous', 'unreachable', 'busy'], text).toContain(json.code)
  }
})

test('a store that is full accepts no message and says so, and still serves reads', async () => {
  const redis = await startRedis()
  const api = await startFeedApi(redis.port)
  const feed = api.newFeed()
  await api.append(feed, 'a')
  await api.client.config('SET', 'maxmemory', '1')

  const full = await api.call('POST', `${feed}/messages`, { body: { body: 'b' } })
  const page = await api.call('GET', `${feed}/messages`)
  await api[Symbol.asyncDispose]()
  await redis.stop()

  expect([full.status, full.json.code, full.headers.get('retry-after')]).toEqual([503, 'store-full', '1'])
  expect(bodiesOf(page)).toEqual(['a'])
})

test('an append, a claim and an ack whose answers were lost on the way happen once', async () => {
  await using faults = await behindProxy()
  const { api, proxy } = faults
  const feed = api.newFeed()
  await api.append(feed, 'first', 'second')

  proxy.cutReplies(1, /evalsha/i)
  await api.append(feed, 'third')
  proxy.cutReplies(1, /evalsha/i)
  const claim = await api.call('POST', `${feed}/claims`, { body: { limit: 1 } })
  proxy.cutReplies(1, /evalsha/i)
  const acked = await api.call('DELETE', `${claim.headers.get('location')}/messages`)

  expect([acked.status, bodiesOf(claim), proxy.pendingFaults]).toEqual([204, ['first'], 0])
  const { json } = await api.call('GET', feed)
  expect([json.total, json.claimed]).toEqual([2, 0])
})

test('a tail continues after the connection to the store was lost', async () => {
  await using faults = await behindProxy()
  const { api, proxy } = faults
  const feed = api.newFeed()
  await using events = await openEvents(`${api.url}${feed}/tail`, { 'X-Project-ID': 'test' })
  await events.next()
  await api.whenWaiting(feed)

  proxy.resetAll()
  await api.append(feed, 'after')

  expect(JSON.parse((await events.nextNamed())?.data ?? '').body).toBe('after')
})

test('a tail continues after an outage that was longer than the deadline of calls', async () => {
  await using faults = await behindProxy({ heartbeat: '50ms' })
  const { api, proxy } = faults
  const feed = api.newFeed()
  await using events = await openEvents(`${api.url}${feed}/tail`, { 'X-Project-ID': 'test' })
  await events.next()

  proxy.halfOpen()
  for (let times = 0; times < 2; times++) expect((await api.call('GET', feed)).status).toBe(503)
  proxy.heal()
  proxy.resetAll()
  await expect.poll(async () => (await api.call('GET', feed)).status).not.toBe(503)
  await api.append(feed, 'after')

  expect(JSON.parse((await events.nextNamed())?.data ?? '').body).toBe('after')
})

test('a reader that reconnects during an outage stays connected, and misses nothing', async () => {
  await using faults = await behindProxy({ heartbeat: '50ms' })
  const { api, proxy } = faults
  const feed = api.newFeed()
  await api.append(feed, 'before')
  const headers = { 'X-Project-ID': 'test' }
  await using earlier = await openEvents(`${api.url}${feed}/tail`, headers)
  const last = (await earlier.nextNamed())?.id ?? ''

  proxy.halfOpen()
  await using events = await openEvents(`${api.url}${feed}/tail`, { ...headers, 'Last-Event-ID': last })
  expect([events.status, (await events.next())?.id]).toEqual([200, null])
  proxy.heal()
  proxy.resetAll()
  await expect.poll(async () => (await api.call('GET', feed)).status).not.toBe(503)
  await api.append(feed, 'after')

  expect(JSON.parse((await events.nextNamed())?.data ?? '').body).toBe('after')
})

async function behindProxy(feedLimits: Partial<FeedLimits> = {}) {
  const redis = await startRedis()
  const proxy = await startProxy(redis.port)
  const api: FeedApi = await startFeedApi(proxy.port, { deadline: '1s', feedLimits })
  return {
    proxy,
    api,
    async [Symbol.asyncDispose]() {
      await proxy.stop()
      await api[Symbol.asyncDispose]()
      await redis.stop()
    },
  }
}
