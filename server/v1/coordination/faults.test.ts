// Errors of the store, as clients of coordination see them.

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startProxy } from '../../../test/servers/proxy.ts'
import { startRedis } from '../../../test/servers/redis.ts'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import { sqliteItems } from '../../testing/items.ts'

const LIMIT = { limit: 2, window: '1h' }
const SUBJECT = '/rate-limits/r/subjects/s'
const KEY = '/once/o/keys/k'
const CACHED = '/caches/c/keys/k'
const LOAD = Buffer.from('[1,"process.1","",1]').toString('base64url')
const ROUTES: (readonly [method: string, path: string, body?: unknown])[] = [
  ['POST', '/queues/q/jobs', { name: 'n', payload: 1 }],
  ['POST', '/queues/q/claims'],
  ['POST', '/queues/q/claims?wait=1s'],
  ['PATCH', '/queues/q/jobs/own/claims/1'],
  ['DELETE', '/queues/q/jobs/1/claims/1'],
  ['PUT', '/queues/q/jobs/1/claims/1/result', { done: true }],
  ['POST', '/queues/q/jobs/1/claims/1/retry'],
  ['POST', '/queues/q/jobs/1/claims/1/fail'],
  ['POST', '/queues/q/ack', { jobs: [{ id: 'own', token: 1 }] }],
  ['GET', '/queues/q/jobs?state=ready'],
  ['GET', '/queues/q/jobs/1'],
  ['DELETE', '/queues/q/jobs/1'],
  ['POST', '/queues/q/requeue', { ids: ['1'] }],
  ['GET', '/queues/q/dead'],
  ['DELETE', '/queues/q/dead/k'],
  ['PATCH', '/queues/q/settings', { concurrency: 1 }],
  ['POST', '/queues/q/groups/g/pause'],
  ['GET', '/queues/q'],
  ['DELETE', '/queues/q'],
  ['POST', '/locks/l/leases'],
  ['POST', '/locks/l/leases?wait=1s'],
  ['POST', '/locks/l/leases', { shared: true }],
  ['PATCH', '/locks/l/leases/1'],
  ['DELETE', '/locks/l/leases/1'],
  ['GET', '/locks/l'],
  ['DELETE', '/locks/l'],
  ['POST', '/elections/e/terms?wait=1s'],
  ['PATCH', '/elections/e/terms/1'],
  ['DELETE', '/elections/e/terms/1'],
  ['GET', '/elections/e'],
  ['POST', '/semaphores/s/leases?wait=1s', { limit: 1 }],
  ['PATCH', '/semaphores/s/leases/1'],
  ['DELETE', '/semaphores/s/leases/1'],
  ['PUT', '/semaphores/s/limit', { limit: 1 }],
  ['GET', '/semaphores/s'],
  ['DELETE', '/semaphores/s'],
  ['POST', `${SUBJECT}/takes`, LIMIT],
  ['POST', `${SUBJECT}/checks`, LIMIT],
  ['POST', `${SUBJECT}/refunds`, LIMIT],
  ['DELETE', `${SUBJECT}/leases/1?limit=1&algorithm=concurrency`],
  ['GET', `${SUBJECT}?limit=1&window=1s`],
  ['DELETE', SUBJECT],
  ['POST', `${KEY}/attempts`],
  ['POST', `${KEY}/attempts?wait=1s`],
  ['PATCH', `${KEY}/attempts/1`],
  ['DELETE', `${KEY}/attempts/1`],
  ['PUT', `${KEY}/attempts/1/result`, { done: true }],
  ['GET', `${KEY}/result`],
  ['GET', KEY],
  ['DELETE', KEY],
  ['POST', '/autocomplete/a/entries', { entries: [{ text: 'Ada' }] }],
  ['DELETE', '/autocomplete/a/entries/Ada'],
  ['GET', '/autocomplete/a/suggestions?query=a'],
  ['GET', '/autocomplete/a/suggestions?query=a&fuzzy=true'],
  ['GET', '/autocomplete/a'],
  ['DELETE', '/autocomplete/a'],
  ['PUT', `${CACHED}/value`, { value: 1, tags: ['t'] }],
  ['GET', `${CACHED}/value`],
  ['POST', `${CACHED}/loads`],
  ['POST', `${CACHED}/loads?wait=1s`, { tags: ['t'] }],
  ['PUT', `${CACHED}/loads/${LOAD}/value`, { value: 1 }],
  ['PATCH', `${CACHED}/loads/${LOAD}`],
  ['DELETE', `${CACHED}/loads/${LOAD}?reason=broken`],
  ['POST', '/caches/c/invalidations', { keys: ['k'] }],
  ['POST', '/caches/c/invalidations', { tag: 't' }],
  ['GET', CACHED],
  ['DELETE', CACHED],
  ['POST', '/counters/c/increments', { id: 7 }],
  ['POST', '/counters/c/increments', { increments: [{ id: 7 }, { id: 8 }] }],
  ['GET', '/counters/c/values/7'],
  ['GET', '/counters/c/values?ids=7,8'],
  ['POST', '/counters/c/flush'],
  ['POST', '/counters/c/reconcile', { ids: [7] }],
  ['GET', '/counters/c'],
  ['DELETE', '/counters/c'],
]

