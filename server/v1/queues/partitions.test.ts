// Queues in partitions over HTTP: the parameter of each request, which every route accepts.

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { openEvents } from '../../testing/events.ts'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import type { HttpAnswer } from '../../testing/test-app.ts'

const PARTITIONS = 4

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

interface Held {
  id: string
  token: number
}

/** Calls the routes of one queue in partitions. */
class Queue {
  readonly url: string
  readonly query: string

  constructor(url = `/v1/queues/${randomUUID()}`, partitions = PARTITIONS) {
    this.url = url
    this.query = `partitions=${partitions}`
  }

  call(method: string, path: string, body?: unknown): Promise<HttpAnswer> {
    const to = `${this.url}${path}${path.includes('?') ? '&' : '?'}${this.query}`
    return api.call(method, to, body === undefined ? {} : { body })
  }

  get(path: string): Promise<HttpAnswer> {
    return this.call('GET', path)
  }

  post(path: string, body: unknown = {}): Promise<HttpAnswer> {
    return this.call('POST', path, body)
  }

  /** Returns their ids. */
  async enqueue(count: number, options: object = {}): Promise<string[]> {
    const jobs = Array.from({ length: count }, (_, at) => ({ name: 'n', payload: at, ...options }))
    const { json } = await this.post('/jobs', { jobs })
    return json.jobs.map(({ id }: Held) => id)
  }

  async claim(limit: number): Promise<Held[]> {
    return (await this.post('/claims', { limit })).json.jobs
  }

  async first(options: object = {}): Promise<Held> {
    await this.enqueue(1, options)
    const [held] = await this.claim(1)
    if (held === undefined) throw new Error('nothing was claimed')
    return held
  }
}

const at = ({ id, token }: Held): string => `/jobs/${id}/claims/${token}`
const partitionsOf = (ids: readonly string[]) => new Set(ids.map((id) => id.split('-')[0]))
const idsOf = ({ json }: HttpAnswer): string[] => json.jobs.map(({ id }: Held) => id)

