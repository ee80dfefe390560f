import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import type { HttpAnswer } from '../../testing/test-app.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

const newQueue = (): string => `/v1/queues/${randomUUID()}`
const codeOf = ({ status, json }: HttpAnswer): unknown[] => [status, json.code]
const get = (path: string): Promise<HttpAnswer> => api.call('GET', path)
const post = (path: string, body?: unknown): Promise<HttpAnswer> => api.call('POST', path, { body })
const patch = (path: string, body: unknown): Promise<HttpAnswer> => api.call('PATCH', path, { body })
const idsIn = ({ json }: HttpAnswer): string[] => json.jobs.map(({ id }: { id: string }) => id)
const outcomesIn = ({ json }: HttpAnswer): string[] =>
  json.jobs.map((each: { outcome: string }) => each.outcome)

/** Enqueues jobs with these options; returns their ids. */
async function enqueued(queue: string, ...options: object[]): Promise<string[]> {
  return idsIn(
    await post(`${queue}/jobs`, { jobs: options.map((each) => ({ name: 'n', payload: 1, ...each })) }),
  )
}

/** Jobs that are dead with this kind of failure. */
async function dead(queue: string, kind: string, count: number): Promise<string[]> {
  const ids = await enqueued(queue, ...Array.from({ length: count }, () => ({})))
  const { json } = await post(`${queue}/claims`, { limit: count })
  const jobs = json.jobs.map(({ id, token }: { id: string; token: number }) => ({ id, token, kind }))
  await post(`${queue}/fail`, { jobs })
  return ids
}

