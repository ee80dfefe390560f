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
const get = (path: string): Promise<HttpAnswer> => api.call('GET', path)
const put = (path: string, body: unknown): Promise<HttpAnswer> => api.call('PUT', path, { body })
const remove = (path: string): Promise<HttpAnswer> => api.call('DELETE', path)
const job = { name: 'digest', payload: { to: 'ada' } }

describe('recurring jobs', () => {
  test('are set, looked up and listed', async () => {
    const queue = newQueue()
    const options = { missed: { upTo: 3 }, limit: 7, until: 4_000_000_000_000, unique: 'key', maxRun: '1m' }
    const first = await put(`${queue}/recurring/by%2Fcron`, {
      ...job,
      ...options,
      cron: '0 9 * * MON',
      timeZone: 'Europe/Berlin',
    })
    expect([first.status, first.json]).toEqual([200, { id: 'by/cron', nextAtMs: expect.any(Number) }])
    const { json: hourly } = await put(`${queue}/recurring/hourly`, { ...job, every: '1h', offset: '5m' })
    expect(hourly.nextAtMs % 3_600_000).toBe(300_000)

    const { json } = await get(`${queue}/recurring/by%2Fcron`)
    expect(json).toMatchObject({
      ...job,
      id: 'by/cron',
      rule: { kind: 'cron', cron: '0 9 * * MON', timeZone: 'Europe/Berlin', missed: 3 },
      nextAtMs: first.json.nextAtMs,
      lastAtMs: null,
      lastJobId: null,
      runs: 0,
      limit: 7,
      untilMs: 4_000_000_000_000,
      unique: 'key',
      maxRunMs: 60_000,
    })
    const { json: second } = await get(`${queue}/recurring/hourly`)
    expect(second.rule).toEqual({ kind: 'interval', everyMs: 3_600_000, offsetMs: 300_000, missed: 1 })
    // The hour of the week decides which one is due sooner.
    const [sooner, later] = hourly.nextAtMs < json.nextAtMs ? [second, json] : [json, second]
    const page = await get(`${queue}/recurring?limit=1`)
    expect(page.json.recurring).toEqual([sooner])
    const rest = await get(`${queue}/recurring?after=${page.json.next}`)
    expect(rest.json.recurring).toEqual([later])
  })

  test('are spawned by a claim, with the payload unchanged', async () => {
    const queue = newQueue()
    await put(`${queue}/recurring/often`, { name: 'n', payload: 1.5, every: '1s' })

    const { json } = await api.call('POST', `${queue}/claims?wait=10s`, { body: {} })

    expect(json.jobs).toMatchObject([
      { id: expect.stringMatching(/^often@\d+$/), name: 'n', payload: 1.5, attempt: 1 },
    ])
  })

  test('are removed, which may be repeated', async () => {
    const queue = newQueue()
    await put(`${queue}/recurring/often`, { ...job, every: '1h' })

    expect((await remove(`${queue}/recurring/often`)).status).toBe(204)
    expect((await remove(`${queue}/recurring/often`)).status).toBe(204)

    expect(await get(`${queue}/recurring/often`)).toMatchObject({ status: 404, json: { code: 'not-found' } })
    expect((await get(`${queue}/recurring`)).json).toEqual({ recurring: [], next: null })
  })

  test.each([
    ['recurrence', {}],
    ['recurrence', { every: '1h', cron: '@daily' }],
    ['cron', { cron: 'at noon' }],
    ['timeZone', { cron: '@daily', timeZone: 'Berlin' }],
    ['offset', { every: '1h', offset: '1h' }],
    ['missed', { every: '1h', missed: 'all' }],
    ['unique.replace', { every: '1h', unique: { key: 'a', replace: true } }],
  ])('are rejected if %s is invalid', async (argument, wrong) => {
    const { status, json } = await put(`${newQueue()}/recurring/x`, { ...job, ...wrong })
    expect([status, json.argument]).toEqual([400, argument])
  })
})
