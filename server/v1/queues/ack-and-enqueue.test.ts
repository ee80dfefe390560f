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

interface Held {
  id: string
  token: number
}

const newQueue = (): string => `/v1/queues/${randomUUID()}`
const nameIn = (queue: string): string => queue.split('/').at(-1) ?? ''
const get = (path: string): Promise<HttpAnswer> => api.call('GET', path)
const post = (path: string, body: unknown = {}): Promise<HttpAnswer> => api.call('POST', path, { body })
const ackAndEnqueue = (queue: string, { id, token }: Held, body: unknown): Promise<HttpAnswer> =>
  post(`${queue}/jobs/${id}/claims/${token}/ack-and-enqueue`, body)
const next = { name: 'next', payload: 1 }

/** Enqueues so many jobs and claims them. */
async function claimed(queue: string, count: number): Promise<Held[]> {
  const jobs = Array.from({ length: count }, () => ({ name: 'n', payload: 0 }))
  await post(`${queue}/jobs`, { jobs })
  const { json } = await post(`${queue}/claims`, { limit: count })
  return json.jobs.map(({ id, token }: Held) => ({ id, token }))
}

async function firstOf(queue: string): Promise<Held> {
  return (await claimed(queue, 1))[0] as Held
}

async function whenReady(queue: string): Promise<void> {
  while ((await get(queue)).json.ready !== 1) await sleep(5)
}

describe('a job that is acked with a next one', () => {
  test('is done with a result, and the next one follows, both unchanged', async () => {
    const queue = newQueue()
    await api.call('PATCH', `${queue}/settings`, { body: { retention: { count: 9 } } })
    const job = await firstOf(queue)
    const [payload, result] = ['{"next":  9007199254740993}', '[1e400,  "\\u00e9"]']

    const body = `{"result": ${result}, "next": {"name": "next", "payload": ${payload}, "priority": 3}}`
    const { status, json } = await ackAndEnqueue(queue, job, body)

    expect([status, json]).toEqual([
      200,
      { id: job.id, token: job.token, next: { id: expect.stringMatching(/^\d+$/), duplicate: false } },
    ])
    expect((await get(`${queue}/jobs/${job.id}`)).text).toContain(`"result":${result}}`)
    const claim = await post(`${queue}/claims`)
    expect(claim.text).toContain(`"payload":${payload}}`)
    expect(claim.json.jobs).toMatchObject([{ id: json.next.id, name: 'next', priority: 3 }])
  })

  test('is followed by one in another queue of its tenant', async () => {
    const [near, far] = [newQueue(), newQueue()]
    const [one, other] = (await claimed(near, 2)) as [Held, Held]
    const { json } = await ackAndEnqueue(near, one, { next: { ...next, queue: nameIn(far) } })
    expect(json.next).toEqual({ id: null, duplicate: false })
    await whenReady(far)
    expect((await post(`${far}/claims`)).json.jobs).toMatchObject([next])

    const answer = await ackAndEnqueue(near, other, { next: { ...next, queue: nameIn(far), id: 'own' } })
    expect(answer.json.next).toEqual({ id: 'own', duplicate: false })
    await whenReady(far)
    expect((await get(`${far}/jobs/own`)).json).toMatchObject(next)
  })

  test('is followed by no new job if that job exists', async () => {
    const queue = newQueue()
    const job = await firstOf(queue)
    await post(`${queue}/jobs`, { ...next, id: 'known' })
    const { json } = await ackAndEnqueue(queue, job, { next: { ...next, id: 'known' } })
    expect(json.next).toEqual({ id: 'known', duplicate: true })
  })

  test('is followed by one that waits for others of the target queue', async () => {
    const [near, far] = [newQueue(), newQueue()]
    const job = await firstOf(near)
    await post(`${far}/jobs`, { ...next, id: 'before' })
    const dependencies = ['before', { queue: nameIn(far), id: 'before' }, { queue: nameIn(near), id: 'gone' }]
    await ackAndEnqueue(near, job, {
      next: { ...next, id: 'after', queue: nameIn(far), dependsOn: dependencies },
    })
    while ((await get(`${far}/jobs/after`)).status !== 200) await sleep(5)

    const { json } = await get(`${far}/jobs/after/dependencies`)
    expect(json.dependencies).toMatchObject([
      { queue: null, id: 'before', state: 'pending' },
      { queue: nameIn(near), id: 'gone' },
    ])
  })

  test('is followed by nothing if it was lost', async () => {
    const queue = newQueue()
    const job = await firstOf(queue)
    await post(`${queue}/jobs/${job.id}/claims/${job.token}/release`)

    const { status, json } = await ackAndEnqueue(queue, job, { next })
    expect([status, json.code, json.reason]).toEqual([410, 'lease-lost', 'lost'])
    expect((await get(queue)).json).toMatchObject({ ready: 1, enqueued: 1, acked: 0 })
    expect((await ackAndEnqueue(queue, { id: 'absent', token: 1 }, { next })).json.reason).toBe('absent')
  })
})

describe('many that are acked with next ones', () => {
  test('are settled independently, with payloads and results of their own', async () => {
    const queue = newQueue()
    await api.call('PATCH', `${queue}/settings`, { body: { retention: { count: 9 } } })
    const [a, b] = (await claimed(queue, 2)) as [Held, Held]
    const lost = { id: 'absent', token: 1 }
    const { status, json } = await post(`${queue}/ack-and-enqueue`, {
      jobs: [
        { ...a, next: { name: 'x', payload: 'of a' }, result: 'a' },
        { ...lost, next },
        { ...b, next: { name: 'y', payload: 'of b' } },
      ],
    })

    expect([status, json.jobs]).toMatchObject([
      200,
      [
        { ...a, outcome: 'acked', next: { duplicate: false } },
        { ...lost, outcome: 'lost', reason: 'absent' },
        { ...b, outcome: 'acked', next: { duplicate: false } },
      ],
    ])
    expect((await get(`${queue}/jobs/${a.id}`)).json.result).toBe('a')
    expect((await get(`${queue}/jobs/${b.id}`)).json.result).toBe(null)
    expect((await post(`${queue}/claims`, { limit: 5 })).json.jobs).toMatchObject([
      { id: json.jobs[0].next.id, name: 'x', payload: 'of a' },
      { id: json.jobs[2].next.id, name: 'y', payload: 'of b' },
    ])
  })
})

test.each([
  ['next', {}],
  ['next.name', { next: { payload: 1 } }],
  ['next.payload', { next: { name: 'n' } }],
  ['next.queue', { next: { ...next, queue: '' } }],
  ['next.after', { next: { ...next, after: 'x' } }],
  ['next.maxAttempts', { next: { ...next, maxAttempts: 0 } }],
  ['dependsOn.queue', { next: { ...next, dependsOn: [{ queue: '', id: 'a' }] } }],
])('the next job is rejected if %s is invalid, for one and for many', async (argument, body) => {
  const queue = newQueue()
  const job = await firstOf(queue)
  const one = await ackAndEnqueue(queue, job, body)
  expect([one.status, one.json.argument]).toEqual([400, argument])
  const many = await post(`${queue}/ack-and-enqueue`, {
    jobs: [
      { ...job, next },
      { ...job, ...body },
    ],
  })
  expect([many.status, many.json.argument.replace('jobs[1].', '')]).toEqual([400, argument])
  expect((await get(queue)).json).toMatchObject({ claimed: 1, ready: 0 })
})