describe('jobs', () => {
  test('are looked up, also by their own ids', async () => {
    const queue = newQueue()
    await enqueued(queue, { id: 'own/id', delay: '1h', priority: 3, tags: ['t'], group: 'g', trace: '00-1' })
    const { json } = await get(`${queue}/jobs/own%2Fid`)
    expect(json).toMatchObject({
      id: 'own/id',
      name: 'n',
      payload: 1,
      state: 'scheduled',
      attempts: 0,
      maxAttempts: 3,
      token: null,
      priority: 3,
      group: 'g',
      tags: ['t'],
      trace: '00-1',
      failure: null,
      result: null,
    })
    expect(json.atMs - json.enqueuedAtMs).toBe(3_600_000)
    expect(codeOf(await get(`${queue}/jobs/1`))).toEqual([404, 'not-found'])
  })

  test.each([
    ['a queue', ''],
    ['a queue in partitions', '&partitions=3'],
  ])('that are large are looked up in several requests, of %s', async (_, spread) => {
    const queue = newQueue()
    const partitions = spread.replace('&', '?')
    const payload = 'x'.repeat(1_100_000)
    const ids: string[] = []
    for (let at = 0; at < 9; at += 1) {
      ids.push(
        ...idsIn(
          await post(`${queue}/jobs${partitions}`, { jobs: [{ name: 'n', payload, group: `${at}` }] }),
        ),
      )
    }

    const found: string[] = []
    const counts: number[] = []
    for (let left = [...ids, 'absent']; left.length > 0; ) {
      const { json, text } = await get(`${queue}/find?ids=${left.join(',')}${spread}`)
      expect(text.length).toBeLessThan(6_000_000)
      found.push(...json.jobs.map(({ id }: { id: string }) => id))
      counts.push(json.jobs.length)
      left = json.left
    }

    expect(found.toSorted()).toEqual(ids.toSorted())
    expect(counts[0]).toBeGreaterThanOrEqual(4)
  })

  test('are looked up many at once, also by their own ids: only known ones are returned', async () => {
    const queue = newQueue()
    const [a, own] = await enqueued(queue, { payload: { n: 1 } }, { id: 'own,1' })
    await post(`${queue}/jobs/${a}/log`, { line: 'seen' })
    const { status, json } = await get(`${queue}/find?ids=own%2C1,absent,${a}`)
    expect(status).toBe(200)
    expect(json.jobs).toMatchObject([
      { id: own, state: 'ready', log: [] },
      { id: a, payload: { n: 1 }, log: [{ line: 'seen' }] },
    ])
    expect(Object.keys(json)).toEqual(['jobs', 'left'])
    expect(json.left).toEqual([])

    await enqueued(queue, { id: 'a?b' }, { id: 'a' })
    expect((await get(`${queue}/find?ids=a?b`)).json.jobs.map(({ id }: { id: string }) => id)).toEqual([
      'a?b',
    ])

    const many = Array.from({ length: 1001 }, () => 1).join()
    for (const wrong of ['', '?ids=', `?ids=${many}`, '?ids=1&limit=1']) {
      expect(codeOf(await get(`${queue}/find${wrong}`))).toEqual([400, 'invalid-argument'])
    }
  })

  test('are listed by their state, page by page', async () => {
    const queue = newQueue()
    const ids = await enqueued(queue, {}, {}, {})
    const late = await enqueued(queue, { delay: '1h' })
    const first = await get(`${queue}/jobs?state=ready&limit=2`)
    expect(idsIn(first)).toEqual(ids.slice(0, 2))
    const second = await get(`${queue}/jobs?state=ready&limit=2&after=${first.json.next}`)
    expect([idsIn(second), second.json.next]).toEqual([ids.slice(2), null])
    expect(idsIn(await get(`${queue}/jobs?state=scheduled`))).toEqual(late)
    expect((await get(`${queue}/jobs?state=dead`)).json).toEqual({ jobs: [], next: null })
  })

  test('are searched for by name, tag and state', async () => {
    const queue = newQueue()
    const [mail, image] = await enqueued(
      queue,
      { name: 'mail', tags: ['a', 'b'] },
      { name: 'image', tags: ['b'] },
    )
    const search = async (query: string) => idsIn(await get(`${queue}/search?limit=1000&${query}`))
    expect(await search('name=mail')).toEqual([mail])
    expect((await search('tag=b')).toSorted()).toEqual([mail, image])
    expect(await search('tag=b&name=image&state=ready')).toEqual([image])
    expect(await search('state=dead')).toEqual([])
    expect((await get(`${queue}/search`)).json.next).toBe(null)
  })

  test('are cancelled, and running ones get a stop request', async () => {
    const queue = newQueue()
    const [a = '', b = ''] = await enqueued(queue, {}, {})
    expect((await api.call('DELETE', `${queue}/jobs/${a}`)).json).toEqual({ id: a, outcome: 'cancelled' })
    expect(codeOf(await api.call('DELETE', `${queue}/jobs/${a}`))).toEqual([404, 'not-found'])
    await post(`${queue}/claims`)
    expect((await api.call('DELETE', `${queue}/jobs/${b}`)).json.outcome).toBe('stopping')
    expect((await get(`${queue}/jobs/${b}`)).json.state).toBe('stopping')

    const [c] = await enqueued(queue, {})
    expect((await post(`${queue}/cancel`, { ids: [a, b, c] })).json.jobs).toEqual([
      { id: a, outcome: 'absent' },
      { id: b, outcome: 'stopping' },
      { id: c, outcome: 'cancelled' },
    ])
  })

  test('are requeued, one or many', async () => {
    const queue = newQueue()
    const [late = '', ready = '', own = ''] = await enqueued(
      queue,
      { delay: '1h' },
      {},
      { id: 'own', delay: '1h' },
    )
    expect((await post(`${queue}/jobs/${late}/requeue`)).json).toEqual({ id: late, outcome: 'requeued' })
    expect(codeOf(await post(`${queue}/jobs/1/requeue`))).toEqual([404, 'not-found'])
    expect(outcomesIn(await post(`${queue}/requeue`, { ids: [ready, own, 'absent'] }))).toEqual([
      'ready',
      'requeued',
      'absent',
    ])
    const [{ id }] = (await post(`${queue}/claims`)).json.jobs
    expect((await post(`${queue}/jobs/${id}/requeue`)).json.outcome).toBe('claimed')
    await api.call('DELETE', `${queue}/jobs/${id}`)
    expect((await post(`${queue}/jobs/${id}/requeue`)).json.outcome).toBe('claimed')
  })

  test('get another priority, unless they are claimed', async () => {
    const queue = newQueue()
    const [a = '', b = '', c = ''] = await enqueued(queue, {}, {}, {})
    expect((await patch(`${queue}/jobs/${b}`, { priority: 5 })).json).toEqual({ id: b, outcome: 'changed' })
    expect((await post(`${queue}/claims`)).json.jobs[0].id).toBe(b)
    const refused = await patch(`${queue}/jobs/${b}`, { priority: 6 })
    expect([...codeOf(refused), refused.json.reason]).toEqual([409, 'refused', 'claimed'])
    expect(codeOf(await patch(`${queue}/jobs/absent`, { priority: 6 }))).toEqual([404, 'not-found'])
    expect(
      outcomesIn(await post(`${queue}/reprioritize`, { ids: [a, b, 'absent', c], priority: -1 })),
    ).toEqual(['changed', 'claimed', 'absent', 'changed'])
    expect(idsIn(await get(`${queue}/jobs?state=prioritized`))).toEqual([a, c])
  })
})

