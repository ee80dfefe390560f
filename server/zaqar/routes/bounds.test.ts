// The cost of one permitted request: everything that a client can multiply has a bound.

import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { zaqarLimits } from '../settings/limits.ts'
import { type HttpAnswer, BOB, startApp, type TestApp } from '../../testing/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp(inject('redisPort'))
})
afterAll(() => app[Symbol.asyncDispose]())

let queues = 0
const newQueue = (): string => `/v2/queues/bounds-${(queues += 1)}`

const post = (queue: string, count: number): Promise<HttpAnswer> =>
  app.call('POST', `${queue}/messages`, {
    body: { messages: Array.from({ length: count }, () => ({ body: 1 })) },
  })

test('a page looks through ten thousand messages that it hides, and its link continues from there', async () => {
  const queue = newQueue()
  for (let round = 0; round < 13; round += 1) await post(queue, 1000)
  const sent = { messages: [{ body: 'theirs' }] }
  await app.call('POST', `${queue}/messages`, { body: sent, client: BOB })

  const page = await app.call('GET', `${queue}/messages?limit=1`)
  const [link] = page.json.links
  const next = await app.call('GET', link.href)

  expect([page.json.messages, link.rel]).toEqual([[], 'next'])
  expect(next.json.messages).toMatchObject([{ body: 'theirs' }])
  expect((await app.call('GET', next.json.links[0].href)).json).toEqual({ messages: [], links: [] })
})

test('a page of the native API does the same', async () => {
  const place = '/v1/feeds/bounds/messages'
  const messages = Array.from({ length: 1000 }, () => ({ body: 1 }))
  for (let round = 0; round < 13; round += 1) {
    await app.call('POST', `${place}?origin=me`, { body: { messages } })
  }
  await app.call('POST', place, { body: { body: 'theirs' } })
  const read = (after: string) =>
    app.call('GET', `${place}?origin=me&echo=false&limit=1&wait=1s&after=${after}`)

  const page = (await app.call('GET', `${place}?origin=me&echo=false&limit=1&wait=1s`)).json
  expect([page.messages, page.more]).toEqual([[], true])
  expect((await read(page.next)).json.messages).toMatchObject([{ body: 'theirs' }])
})

test('a search for queues looks through ten thousand names, and its link continues from there', async () => {
  const project = 'bounds'
  const catalog = app.perilune.catalog<object>(`p:${project}`)
  const names = Array.from({ length: 10_500 }, (_, at) => `a${at + 100_000}`)
  await Promise.all([...names, 'z'].map((name) => catalog.put(name, {})))

  const page = await app.call('GET', '/v2/queues?name=z', { project })
  const next = await app.call('GET', page.json.links[0].href, { project })

  expect([page.json.queues, page.json.links.length]).toEqual([[], 1])
  expect(next.json.queues).toMatchObject([{ name: 'z' }])
  expect((await app.call('GET', next.json.links[0].href, { project })).json.links).toEqual([])
})

test('a post of more messages than one request may have is rejected with 400 and stores none', async () => {
  const queue = newQueue()
  const { maxMessagesPerPost } = zaqarLimits

  expect((await post(queue, maxMessagesPerPost + 1)).status).toBe(400)
  expect((await app.call('GET', `${queue}/stats`)).json.messages.total).toBe(0)
  expect((await post(queue, maxMessagesPerPost)).status).toBe(201)
})
