import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import type { HttpAnswer, CallOptions } from '../../testing/test-app.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

const newQueue = (): string => `/v1/queues/${randomUUID()}`
const nameIn = (queue: string): string => queue.split('/').at(-1) ?? ''
const codeOf = ({ status, json }: HttpAnswer): unknown[] => [status, json.code, json.reason]
const get = (path: string, options?: CallOptions): Promise<HttpAnswer> => api.call('GET', path, options)
const post = (path: string, body: unknown = {}, options?: CallOptions): Promise<HttpAnswer> =>
  api.call('POST', path, { body, ...options })
const stateOf = async (queue: string, id: string, options?: CallOptions): Promise<string> =>
  (await get(`${queue}/jobs/${id}`, options)).json.state ?? 'absent'

async function enqueue(queue: string, options: object = {}, sent?: CallOptions): Promise<string> {
  const { json } = await post(`${queue}/jobs`, { name: 'n', payload: 1, ...options }, sent)
  return json.jobs[0].id
}

/** Claims the next job; where what becomes of it is told. */
async function claimOne(queue: string): Promise<{ id: string; at: string; settle: Settle }> {
  const { json } = await post(`${queue}/claims`)
  const [{ id, token }] = json.jobs
  const at = `${queue}/jobs/${encodeURIComponent(id)}/claims/${token}`
  return { id, at, settle: (method, end, body) => api.call(method, at + end, { body }) }
}
type Settle = (method: string, end: string, body?: unknown) => Promise<HttpAnswer>

/** Resolves once the job is in that state: news of other queues come by way of an outbox. */
async function reaches(queue: string, id: string, state: string, options?: CallOptions): Promise<void> {
  while ((await stateOf(queue, id, options)) !== state) await sleep(5)
}