describe('failures', () => {
  test('are counted by their kind, with a sample', async () => {
    const queue = newQueue()
    const ids = await dead(queue, 'http/500', 2)
    await dead(queue, 'other', 1)
    const { json } = await get(`${queue}/dead`)
    const http = json.kinds.find(({ kind }: { kind: string }) => kind === 'http/500')
    expect([json.kinds.length, http.count]).toEqual([2, 2])
    expect(ids).toContain(http.sample.id)
    expect(http.lastAtMs).toBeGreaterThanOrEqual(http.firstAtMs)
  })

  test('of one kind are listed page by page', async () => {
    const queue = newQueue()
    const ids = await dead(queue, 'http/500', 3)
    await dead(queue, 'other', 1)
    const of = (query: string) => get(`${queue}/jobs?state=dead&kind=http%2F500&limit=2${query}`)

    const first = await of('')
    const second = await of(`&after=${first.json.next}`)

    expect([...idsIn(first), ...idsIn(second)]).toEqual(ids)
    expect(second.json.next).toBe(null)
    const { status, json } = await get(`${queue}/jobs?state=done&kind=other`)
    expect([status, json.argument]).toEqual([400, 'kind'])
  })

  test('are requeued or dropped, all of a kind', async () => {
    const queue = newQueue()
    const [first] = await dead(queue, 'http/500', 2)
    await dead(queue, 'other', 3)
    const of = (kind: string) => `${queue}/dead/${encodeURIComponent(kind)}`
    expect((await post(`${of('http/500')}/requeue`)).json).toEqual({ count: 2 })
    expect((await get(`${queue}/jobs/${first}`)).json.state).toBe('ready')
    expect((await api.call('DELETE', of('other'))).json).toEqual({ count: 3 })
    expect((await api.call('DELETE', of('other'))).json).toEqual({ count: 0 })
    expect((await get(`${queue}/dead`)).json).toEqual({ kinds: [] })
  })
})

