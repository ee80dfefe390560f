// A call on a missing object leaves no keys, whatever its answer.

import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from './testing/feed-api.ts'
import { ALICE } from './testing/test-app.ts'

let api: FeedApi
const namespace = `absent-${process.pid}`
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'), { namespace })
})
afterAll(() => api[Symbol.asyncDispose]())

const LEASE = { id: '1', token: 1 }
const NEXT = { queue: 'other', name: 'n', payload: 1 }
/** The bodies of routes that need one, by the end of their path. */
const BODIES: Readonly<Record<string, unknown>> = {
  'claims/{token}/release': {},
  'claims/{token}/retry': {},
  'claims/{token}/fail': {},
  'claims/{token}/ack-and-enqueue': { next: NEXT },
  ack: { jobs: [LEASE] },
  extend: { jobs: [LEASE] },
  retry: { jobs: [LEASE] },
  fail: { jobs: [LEASE] },
  cancel: { ids: ['1'] },
  requeue: { ids: ['1'] },
  reprioritize: { ids: ['1'], priority: 1 },
  dependencies: { add: ['1'] },
  tags: { tags: ['a'] },
  log: { line: 'x' },
  progress: 1,
  result: 1,
  refunds: { limit: 5, window: '1m' },
  checks: { limit: 5, window: '1m' },
  invalidations: { keys: ['a'] },
  removals: { items: [1] },
  release: { jobs: [LEASE] },
  'ack-and-enqueue': { jobs: [{ ...LEASE, next: NEXT }] },
  'queues/{name}/jobs/{id}': { priority: 1 },
  'subscribers/{subscriber}': { cursor: '1-1' },
}
/** Routes that create something. */
const MAKING =
  /^(?:post|put) .*(?:\/messages|\/leases|\/terms|\/takes|\/attempts|\/entries|\/loads|\/value|name}\/jobs|recurring\/{id}|collections\/{kind}\/{name}|subscribers\/{subscriber}|\/limit|name}\/pause|group}\/pause|\/items)$/
/** Streams, routes on leases and loads of an existing holder, and counters, which only the operator creates. */
const OTHERS = /\/(?:tail|events)$|{load}|rate-limits.*{token}|\/counters\//
const QUERIES: Readonly<Record<string, string>> = {
  'get {subject}': '?limit=5&window=1m',
  'get suggestions': '?query=a',
  'get search': '?tag=a',
  'get jobs': '?state=ready',
  'get find': '?ids=1',
}

/** Without the keys of the service itself, which belong to no tenant. */
const keys = async (): Promise<string[]> =>
  (await api.client.keys(`${namespace}:*`)).filter((key) => !key.includes('webhooks')).toSorted()

const bodyFor = (path: string): unknown => {
  const [, body] = Object.entries(BODIES).find(([end]) => path.endsWith(`/${end}`)) ?? []
  return body ?? {}
}

test('every route of /v1 that creates nothing leaves no key if there is nothing', async () => {
  const calls = Object.entries(api.description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody }]) => ({
      method,
      path,
      takesBody: requestBody !== undefined,
    })),
  )
  const quiet = calls.filter(({ method, path }) => !MAKING.test(`${method} ${path}`) && !OTHERS.test(path))
  expect(quiet.length).toBeGreaterThan(100)
  const refused: string[] = []
  for (const { method, path, takesBody } of quiet) {
    const place = path
      .replace('{kind}', 'set')
      .replace(/{(?:token|id|load)}/g, '1')
      .replace(/{\w+}/g, 'none')
    const query = QUERIES[`${method} ${path.split('/').at(-1)}`] ?? ''
    const sent = takesBody ? { body: bodyFor(path) } : {}
    const { status, text } = await api.call(method.toUpperCase(), place + query, sent)
    if (status === 400 || status > 500) refused.push(`${method} ${path} ${text}`)
    expect(await keys(), `${method} ${path} ${status}`).toEqual([])
  }
  expect(refused).toEqual([])
})

test('every route of /v2 that creates nothing leaves no key if there is nothing', async () => {
  const queue = '/v2/queues/none'
  const calls = [
    ['GET', queue],
    ['GET', `${queue}/stats`],
    ['GET', `${queue}/messages`],
    ['GET', `${queue}/messages?ids=1`],
    ['GET', `${queue}/messages/1`],
    ['DELETE', `${queue}/messages?pop=1`],
    ['DELETE', `${queue}/messages?ids=1`],
    ['DELETE', `${queue}/messages/1`],
    ['DELETE', `${queue}/messages/1?claim_id=1`],
    ['POST', `${queue}/claims`],
    ['GET', `${queue}/claims/1`],
    ['PATCH', `${queue}/claims/1`],
    ['DELETE', `${queue}/claims/1`],
    ['POST', `${queue}/purge`],
    ['POST', `${queue}/share`],
    ['DELETE', queue],
    ['PATCH', `${queue}/subscriptions/1`, { ttl: 60 }],
    ['PUT', `${queue}/subscriptions/1/confirm`, { confirmed: true }],
    ['DELETE', `${queue}/subscriptions/1`],
  ] as const
  for (const [method, path, body] of calls) {
    const { status } = await api.call(method, path, {
      ...(body ? { body } : {}),
      headers: { 'Client-ID': ALICE },
    })
    expect(await keys(), `${method} ${path} ${status}`).toEqual([])
  }
})

test('an invalid request does not add a queue to the list', async () => {
  const calls = [
    ['POST', '/v1/queues/wrong/jobs', { name: 'n', payload: 1, delay: 'soon' }],
    ['POST', '/v1/queues/wrong/jobs?partitions=4', { name: 'n', payload: 1, delay: 'soon' }],
    ['PUT', '/v1/queues/wrong/recurring/r', { cron: 'never', name: 'n', payload: 1 }],
    ['PATCH', '/v1/queues/wrong/settings', {}],
    ['POST', '/v1/queues/wrong/resume'],
    ['PATCH', '/v1/queues/wrong/groups/g', {}],
    ['POST', '/v1/queues/wrong/ack-and-enqueue', BODIES['ack-and-enqueue']],
    ['POST', '/v1/queues/wrong/jobs/1/claims/1/ack-and-enqueue', { next: NEXT }],
  ] as const
  for (const [method, path, body] of calls) {
    await api.call(method, path, body === undefined ? {} : { body })
    const entries = (await keys()).filter((key) => !/catalog:.*:meta$/.test(key))
    expect(entries, `${method} ${path}`).toEqual([])
  }
})

test('a client that waits at a queue that does not exist, or listens to it, leaves nothing when it disconnects', async () => {
  const queue = '/v1/queues/awaited'
  expect((await api.call('POST', `${queue}/claims?wait=50ms`)).status).toBe(204)
  expect((await api.call('POST', `${queue}/claims?wait=50ms&partitions=4`)).status).toBe(204)
  expect((await keys()).filter((key) => key.includes('awaited'))).toEqual([])
})

test('an ack after the deletion of its queue does not recreate the queue', async () => {
  const queue = '/v1/queues/late'
  for (const id of [undefined, 'own']) {
    await api.call('POST', `${queue}/jobs`, { body: { name: 'n', payload: 1, ...(id ? { id } : {}) } })
    const [job] = (await api.call('POST', `${queue}/claims`)).json.jobs
    await api.call('DELETE', queue)
    const place = `${queue}/jobs/${job.id}/claims/${job.token}`
    expect((await api.call('DELETE', place)).status).toBe(410)
    expect((await keys()).filter((key) => key.includes('late'))).toEqual([])
  }
})
