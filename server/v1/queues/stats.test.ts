import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

test('statistics count the events of all jobs and of one name', async () => {
  const queue = `/v1/queues/${randomUUID()}`
  const job = { payload: null }
  const jobs = [
    { name: 'mail', ...job },
    { name: 'image', ...job },
  ]
  await api.call('POST', `${queue}/jobs`, { body: { jobs } })
  const { json: claimed } = await api.call('POST', `${queue}/claims`, { body: { limit: 2 } })
  const [{ id, token }] = claimed.jobs
  await api.call('DELETE', `${queue}/jobs/${id}/claims/${token}`)

  const { status, json } = await api.call('GET', `${queue}/stats?by=day&last=2`)
  const ofMail = await api.call('GET', `${queue}/stats?name=mail`)

  expect(status).toBe(200)
  expect(json.names).toEqual(['mail', 'image'])
  expect(json.periods).toHaveLength(2)
  expect(json.total).toMatchObject({ enqueued: 2, acked: 1, wait: { count: 2 }, run: { count: 1 } })
  expect(ofMail.json.periods).toHaveLength(120)
  expect(ofMail.json.total).toMatchObject({ acked: 1, wait: { count: 1 }, run: { count: 1 } })
})

test.each([
  ['by', 'by=week'],
  ['last', 'last=121'],
  ['from', 'from=yesterday'],
  ['since', 'since=1'],
])('an invalid argument is rejected by its name: %s', async (argument, query) => {
  const { status, json } = await api.call('GET', `/v1/queues/${randomUUID()}/stats?${query}`)

  expect([status, json.code, json.argument]).toEqual([400, 'invalid-argument', argument])
})