describe('a queue', () => {
  test('is paused, and continues when it is resumed', async () => {
    const queue = newQueue()
    await enqueued(queue, {})
    expect((await post(`${queue}/pause`)).status).toBe(204)
    expect([(await post(`${queue}/claims`)).status, (await get(queue)).json.paused]).toEqual([204, true])
    expect((await post(`${queue}/resume`)).status).toBe(204)
    expect([(await post(`${queue}/claims`)).status, (await get(queue)).json.paused]).toEqual([201, false])
  })

  test('has settings, and those that are not named stay unchanged', async () => {
    const queue = newQueue()
    const rate = { limit: 5, window: '1m', burst: 2 }
    const retention = { count: 3, age: '1h' }
    expect((await patch(`${queue}/settings`, { concurrency: 1, rate, retention })).status).toBe(204)
    expect((await get(queue)).json).toMatchObject({
      concurrency: 1,
      rateLimit: 5,
      rateWindowMs: 60_000,
      rateBurst: 2,
      retentionCount: 3,
      retentionMs: 3_600_000,
    })
    await patch(`${queue}/settings`, { rate: null, retention: null })
    expect((await get(queue)).json).toMatchObject({
      concurrency: 1,
      rateLimit: 0,
      retentionCount: 0,
      retentionMs: 0,
    })
    await enqueued(queue, {}, {})
    expect(idsIn(await post(`${queue}/claims`, { limit: 2 }))).toHaveLength(1)
  })

  test('has groups, each with settings of its own', async () => {
    const queue = newQueue()
    await enqueued(queue, { group: 'a/b' }, { group: 'a/b' })
    const group = `${queue}/groups/a%2Fb`
    expect((await patch(group, { concurrency: 1 })).json).toMatchObject({
      concurrency: 1,
      ready: 2,
      claimed: 0,
    })
    expect(idsIn(await post(`${queue}/claims`, { limit: 2 }))).toHaveLength(1)
    expect((await patch(group, {})).json).toMatchObject({ concurrency: 1, ready: 1, claimed: 1 })

    expect((await post(`${group}/pause`)).json.paused).toBe(true)
    await patch(group, { concurrency: null })
    expect((await post(`${queue}/claims`)).status).toBe(204)
    expect((await post(`${group}/resume`)).json).toMatchObject({ paused: false, concurrency: 0 })
    expect((await post(`${queue}/claims`)).status).toBe(201)
  })

  test('is inspected, and unknown after it was cleared', async () => {
    const queue = newQueue()
    expect(codeOf(await get(queue))).toEqual([404, 'not-found'])
    await enqueued(queue, {}, { delay: '1h' })
    const { json } = await get(queue)
    expect(json).toMatchObject({
      name: queue.split('/').at(-1),
      ready: 1,
      scheduled: 1,
      enqueued: 2,
      idle: 0,
    })
    expect(json.oldestAtMs).toBeGreaterThanOrEqual(json.beganAtMs)
    await post(`${queue}/claims`)
    expect((await get(queue)).json.oldestAtMs).toBe(null)
    expect((await api.call('DELETE', queue)).status).toBe(204)
    expect((await api.call('DELETE', queue)).status).toBe(204)
    expect((await get(queue)).status).toBe(404)
  })
})

describe('an invalid argument is rejected by its name', () => {
  const wrong: [argument: string, method: string, path: string, body?: unknown][] = [
    ['state', 'GET', '/jobs'],
    ['state', 'GET', '/jobs?state=lost'],
    ['after', 'GET', '/jobs?state=dead&after=x'],
    ['limit', 'GET', '/jobs?state=dead&limit=1001'],
    ['state', 'GET', '/search?state=grouped'],
    ['after', 'GET', '/search?after=-1'],
    ['evenClaimed', 'DELETE', '/jobs/1?evenClaimed=true'],
    ['priority', 'PATCH', '/jobs/1', {}],
    ['priority', 'PATCH', '/jobs/1', { priority: 1e9 }],
    ['ids', 'POST', '/cancel', {}],
    ['ids', 'POST', '/requeue', { ids: [] }],
    ['ids', 'POST', '/requeue', { ids: [''] }],
    ['priority', 'POST', '/reprioritize', { ids: ['1'] }],
    ['kind', 'DELETE', `/dead/${'k'.repeat(201)}`],
    ['concurrency', 'PATCH', '/settings', { concurrency: 0 }],
    ['concurrency', 'PATCH', '/settings', { concurrency: 'many' }],
    ['rate.window', 'PATCH', '/settings', { rate: { limit: 1 } }],
    ['rate.window', 'PATCH', '/settings', { rate: { limit: 1, window: 'long' } }],
    ['rate.limit', 'PATCH', '/settings', { rate: { limit: 0, window: '1s' } }],
    ['rate.burst', 'PATCH', '/settings', { rate: { limit: 1, window: '1s', burst: 0 } }],
    ['retention', 'PATCH', '/settings', { retention: {} }],
    ['retention.age', 'PATCH', '/settings', { retention: { age: 'ever' } }],
    ['paused', 'PATCH', '/settings', { paused: true }],
    ['retention', 'PATCH', '/groups/g', { retention: null }],
    ['group', 'POST', `/groups/${'g'.repeat(513)}/pause`],
  ]
  test.each(wrong)('%s in %s %s', async (argument, method, path, body) => {
    const queue = newQueue()
    const { status, json } = await api.call(method, queue + path, { body })
    expect([status, json.code, json.argument]).toEqual([400, 'invalid-argument', argument])
    expect((await get(queue)).status).toBe(404)
  })
})