test('without its store every route answers 503 and says when to retry', async () => {
  await using faults = await behindProxy()
  const { api, proxy } = faults
  proxy.halfOpen()

  const answers = await Promise.all(
    ROUTES.map(([method, path, body]) => api.call(method, `/v1${path}`, { body })),
  )

  for (const [at, { status, headers, json, text }] of answers.entries()) {
    expect([status, headers.get('retry-after')], `${ROUTES[at]?.join(' ')} ${text}`).toEqual([503, '1'])
    expect(['ambiguous', 'unreachable', 'busy'], text).toContain(json.code)
  }
})

test.each(['', '?wait=10s'])(
  'an attempt is not given back if its client left before the answer and it was requested again with its id%s',
  async (wait) => {
    await using faults = await behindProxy()
    const { api } = faults
    const path = '/v1/once/o/keys/asked-again/attempts'
    const body = { id: 'a' }
    await api.call('POST', '/v1/once/o/keys/first/attempts')
    await api.client.call('CLIENT', 'PAUSE', '400', 'ALL')

    const leaving = new AbortController()
    const headers = { 'X-Project-ID': 'test', 'Content-Type': 'application/json' }
    const sent = { method: 'POST', headers, body: JSON.stringify(body), signal: leaving.signal }
    const left = fetch(`${api.url}${path}${wait}`, sent).catch(() => null)
    await sleep(50)
    leaving.abort()
    await left
    const again = await api.call('POST', path, { body })
    await sleep(100)

    expect(again.status).toBe(201)
    expect((await api.call('POST', path, { body: { id: 'b' } })).status).toBe(409)
    expect((await api.call('PATCH', again.headers.get('location') ?? '')).status).toBe(200)
  },
)

test('a place is released if its client left before the answer', async () => {
  await using faults = await behindProxy()
  const { api } = faults
  const subject = '/v1/rate-limits/places/subjects/left'
  const limits = { places: { limit: 1, algorithm: 'concurrency' }, units: LIMIT }
  await api.call('POST', '/v1/rate-limits/places/subjects/first/takes', { body: { limits } })
  await api.client.call('CLIENT', 'PAUSE', '400', 'ALL')

  const leaving = new AbortController()
  const headers = { 'X-Project-ID': 'test', 'Content-Type': 'application/json' }
  const sent = { method: 'POST', headers, body: JSON.stringify({ limits }), signal: leaving.signal }
  const left = fetch(`${api.url}${subject}/takes`, sent).catch(() => null)
  await sleep(50)
  leaving.abort()
  await left

  const picture = `${subject}?limits=${encodeURIComponent(JSON.stringify(limits))}`
  await expect
    .poll(async () => (await api.call('GET', picture)).json)
    .toMatchObject({ held: [], limits: { places: { remaining: 1 }, units: { remaining: 1 } } })
})

test('a grant or take whose answer was lost on the way happens once', async () => {
  await using faults = await behindProxy()
  const { api, proxy } = faults

  proxy.cutReplies(1, /evalsha/i)
  const leased = await api.call('POST', '/v1/locks/once/leases')
  const place = leased.headers.get('location') ?? ''
  proxy.cutReplies(1, /evalsha/i)
  const released = await api.call('DELETE', place)
  proxy.cutReplies(1, /evalsha/i)
  const begun = await api.call('POST', '/v1/once/o/keys/once/attempts')
  proxy.cutReplies(1, /evalsha/i)
  const taken = await api.call('POST', `/v1${SUBJECT}/takes`, { body: LIMIT })
  proxy.cutReplies(1, /evalsha/i)
  const permit = await api.call('POST', '/v1/semaphores/once/leases', { body: { limit: 1 } })

  expect([
    leased.status,
    released.status,
    begun.status,
    taken.status,
    permit.status,
    proxy.pendingFaults,
  ]).toEqual([201, 204, 201, 200, 201, 0])
  expect(taken.json.remaining).toBe(1)
})

