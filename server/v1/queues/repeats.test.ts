import { randomUUID } from 'node:crypto'
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
const post = (path: string, body: unknown): Promise<HttpAnswer> => api.call('POST', path, { body })
const job = { name: 'n', payload: null }

describe('a claim with acks', () => {
  test('acks first, returns each outcome, and claims others', async () => {
    const queue = newQueue()
    expect(
      (await api.call('PATCH', `${queue}/settings`, { body: { retention: { count: 10 } } })).status,
    ).toBe(204)
    await post(`${queue}/jobs`, { jobs: [job, job] })
    const { jobs } = (await post(`${queue}/claims`, { limit: 2 })).json
    const [one, other] = jobs.map(({ id, token }: Held) => ({ id, token })) as [Held, Held]
    await post(`${queue}/jobs`, { ...job, name: 'next' })
    const stale = { ...other, token: 1 }

    const next = await api.call('POST', `${queue}/claims`, {
      body: `{"acks": [{"id": "${one.id}", "token": ${one.token}, "result": 1e400}, ${JSON.stringify(stale)}]}`,
    })

    expect(next.status).toBe(201)
    expect(next.json).toMatchObject({
      jobs: [{ name: 'next' }],
      acked: [
        { ...one, outcome: 'acked' },
        { ...stale, outcome: 'lost' },
      ],
    })
    expect((await api.call('GET', `${queue}/jobs/${one.id}`)).text).toContain('"result":1e400')

    const none = await post(`${queue}/claims?wait=10ms`, { acks: [other] })
    expect([none.status, none.json]).toEqual([200, { jobs: [], acked: [{ ...other, outcome: 'acked' }] }])
    expect((await post(`${queue}/claims`, { acks: [] })).status).toBe(400)
  })
})

describe('a request to enqueue', () => {
  const keyed = (queue: string, body: object): Promise<HttpAnswer> =>
    api.call('POST', `${queue}/jobs`, { body, headers: { 'Idempotency-Key': 'order-18' } })

  test('that is repeated with its key is answered with the first job, even if that was deleted', async () => {
    const queue = newQueue()
    const first = await keyed(queue, job)
    const [{ id }] = first.json.jobs
    await api.call('DELETE', `${queue}/jobs/${id}`)

    const again = await keyed(queue, job)

    expect([first.status, again.status]).toEqual([201, 200])
    expect(again.json).toEqual({ jobs: [{ id, duplicate: true }] })
    expect((await post(`${queue}/claims`, {})).status).toBe(204)
  })

  test('may have a key for each of many jobs, but not one for all', async () => {
    const queue = newQueue()
    const jobs = [
      { ...job, idempotencyKey: 'a' },
      { ...job, idempotencyKey: 'b' },
    ]
    expect((await keyed(queue, { jobs })).status).toBe(400)
    expect((await keyed(queue, { ...job, idempotencyKey: 'another' })).status).toBe(400)

    const first = await post(`${queue}/jobs`, { jobs })
    const again = await post(`${queue}/jobs`, { jobs: [...jobs, job] })

    const ids = first.json.jobs.map(({ id }: Held) => id)
    expect(again.json.jobs.map(({ id }: Held) => id).slice(0, 2)).toEqual(ids)
    expect(again.json.jobs.map((each: { duplicate: boolean }) => each.duplicate)).toEqual([true, true, false])
  })
})
