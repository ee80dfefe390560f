// The queues of a tenant, and how several processes of the service agree on them.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import type { HttpAnswer } from '../../testing/test-app.ts'

const namespace = `t-${randomUUID()}`
const job = { name: 'n', payload: 1 }

let api: FeedApi
/** Another process of the same service. */
let other: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'), { namespace })
  other = await startFeedApi(inject('redisPort'), { namespace })
})
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  await other[Symbol.asyncDispose]()
})

/** The routes as a tenant of its own. */
function tenant() {
  const project = randomUUID()
  const call = (method: string, path: string, body?: unknown, by = api): Promise<HttpAnswer> =>
    by.call(method, `/v1/queues${path}`, { project, ...(body === undefined ? {} : { body }) })
  const names = async (query = ''): Promise<string[]> => {
    const { json } = await call('GET', query)
    return json.queues.map(({ name }: { name: string }) => name)
  }
  return { project, call, names }
}

test('queues are listed with the jobs in each state, by their names', async () => {
  const { call } = tenant()
  await call('POST', '/b/jobs', { jobs: [job, job, { ...job, delay: '1h' }] })
  await call('POST', '/b/claims', {})
  await call('POST', '/a/jobs?partitions=2', { jobs: [job, job, job] })
  await call('POST', '/c/pause')

  const { status, json } = await call('GET', '')

  expect(status).toBe(200)
  const empty = { idle: 0, ready: 0, scheduled: 0, blocked: 0, claimed: 0, dead: 0, done: 0, paused: false }
  const oldestAtMs = expect.any(Number)
  expect(json).toEqual({
    queues: [
      { ...empty, name: 'a', partitions: 2, ready: 3, oldestAtMs },
      { ...empty, name: 'b', partitions: null, ready: 1, scheduled: 1, claimed: 1, oldestAtMs },
      { ...empty, name: 'c', partitions: null, paused: true, oldestAtMs: null },
    ],
    next: null,
  })
})

test('they are listed page by page, and only to their tenant', async () => {
  const one = tenant()
  const names = Array.from({ length: 7 }, (_, at) => `queue ${at}/é`)
  for (const name of names) await one.call('POST', `/${encodeURIComponent(name)}/jobs`, job)
  await tenant().call('POST', '/else/jobs', job)

  const seen: string[] = []
  for (let after: string | null = ''; after !== null; ) {
    const { json } = await one.call(
      'GET',
      `?limit=3${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`,
    )
    expect(json.queues.length).toBeLessThanOrEqual(3)
    seen.push(...json.queues.map(({ name }: { name: string }) => name))
    after = json.next
  }

  expect(seen).toEqual(names)
  expect((await one.call('GET', '?limit=101')).status).toBe(400)
  expect((await tenant().call('GET', '')).json).toEqual({ queues: [], next: null })
})

test('a page of queues in many partitions ends early, because each partition is inspected', async () => {
  const { call } = tenant()
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  for (const name of names) await call('POST', `/${name}/jobs?partitions=64`, job)

  const first = (await call('GET', '')).json
  const rest = (await call('GET', `?after=${first.next}`)).json

  expect([first.queues.length, first.next]).toEqual([4, 'd'])
  expect([rest.queues.length, rest.next]).toEqual([2, null])
})

test('requests that may begin a queue make it known, and reads do not', async () => {
  const { call, names } = tenant()
  await call('GET', '/looked-at')
  await call('GET', '/looked-at/jobs?state=ready')
  await call('POST', '/looked-at/claims', {})
  expect(await names()).toEqual([])

  await call('PUT', '/a/recurring/r', { ...job, every: '1h' })
  await call('PATCH', '/b/settings', { concurrency: 1 })
  await call('PATCH', '/c/groups/g', { concurrency: 1 })
  await call('POST', '/d/jobs', job)
  const [{ id, token }] = (await call('POST', '/d/claims', {})).json.jobs
  await call('POST', `/d/jobs/${id}/claims/${token}/ack-and-enqueue`, { next: { ...job, queue: 'e' } })

  const all = ['a', 'b', 'c', 'd', 'e']
  while ((await names()).length < all.length) await sleep(5)
  expect(await names()).toEqual(all)
})

test('one that the library cleared is left out', async () => {
  const { project, call, names } = tenant()
  await call('POST', '/a/jobs', job)
  await call('POST', '/b/jobs', job)
  await api.perilune.queue(`v1:${project}/a`).clear()

  expect(await names()).toEqual(['b'])
})