test('a job is enqueued, claimed and settled once although the answers were lost on the way', async () => {
  await using faults = await behindProxy()
  const { api, proxy } = faults
  const jobs = [1, 2, 3].map((payload) => ({ name: 'n', payload }))

  proxy.cutReplies(1, /evalsha/i)
  const enqueued = await api.call('POST', '/v1/queues/once/jobs', { body: { jobs } })
  proxy.cutReplies(1, /evalsha/i)
  const claimed = await api.call('POST', '/v1/queues/once/claims', { body: { limit: 3 } })
  const [acked, retried, failed] = claimed.json.jobs.map(
    ({ id, token }: { id: string; token: number }) => `/v1/queues/once/jobs/${id}/claims/${token}`,
  )
  proxy.cutReplies(1, /evalsha/i)
  const done = await api.call('DELETE', acked)
  proxy.cutReplies(1, /evalsha/i)
  const again = await api.call('POST', `${retried}/retry`, { body: { delay: '1h' } })
  proxy.cutReplies(1, /evalsha/i)
  const dead = await api.call('POST', `${failed}/fail`)

  const statuses = [enqueued, claimed, done, again, dead].map(({ status }) => status)
  expect([...statuses, proxy.pendingFaults]).toEqual([201, 201, 204, 200, 204, 0])
  const { json } = await api.call('GET', '/v1/queues/once')
  expect(json).toMatchObject({
    enqueued: 3,
    claimed: 0,
    acked: 1,
    retried: 1,
    failed: 1,
    scheduled: 1,
    dead: 1,
  })
})

test('a value is loaded once although the answers were lost on the way', async () => {
  await using faults = await behindProxy()
  const { api, proxy } = faults

  proxy.cutReplies(1, /evalsha/i)
  const elected = await api.call('POST', `/v1${CACHED}/loads`, { body: { lease: '1m' } })
  const place = elected.headers.get('location') ?? ''
  proxy.cutReplies(1, /evalsha/i)
  const longer = await api.call('PATCH', place)
  proxy.cutReplies(1, /evalsha/i)
  const stored = await api.call('PUT', `${place}/value`, { body: { value: 1, ttl: '1h' } })
  const found = await api.call('POST', `/v1${CACHED}/loads`)

  expect([elected.status, longer.status, stored.status, found.status, proxy.pendingFaults]).toEqual([
    201, 200, 200, 200, 0,
  ])
  expect(stored.json.stored).toBe(true)
  expect(found.json.value).toBe(1)
})

test('an increment counts once, and reaches its table once, although the answers were lost on the way', async () => {
  await using faults = await behindProxy()
  const { api, proxy, items } = faults
  const increment = { body: { id: 7 } }
  await api.call('POST', '/v1/counters/c/increments', increment)

  proxy.cutReplies(1, /evalsha/i)
  const counted = await api.call('POST', '/v1/counters/c/increments', increment)
  proxy.cutReplies(1, /evalsha/i)
  const flushed = await api.call('POST', '/v1/counters/c/flush')

  expect([counted.json.value, flushed.status, proxy.pendingFaults]).toEqual([42, 200, 0])
  expect(await items.votes()).toEqual({ 7: 42 })
})

test('a store that is full leases nothing and says so, and accepts releases of leases', async () => {
  await using faults = await behindProxy()
  const { api } = faults
  const leased = await api.call('POST', '/v1/locks/full/leases')
  await api.client.config('SET', 'maxmemory', '1')

  const other = await api.call('POST', '/v1/locks/other/leases')
  expect([other.status, other.json.code]).toEqual([503, 'store-full'])
  expect((await api.call('DELETE', leased.headers.get('location') ?? '')).status).toBe(204)
})

async function behindProxy() {
  const redis = await startRedis()
  const proxy = await startProxy(redis.port)
  const items = await sqliteItems()
  const counters = { c: { ...items.entry, fsyncGrace: '0s', project: 'test' } }
  const api: FeedApi = await startFeedApi(proxy.port, { deadline: '1s', counters })
  return {
    proxy,
    api,
    items,
    async [Symbol.asyncDispose]() {
      await proxy.stop()
      await api[Symbol.asyncDispose]()
      await items.close()
      await redis.stop()
    },
  }
}