describe('a job with parents', () => {
  test('waits until all of them are done, and tells their results to the letter', async () => {
    const queue = newQueue()
    const [a, b] = [await enqueue(queue), await enqueue(queue, { id: 'own/id' })]
    const child = await enqueue(queue, { parents: [a, b] })
    expect(await stateOf(queue, child)).toBe('blocked')

    const result = '{"sum": 9007199254740993}'
    await (await claimOne(queue)).settle('PUT', '/result', result)
    expect(await stateOf(queue, child)).toBe('blocked')
    const { text, json } = await get(`${queue}/jobs/${child}/parents`)
    expect(text).toContain(`"result":${result}}`)
    expect(json.parents).toMatchObject([
      { queue: null, id: a, state: 'done', failure: null, undecodable: [] },
      { queue: null, id: b, state: 'pending', failure: null, result: null, undecodable: [] },
    ])
    await (await claimOne(queue)).settle('DELETE', '')

    expect((await claimOne(queue)).id).toBe(child)
  })

  test('whose parents fail becomes what ifParentFails says', async () => {
    const queue = newQueue()
    const parents = [await enqueue(queue)]
    const dies = await enqueue(queue, { parents })
    const goes = await enqueue(queue, { parents, ifParentFails: 'cancel' })
    const runs = await enqueue(queue, { parents, ifParentFails: 'run' })
    await (await claimOne(queue)).settle('POST', '/bury', { kind: 'odd', message: 'very' })

    expect(await stateOf(queue, dies)).toBe('dead')
    expect(await stateOf(queue, goes)).toBe('absent')
    expect(await stateOf(queue, runs)).toBe('ready')
    expect((await get(`${queue}/jobs/${runs}/parents`)).json.parents).toEqual([
      {
        queue: null,
        id: parents[0],
        state: 'dead',
        failure: { kind: 'odd', message: 'very' },
        result: null,
        undecodable: [],
      },
    ])
  })

  test('waits for those of another queue, which is called as its tenant calls it', async () => {
    const [near, far] = [newQueue(), newQueue()]
    await enqueue(far, { id: 'far' })
    const child = await enqueue(near, { parents: [{ queue: nameIn(far), id: 'far' }] })
    expect(await stateOf(near, child)).toBe('blocked')

    await (await claimOne(far)).settle('PUT', '/result', '"from afar"')
    await reaches(near, child, 'ready')

    expect((await get(`${near}/jobs/${child}/parents`)).json.parents).toEqual([
      { queue: nameIn(far), id: 'far', state: 'done', failure: null, result: 'from afar', undecodable: [] },
    ])
  })

  test('of another tenant finds nothing, whatever the queue is called', async () => {
    const [mine, theirs] = [newQueue(), newQueue()]
    await enqueue(theirs, { id: 'secret' })
    const stranger = { project: 'stranger' }
    for (const queue of [nameIn(theirs), `v1:test/${nameIn(theirs)}`]) {
      const child = await enqueue(mine, { parents: [{ queue, id: 'secret' }] }, stranger)
      await reaches(mine, child, 'ready', stranger)
      expect((await get(`${mine}/jobs/${child}/parents`, stranger)).json.parents).toMatchObject([
        { queue, id: 'secret', state: 'absent' },
      ])
    }
  })

  test('of its own queue by name waits as for those by id alone', async () => {
    const queue = newQueue()
    const parent = await enqueue(queue)
    const child = await enqueue(queue, { parents: [{ queue: nameIn(queue), id: parent }] })
    expect((await get(`${queue}/jobs/${child}/parents`)).json.parents).toMatchObject([{ queue: null }])
  })

  test('has large results in pages', async () => {
    const queue = newQueue()
    const ids: string[] = []
    for (let at = 0; at < 6; at += 1) ids.push(await enqueue(queue))
    const child = await enqueue(queue, { parents: ids })
    const result = 'x'.repeat(1_100_000)
    const { json: claimed } = await post(`${queue}/claims`, { limit: 6 })
    for (const { id, token } of claimed.jobs) await post(`${queue}/ack`, { jobs: [{ id, token, result }] })

    const first = await get(`${queue}/jobs/${child}/parents`)
    const second = await get(`${queue}/jobs/${child}/parents?after=${first.json.next}`)

    const seen = [...first.json.parents, ...second.json.parents]
    expect(seen.map(({ id }: { id: string }) => id)).toEqual(ids)
    expect(seen.every((parent: { result: string }) => parent.result === result)).toBe(true)
    expect([first.json.parents.length, second.json.next]).toEqual([4, null])
    expect(codeOf(await get(`${queue}/jobs/${child}/parents?after=x`))).toMatchObject([
      400,
      'invalid-argument',
      undefined,
    ])
  })

  test('has none where it waits for nobody, and is unknown where there is no such job', async () => {
    const queue = newQueue()
    const id = await enqueue(queue)
    expect((await get(`${queue}/jobs/${id}/parents`)).json).toEqual({ parents: [], next: null })
    expect(codeOf(await get(`${queue}/jobs/nobody/parents`))).toEqual([404, 'not-found', undefined])
  })
})