test('a deleted queue is not listed until it is used again, in any process', async () => {
  const { call, names } = tenant()
  await call('POST', '/a/jobs', job, other)
  await call('DELETE', '/a')
  expect(await names()).toEqual([])

  // It remembers for a moment that the queue is known.
  await call('POST', '/a/jobs', job, other)

  await expect.poll(names, { timeout: 10_000 }).toEqual(['a'])
})

test('a queue in partitions is no dependency and gets no follow-up, also one that the library began, at once', async () => {
  const { project, call } = tenant()
  await api.perilune.queue(`v1:${project}/library`, { partitions: 2 }).enqueue('n', 1, { id: 'i' })
  const dependent = { ...job, dependsOn: [{ queue: 'library', id: 'i' }] }
  expect((await call('POST', '/mails/jobs', dependent)).json.argument).toMatch(/^dependsOn/)

  await call('GET', '/imports')
  await call('POST', '/imports/jobs?partitions=2', { ...job, id: 'i' }, other)
  const waiting = { ...job, dependsOn: [{ queue: 'imports', id: 'i' }] }
  expect((await call('POST', '/mails/jobs', waiting)).json.argument).toMatch(/^dependsOn/)

  await call('POST', '/store/jobs', job)
  await call('DELETE', '/store', undefined, other)
  await call('POST', '/store/jobs?partitions=2', job, other)
  await call('POST', '/chores/jobs', { ...job, id: 'w' })
  const { token } = (await call('POST', '/chores/claims', {})).json.jobs[0]
  const next = { ...job, queue: 'store' }
  const answer = await call('POST', `/chores/jobs/w/claims/${token}/ack-and-enqueue`, { next })

  expect([answer.status, answer.json.argument]).toEqual([400, 'next.queue'])
})

test('a deleted queue may have another number of partitions, also where the old one is remembered', async () => {
  const { call } = tenant()
  await call('POST', '/a/jobs?partitions=2', job, other)
  expect((await call('POST', '/a/jobs', job)).json.argument).toBe('partitions')
  await call('DELETE', '/a?partitions=2')
  expect((await call('POST', '/a/jobs', job)).status).toBe(201)

  expect((await call('GET', '/a', undefined, other)).status).toBe(200)
  expect((await call('POST', '/a/jobs', job, other)).status).toBe(201)
  expect((await call('GET', '/a?partitions=2', undefined, other)).json.argument).toBe('partitions')
})

test('a request with a wrong number of partitions changes nothing that is known of a queue', async () => {
  const { project, call, names } = tenant()
  await api.perilune.queue(`v1:${project}/a`, { partitions: 4 }).enqueue('n', 1)

  expect((await call('POST', '/a/jobs', job)).json.argument).toBe('partitions')
  expect((await call('PATCH', '/a/settings', { concurrency: 1 })).status).toBe(400)
  expect((await call('POST', '/a/jobs?partitions=4', job)).status).toBe(201)
  await call('GET', '/b?partitions=8', undefined, other)
  await call('POST', '/b/jobs', job)
  expect((await call('DELETE', '/b?partitions=8', undefined, other)).status).toBe(400)

  expect(await names()).toEqual(['a', 'b'])
})

test('an entry of a queue that began with another number of partitions elsewhere harms no other', async () => {
  const { project, call, names } = tenant()
  await call('POST', '/a/jobs?partitions=2', job)
  await call('POST', '/b/jobs', job)
  await api.perilune.queue(`v1:${project}/a`, { partitions: 2 }).clear()
  await api.perilune.queue(`v1:${project}/a`).enqueue('n', 1)

  expect(await names()).toEqual(['b'])
  expect((await call('POST', '/a/jobs', job)).status).toBe(201)
  expect(await names()).toEqual(['a', 'b'])
})

test('a queue that two requests begin at once with different numbers is listed', async () => {
  const { call, names } = tenant()
  const queues = Array.from({ length: 10 }, (_, at) => `q${at}`)
  for (const name of queues) {
    const [one, two] = await Promise.all([
      call('POST', `/${name}/jobs?partitions=4`, job),
      call('POST', `/${name}/jobs`, job, other),
    ])
    expect([one.status, two.status].toSorted((a, b) => a - b)).toEqual([201, 400])
  }

  await expect.poll(names, { timeout: 10_000 }).toEqual(queues)
})