describe('a queue in partitions', () => {
  test('has as many as its requests say, and serves them in turn', async () => {
    const queue = new Queue()
    const ids = await queue.enqueue(2 * PARTITIONS)

    expect(partitionsOf(ids).size).toBe(PARTITIONS)
    const { status, json } = await queue.get('')
    expect(status).toBe(200)
    expect(json).toMatchObject({ ready: 8, enqueued: 8 })
    expect(json.partitions).toHaveLength(PARTITIONS)
    expect(json.partitions[0]).toMatchObject({ ready: 2 })
    const claimed = await queue.claim(20)
    expect(claimed.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
  })

  test('is the one that the library opens with the same number', async () => {
    const queue = new Queue()
    const [id = ''] = await queue.enqueue(1)
    const name = `v1:test/${queue.url.split('/').at(-1)}`

    expect(await api.perilune.queue(name, { partitions: PARTITIONS }).jobs.get(id)).toMatchObject({ id })
  })

  test('is rejected with another number, and without one', async () => {
    const queue = new Queue()
    await queue.enqueue(1)
    const other = new Queue(queue.url, 2)

    const refused = [
      await other.post('/jobs', { name: 'n', payload: 1 }),
      await other.get('/jobs?state=ready'),
      await api.call('GET', queue.url),
      await api.call('DELETE', queue.url),
      await api.call('POST', `${queue.url}/jobs`, { body: { name: 'n', payload: 1 } }),
    ]
    for (const { status, json } of refused) {
      const detail = 'partitions must be 4: the queue has so many.'
      expect([status, json.argument, json.detail]).toEqual([400, 'partitions', detail])
    }
    for (const partitions of ['0', '65', 'four', '1.5']) {
      const { status, json } = await api.call('GET', `${queue.url}?partitions=${partitions}`)
      expect([status, json.argument]).toEqual([400, 'partitions'])
    }
    const plain = `/v1/queues/${randomUUID()}`
    await api.call('POST', `${plain}/jobs`, { body: { name: 'n', payload: 1 } })
    const { status, json } = await api.call('GET', `${plain}?partitions=2`)
    expect([status, json.detail]).toEqual([400, 'partitions must be left out: the queue has no partitions.'])
  })

  test('is rejected with another number than the library began it with', async () => {
    const name = randomUUID()
    const queue = api.perilune.queue(`v1:test/${name}`, { partitions: 2 })
    await queue.enqueue('n', 1)
    const other = new Queue(`/v1/queues/${name}`)

    expect((await other.post('/jobs', { name: 'n', payload: 1 })).status).toBe(400)
    expect((await other.get('/jobs?state=ready')).status).toBe(400)
  })

  test.each([
    ['none', 4],
    [4, 'none'],
    [8, 4],
    [4, 8],
  ])(
    'is rejected in a service that has missed a deletion, and the change from %s to %s',
    async (old, fresh) => {
      const namespace = `t-${randomUUID()}`
      await using stale = await startFeedApi(inject('redisPort'), { namespace })
      await using other = await startFeedApi(inject('redisPort'), { namespace })
      const url = `/v1/queues/${randomUUID()}`
      const query = (partitions: number | string): string =>
        partitions === 'none' ? '' : `partitions=${partitions}`
      const enqueue = (by: FeedApi, partitions: number | string, payload: unknown): Promise<HttpAnswer> =>
        by.call('POST', `${url}/jobs?${query(partitions)}`, { body: { name: 'n', payload } })
      for (let n = 0; n < 8; n++) expect((await enqueue(stale, old, 'before')).status).toBe(201)
      expect((await other.call('DELETE', `${url}?${query(old)}`)).status).toBe(204)
      expect((await enqueue(other, fresh, 'fresh')).status).toBe(201)

      for (let n = 0; n < 8; n++) {
        const { status, json } = await enqueue(stale, old, 'lost?')
        expect([status, json.argument]).toEqual([400, 'partitions'])
      }
      const { json } = await other.call('POST', `${url}/claims?${query(fresh)}`, { body: { limit: 50 } })
      expect(json.jobs.map(({ payload }: { payload: unknown }) => payload)).toEqual(['fresh'])
    },
  )

  test('cannot be named by another queue', async () => {
    const queue = new Queue()
    const [id] = await queue.enqueue(1)
    const named = queue.url.split('/').at(-1)
    const other = `/v1/queues/${randomUUID()}`
    const job = { name: 'n', payload: 1 }
    const post = (path: string, body: unknown): Promise<HttpAnswer> =>
      api.call('POST', `${other}${path}`, { body })

    const parented = await post('/jobs', { ...job, dependsOn: [{ queue: named, id }] })
    expect([parented.status, parented.json.argument]).toEqual([400, 'dependsOn.queue'])
    await post('/jobs', job)
    const [held] = (await post('/claims', {})).json.jobs as [Held]
    const answer = await post(`${at(held)}/ack-and-enqueue`, { next: { ...job, queue: named } })
    expect([answer.status, answer.json.argument]).toEqual([400, 'next.queue'])
    const jobs = [{ id: held.id, token: held.token, next: { ...job, dependsOn: [{ queue: named, id }] } }]
    expect((await post('/ack-and-enqueue', { jobs })).json.argument).toBe('dependsOn.queue')
  })

  test('has its jobs settled one by one', async () => {
    const queue = new Queue()
    const done = await queue.first({ id: 'own' })
    expect(done.id).toBe('own')
    expect((await queue.call('PATCH', at(done), { lease: '5m' })).json).toMatchObject({ leaseMs: 300_000 })
    expect((await queue.call('PUT', `${at(done)}/progress`, 0.5)).status).toBe(204)
    expect((await queue.post(`${at(done)}/log`, { line: 'half' })).status).toBe(204)
    expect((await queue.call('DELETE', at(done))).status).toBe(204)
    expect((await queue.call('DELETE', at(done))).status).toBe(410)

    const job = await queue.first()
    expect((await queue.call('PUT', `${at(job)}/result`, { sent: true })).status).toBe(204)
    const again = await queue.first()
    expect((await queue.post(`${at(again)}/retry`, { delay: '1h' })).json.outcome).toBe('retried')
    const dead = await queue.first()
    expect((await queue.post(`${at(dead)}/fail`, { kind: 'odd' })).status).toBe(204)
    const back = await queue.first()
    expect((await queue.post(`${at(back)}/release`)).status).toBe(204)
    const { json } = await queue.get('')
    expect(json).toMatchObject({ acked: 2, scheduled: 1, dead: 1, ready: 1, claimed: 0 })
  })

  test('has many jobs settled in one request, each with its outcome', async () => {
    const queue = new Queue()
    await queue.enqueue(12)
    const held = await queue.claim(12)
    const jobs = held.map(({ id, token }) => ({ id, token }))
    const outcomes = ({ json }: HttpAnswer): string[] =>
      json.jobs.map(({ outcome }: { outcome: string }) => outcome)

    expect(outcomes(await queue.post('/extend', { jobs, lease: '1m' }))).toEqual(Array(12).fill('extended'))
    expect(outcomes(await queue.post('/ack', { jobs: jobs.slice(0, 3) }))).toEqual(Array(3).fill('acked'))
    expect(outcomes(await queue.post('/retry', { jobs: jobs.slice(3, 6) }))).toEqual(Array(3).fill('retried'))
    expect(outcomes(await queue.post('/fail', { jobs: jobs.slice(6, 9) }))).toEqual(Array(3).fill('dead'))
    const given = [...jobs.slice(9), { id: `0-${Date.now()}000`, token: 1 }]
    expect(outcomes(await queue.post('/release', { jobs: given }))).toEqual([
      ...Array(3).fill('released'),
      'lost',
    ])
  })

  test('gives jobs to a waiting request, and acks others in the same request', async () => {
    const queue = new Queue()
    const first = await queue.first()
    const waiting = queue.post('/claims?wait=20s', { acks: [{ id: first.id, token: first.token }] })
    while ((await queue.get('')).json.idle !== 1);

    const [id] = await queue.enqueue(1)

    const { status, json } = await waiting
    expect([status, json.jobs[0].id, json.acked[0].outcome]).toEqual([201, id, 'acked'])
  })

  test('lists and finds the jobs of all partitions, page by page', async () => {
    const queue = new Queue()
    const ids = await queue.enqueue(10, { tags: ['t'], delay: '1h' })
    const seen: string[] = []
    for (const path of ['/jobs?state=scheduled', '/search?tag=t']) {
      seen.length = 0
      for (let next: string | null = ''; next !== null; ) {
        const page = await queue.get(`${path}&limit=3${next === '' ? '' : `&after=${next}`}`)
        seen.push(...idsOf(page))
        next = page.json.next
      }
      expect(seen.toSorted()).toEqual(ids.toSorted())
    }
    expect(idsOf(await queue.get(`/find?ids=${ids[3]},absent,${ids[1]}`))).toEqual([ids[3], ids[1]])
    expect((await queue.get('/tags')).json.tags).toEqual([{ tag: 't', count: 10 }])
    expect((await queue.get('/jobs/9-1')).status).toBe(400)
  })

  test('has single jobs changed, followed and noted', async () => {
    const queue = new Queue()
    const [id] = await queue.enqueue(1, { delay: '1h', resultTtl: '1h' })
    const job = `/jobs/${id}`

    expect((await queue.post(`${job}/requeue`)).json.outcome).toBe('requeued')
    expect((await queue.call('PATCH', job, { priority: 3 })).json.outcome).toBe('changed')
    expect((await queue.post(`${job}/tags`, { tags: ['a', 'b'] })).json.tags).toEqual(['a', 'b'])
    expect((await queue.call('DELETE', `${job}/tags/a`)).json.tags).toEqual(['b'])
    expect((await queue.call('PUT', `${job}/track`)).status).toBe(204)
    expect(idsOf(await queue.get('/tracked'))).toEqual([id])
    expect((await queue.call('DELETE', `${job}/track`)).status).toBe(204)
    expect((await queue.post(`${job}/log`, { line: 'seen' })).status).toBe(204)
    expect((await queue.get(job)).json).toMatchObject({ id, priority: 3, log: [{ line: 'seen' }] })
    expect((await queue.get(`${job}/history`)).json.entries[0].what).toBe('enqueued')
    expect((await queue.get(`${job}/result?wait=5ms`)).status).toBe(204)
    expect((await queue.call('DELETE', job)).json.outcome).toBe('cancelled')
    expect((await queue.get(`${job}/result`)).json.state).toBe('cancelled')
  })

  test('has many jobs changed in one request', async () => {
    const queue = new Queue()
    const ids = await queue.enqueue(6, { delay: '1h' })
    const outcomes = async (path: string, body: object): Promise<Set<string>> => {
      const { json } = await queue.post(path, { ids, ...body })
      return new Set(json.jobs.map(({ outcome }: { outcome: string }) => outcome))
    }

    expect(await outcomes('/requeue', {})).toEqual(new Set(['requeued']))
    expect(await outcomes('/reprioritize', { priority: 7 })).toEqual(new Set(['changed']))
    expect(await outcomes('/cancel', {})).toEqual(new Set(['cancelled']))
  })

  test('lists the failures of dead jobs in all partitions, and requeues and drops them', async () => {
    const queue = new Queue()
    await queue.enqueue(8)
    const jobs = (await queue.claim(8)).map(({ id, token }, place) => ({
      id,
      token,
      kind: place < 5 ? 'odd' : 'even',
    }))
    await queue.post('/fail', { jobs })

    const { json } = await queue.get('/dead')
    const counts = json.kinds.map(({ kind, count }: { kind: string; count: number }) => [kind, count])
    expect(Object.fromEntries(counts)).toEqual({ odd: 5, even: 3 })
    expect((await queue.post('/dead/odd/requeue')).json).toEqual({ count: 5 })
    expect((await queue.call('DELETE', '/dead/even')).json).toEqual({ count: 3 })
  })

  test('has settings, groups, statistics and an end', async () => {
    const queue = new Queue()
    expect(
      (await queue.call('PATCH', '/settings', { concurrency: 8, retention: { count: 100 } })).status,
    ).toBe(204)
    expect((await queue.call('PATCH', '/settings', { concurrency: 3 })).status).toBe(400)
    expect((await queue.call('PATCH', '/groups/g', { concurrency: 1 })).json).toMatchObject({
      concurrency: 1,
    })
    expect((await queue.post('/groups/g/pause')).json.paused).toBe(true)
    expect((await queue.post('/groups/g/resume')).json.paused).toBe(false)
    expect((await queue.post('/pause')).status).toBe(204)
    expect((await queue.get('')).json).toMatchObject({ paused: true, concurrency: 8 })
    expect((await queue.post('/resume')).status).toBe(204)
    await queue.enqueue(5)
    expect((await queue.get('/stats?by=hour&last=1')).json).toMatchObject({
      total: { enqueued: 5 },
      names: ['n'],
    })
    expect((await queue.call('DELETE', '')).status).toBe(204)
    expect((await queue.get('')).status).toBe(404)
  })

  test('has recurring jobs', async () => {
    const queue = new Queue()
    const definition = { name: 'n', payload: 1, every: '1h' }
    expect((await queue.call('PUT', '/recurring/tidy', definition)).json.id).toBe('tidy')
    expect((await queue.get('/recurring/tidy')).json).toMatchObject({ id: 'tidy', runs: 0 })
    expect((await queue.get('/recurring?limit=5')).json.recurring).toHaveLength(1)
    expect((await queue.call('DELETE', '/recurring/tidy')).status).toBe(204)
    expect((await queue.get('/recurring/tidy')).status).toBe(404)
  })

  test('has jobs that wait for others and follow others, in any queue', async () => {
    const queue = new Queue()
    const [one = '', two = ''] = await queue.enqueue(2)
    const [dependent = ''] = await queue.enqueue(1, { dependsOn: [one, two] })
    const [{ token }] = (await queue.claim(1)) as [Held]
    const [dependency, other] =
      (await queue.get(`/jobs/${one}`)).json.state === 'claimed' ? [one, two] : [two, one]
    const next = { name: 'after', payload: 1, id: 'after' }

    const step = await queue.post(`/jobs/${dependency}/claims/${token}/ack-and-enqueue`, { next, result: 5 })
    expect(step.status).toBe(200)
    expect((await queue.post('/jobs/absent/claims/1/ack-and-enqueue', { next })).status).toBe(410)
    expect(
      (await queue.post('/ack-and-enqueue', { jobs: [{ id: 'absent', token: 1, next }] })).json.jobs[0]
        .outcome,
    ).toBe('lost')
    while ((await queue.get('/jobs/after')).status === 404);
    const dependencies = async () => (await queue.get(`/jobs/${dependent}/dependencies`)).json.dependencies
    while ((await dependencies()).every(({ state }: { state: string }) => state === 'pending'));
    expect(
      (await dependencies()).map(({ queue: named, result }: { queue: null; result: unknown }) => [
        named,
        result,
      ]),
    ).toContainEqual([null, 5])
    expect((await queue.post(`/jobs/${dependent}/dependencies`, { remove: [other] })).json.outcome).toBe(
      'changed',
    )
    while ((await queue.get(`/jobs/${dependent}`)).json.state !== 'ready');
  })

  test('streams the events of all partitions', async () => {
    const queue = new Queue()
    const url = `${api.url}${queue.url}/events?kinds=enqueued&${queue.query}`
    await using events = await openEvents(url, { 'X-Project-ID': 'test' })
    const heard: string[] = []
    const reading = (async () => {
      for (let event = await events.nextNamed(); event !== null; event = await events.nextNamed()) {
        if (event.event === 'enqueued') heard.push(JSON.parse(event.data).id)
      }
    })()
    reading.catch(() => undefined)

    while (partitionsOf(heard).size < PARTITIONS) await queue.enqueue(PARTITIONS)

    expect(partitionsOf(heard)).toEqual(new Set(['0', '1', '2', '3']))
  })
})