describe('parents', () => {
  test('are added and removed while the job is blocked', async () => {
    const queue = newQueue()
    const [a, b] = [await enqueue(queue), await enqueue(queue)]
    const child = await enqueue(queue, { parents: [a] })
    const change = (body: object) => post(`${queue}/jobs/${child}/parents`, body)

    const added = await change({ add: [b] })
    expect([added.status, added.json]).toEqual([200, { id: child, outcome: 'changed' }])
    expect((await change({ remove: [{ queue: nameIn(queue), id: a }] })).json.outcome).toBe('changed')
    expect((await get(`${queue}/jobs/${child}/parents`)).json.parents).toMatchObject([{ id: b }])
    await change({ remove: [b] })
    expect(await stateOf(queue, child)).toBe('ready')
  })

  test('stay as they are where the job is not blocked, not known, or older', async () => {
    const queue = newQueue()
    const [a, b] = [await enqueue(queue), await enqueue(queue, { delay: '1h' })]
    const child = await enqueue(queue, { parents: [a] })
    const younger = await enqueue(queue)
    const add = (id: string, parent: string) => post(`${queue}/jobs/${id}/parents`, { add: [parent] })

    expect(codeOf(await add(a, b))).toEqual([409, 'refused', 'ready'])
    expect(codeOf(await add(b, a))).toEqual([409, 'refused', 'scheduled'])
    expect(codeOf(await add(child, younger))).toEqual([409, 'refused', 'newer'])
    expect(codeOf(await add('nobody', a))).toEqual([404, 'not-found', undefined])
    const settings = { body: { keep: { count: 1 } } }
    await api.call('PATCH', `${queue}/settings`, settings)
    const { id, settle } = await claimOne(queue)
    expect(codeOf(await add(id, b))).toEqual([409, 'refused', 'claimed'])
    await settle('DELETE', '')
    expect(codeOf(await add(id, b))).toEqual([409, 'refused', 'done'])
  })

  test.each([
    ['parents', '/jobs', { name: 'n', payload: 1, parents: 'a' }],
    ['parents', '/jobs', { name: 'n', payload: 1, parents: Array.from({ length: 101 }, String) }],
    ['parents[0].queue', '/jobs', { name: 'n', payload: 1, parents: [{ id: 'a' }] }],
    ['parents.queue', '/jobs', { name: 'n', payload: 1, parents: [{ queue: '', id: 'a' }] }],
    ['parents', '/jobs', { name: 'n', payload: 1, parents: [''] }],
    ['ifParentFails', '/jobs', { name: 'n', payload: 1, ifParentFails: 'hope' }],
    ['remove', '/jobs/1/parents', {}],
    ['remove', '/jobs/1/parents', { add: ['a'], remove: ['a'] }],
    ['remove', '/jobs/1/parents', { remove: [] }],
    ['add[0]', '/jobs/1/parents', { add: [{ queue: 'q', id: 'a' }] }],
  ])('are refused where %s is wrong', async (argument, path, body) => {
    const { status, json } = await post(newQueue() + path, body)
    expect([status, json.argument]).toEqual([400, argument])
  })
})

test('a request names a hundred other queues at most', async () => {
  const queue = newQueue()
  const parents = (of: number): object[] =>
    Array.from({ length: 100 }, (_, at) => ({ queue: `other-${of}-${at}`, id: 'x' }))
  const jobs = [0, 1].map((of) => ({ name: 'n', payload: 1, parents: parents(of) }))

  expect((await post(`${queue}/jobs`, { jobs: [jobs[0], jobs[0]] })).status).toBe(201)
  const { status, json } = await post(`${queue}/jobs`, { jobs })
  expect([status, json.argument]).toEqual([400, 'parents.queue'])
  const steps = Array.from({ length: 101 }, (_, at) => ({
    id: 'lost',
    token: 1,
    next: { name: 'n', payload: 1, queue: `next-${at}` },
  }))
  const advanced = await post(`${queue}/advance`, { jobs: steps })
  expect([advanced.status, advanced.json.argument]).toEqual([400, 'next.queue'])
})

test('the jobs of a request have ten thousand parents at most', async () => {
  const queue = newQueue()
  const parents = Array.from({ length: 100 }, (_, at) => `p${at}`)
  const jobs = Array.from({ length: 101 }, () => ({ name: 'n', payload: 1, parents }))

  const enqueued = await post(`${queue}/jobs`, { jobs })
  expect([enqueued.status, enqueued.json.argument]).toEqual([400, 'parents'])
  const steps = jobs.map((next) => ({ id: 'lost', token: 1, next }))
  const advanced = await post(`${queue}/advance`, { jobs: steps })
  expect([advanced.status, advanced.json.argument]).toEqual([400, 'parents'])
  expect((await post(`${queue}/jobs`, { jobs: jobs.slice(1) })).status).toBe(201)
})
