import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type EventReader, openEvents } from '../../testing/events.ts'
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
const put = (path: string, body?: unknown): Promise<HttpAnswer> => api.call('PUT', path, { body })
const post = (path: string, body?: unknown): Promise<HttpAnswer> => api.call('POST', path, { body })
const remove = (path: string): Promise<HttpAnswer> => api.call('DELETE', path)

async function claimed(queue: string, id: string, more: object = {}): Promise<number> {
  await post(`${queue}/jobs`, { name: 'n', payload: 1, id, ...more })
  return (await post(`${queue}/claims`, {})).json.jobs[0].token
}

describe('the observability of jobs', () => {
  test('includes their progress, unchanged, and their log', async () => {
    const queue = newQueue()
    const token = await claimed(queue, 'a')
    const claim = `${queue}/jobs/a/claims/${token}`

    expect((await put(`${claim}/progress`, { done: 0.5 })).status).toBe(204)
    expect((await post(`${claim}/log`, { line: 'half of it' })).status).toBe(204)
    expect((await post(`${queue}/jobs/a/log`, { line: 'seen' })).status).toBe(204)
    const { json } = await get(`${queue}/jobs/a`)
    expect(json).toMatchObject({ progress: { done: 0.5 }, isTracked: false })
    expect(json.log.map(({ line }: { line: string }) => line)).toEqual(['half of it', 'seen'])
    expect(codeOf(await post(`${queue}/jobs/absent/log`, { line: 'x' }))).toEqual([404, 'not-found'])
    expect(codeOf(await put(`${queue}/jobs/a/claims/1/progress`, 1))).toEqual([410, 'lease-lost'])
    expect(codeOf(await post(`${queue}/jobs/a/claims/1/log`, { line: 'x' }))).toEqual([410, 'lease-lost'])
    expect((await put(`${claim}/progress`)).status).toBe(400)
  })

  test('includes their history', async () => {
    const queue = newQueue()
    const token = await claimed(queue, 'a')
    await post(`${queue}/jobs/a/claims/${token}/retry`, { delay: '1h', kind: 'odd' })

    const { json } = await get(`${queue}/jobs/a/history`)
    expect(json).toMatchObject({
      id: 'a',
      omitted: 0,
      entries: [
        { what: 'enqueued', token: null },
        { what: 'claimed', token },
        { what: 'retried', kind: 'odd' },
      ],
    })
    expect(codeOf(await get(`${queue}/jobs/absent/history`))).toEqual([404, 'not-found'])
  })
})

describe('results', () => {
  test('includes their end, which requests wait for, and results that are stored on request', async () => {
    const queue = newQueue()
    const token = await claimed(queue, 'a', { resultTtl: '1h' })
    expect((await get(`${queue}/jobs/a/result`)).status).toBe(204)
    expect((await get(`${queue}/jobs/a/result?wait=10ms`)).status).toBe(204)
    const waiting = get(`${queue}/jobs/a/result?wait=30s`)
    await put(`${queue}/jobs/a/claims/${token}/result`, { sum: 1.0 })

    const end = { id: 'a', state: 'done', failure: null, result: { sum: 1 }, undecodable: [] }
    expect((await waiting).json).toEqual(end)
    expect((await get(`${queue}/jobs/a/result`)).json).toEqual(end)
    expect(codeOf(await get(`${queue}/jobs/absent/result?wait=30s`))).toEqual([404, 'not-found'])
  })

  test('includes why a job is dead', async () => {
    const queue = newQueue()
    const token = await claimed(queue, 'a')
    await post(`${queue}/jobs/a/claims/${token}/fail`, { kind: 'bad', message: 'no' })
    const { json } = await get(`${queue}/jobs/a/result?wait=1s`)
    expect(json).toEqual({
      id: 'a',
      state: 'dead',
      failure: { kind: 'bad', message: 'no' },
      result: null,
      undecodable: [],
    })
  })
})

describe('tags', () => {
  test('includes tags, which are added, removed and counted', async () => {
    const queue = newQueue()
    await post(`${queue}/jobs`, { name: 'n', payload: 1, id: 'a', tags: ['x/y'] })
    await post(`${queue}/jobs`, { name: 'n', payload: 1, id: 'b', tags: ['z'] })

    expect((await post(`${queue}/jobs/a/tags`, { tags: ['z', 'x/y'] })).json).toEqual({
      id: 'a',
      tags: ['x/y', 'z'],
    })
    expect((await get(`${queue}/tags?limit=1`)).json).toEqual({ tags: [{ tag: 'z', count: 2 }] })
    expect((await remove(`${queue}/jobs/a/tags/x%2Fy`)).json).toEqual({ id: 'a', tags: ['z'] })
    expect((await get(`${queue}/search?tag=z&limit=1`)).json).toMatchObject({ jobs: [{ id: 'a' }] })
    expect(codeOf(await post(`${queue}/jobs/absent/tags`, { tags: ['z'] }))).toEqual([404, 'not-found'])
    expect(codeOf(await remove(`${queue}/jobs/absent/tags/z`))).toEqual([404, 'not-found'])
  })

  test('includes tracking', async () => {
    const queue = newQueue()
    await post(`${queue}/jobs`, { name: 'n', payload: 1, id: 'a' })
    expect((await put(`${queue}/jobs/a/track`)).status).toBe(204)
    expect((await get(`${queue}/tracked`)).json).toMatchObject({
      jobs: [{ id: 'a', isTracked: true }],
      next: null,
    })
    expect((await remove(`${queue}/jobs/a/track`)).status).toBe(204)
    expect((await get(`${queue}/tracked`)).json).toEqual({ jobs: [], next: null })
    expect(codeOf(await put(`${queue}/jobs/absent/track`))).toEqual([404, 'not-found'])
    expect(codeOf(await remove(`${queue}/jobs/absent/track`))).toEqual([404, 'not-found'])
  })
})

describe('events', () => {
  const listen = (queue: string, query = ''): Promise<EventReader> =>
    openEvents(`${api.url}${queue}/events${query}`, { 'X-Project-ID': 'test' })

  test('includes a stream of events, of the requested kinds', async () => {
    const queue = newQueue()
    await using events = await listen(queue, '?kinds=enqueued,cancelled&name=n')
    expect([events.status, events.type]).toEqual([200, 'text/event-stream'])
    const first = events.nextNamed()
    let heard = false
    void first.then(() => (heard = true))
    while (!heard) {
      await post(`${queue}/jobs`, { name: 'n', payload: 1, id: 'a' })
      await remove(`${queue}/jobs/a`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const event = await first
    expect(['enqueued', 'cancelled']).toContain(event?.event)
    expect(JSON.parse(event?.data ?? '')).toMatchObject({
      id: 'a',
      name: 'n',
      attempt: null,
      isTracked: false,
    })
  })

  test('needs known kinds', async () => {
    expect(codeOf(await get(`${newQueue()}/events?kinds=odd`))).toEqual([400, 'invalid-argument'])
  })
})
