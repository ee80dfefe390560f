// What others have stored as JSON and is none: everything else is answered as if it were not there.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { jsonText } from 'perilune'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { bodiesOf, type FeedApi, startFeedApi } from './testing/feed-api.ts'
import { startApp } from './testing/test-app.ts'

const BAD = 'no "JSON'
const UNDECODABLE = {
  base64: Buffer.from(BAD).toString('base64'),
  error: expect.stringContaining('SyntaxError'),
}

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

describe('a message that is no JSON', () => {
  async function setup() {
    const name = randomUUID()
    const feed = `/v1/feeds/${name}`
    await api.append(feed, 1, 2)
    const { id } = await api.perilune.feed(`v1:test/${name}`, { codec: jsonText }).append(BAD)
    await api.append(feed, 3)
    return { feed, id }
  }

  test('stands beside the others of a page, by its bytes', async () => {
    const { feed, id } = await setup()
    const page = await api.call('GET', `${feed}/messages`)
    expect(bodiesOf(page)).toEqual([1, 2, 3])
    expect(page.json.undecodable).toEqual([expect.objectContaining({ id, ...UNDECODABLE })])
    expect((await api.call('GET', `${feed}/messages/${id}`)).json).toMatchObject({ id, ...UNDECODABLE })
  })

  test('is shown as the oldest and the newest', async () => {
    const name = randomUUID()
    await api.perilune.feed(`v1:test/${name}`, { codec: jsonText }).append(BAD)
    expect((await api.call('GET', `/v1/feeds/${name}`)).json).toMatchObject({
      oldest: UNDECODABLE,
      newest: UNDECODABLE,
    })
  })

  test('becomes a dead letter of the claim that meets it', async () => {
    const { feed, id } = await setup()
    const claim = await api.call('POST', `${feed}/claims`)
    const letters = await api.call('GET', `${feed}/dead-letters/messages`)
    expect(bodiesOf(claim)).toEqual([1, 2, 3])
    expect([letters.json.messages, letters.json.undecodable]).toMatchObject([[], [{ id, ...UNDECODABLE }]])
    const { status } = await api.call('DELETE', `${feed}/claims/${claim.json.token}/messages`)
    expect([status, (await api.call('DELETE', `${feed}/dead-letters/messages/${id}`)).status]).toEqual([
      204, 204,
    ])
  })

  test('is an event of its own', async () => {
    const { feed } = await setup()
    const ending = new AbortController()
    const response = await fetch(`${api.url}${feed}/tail`, {
      signal: ending.signal,
      headers: { 'X-Project-ID': 'test' },
    })
    let text = ''
    const reading = (async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString()
    })().catch(() => undefined)
    while (!text.includes('"body":3')) await sleep(5)
    ending.abort()
    await reading
    expect(text.match(/event: \w+/g)).toEqual(['event: undecodable', ...Array(3).fill('event: message')])
    expect(text).toContain(UNDECODABLE.base64)
  })

  test('is passed over in /v2', async () => {
    await using app = await startApp(inject('redisPort'))
    const queue = `/v2/queues/${randomUUID()}`
    const call = (method: string, path: string, body?: object) =>
      app.call(method, `${queue}${path}`, body === undefined ? {} : { body })
    const post = (body: unknown) => call('POST', '/messages', { messages: [{ ttl: 300, body }] })
    await post(1)
    const [key = ''] = await app.client.keys(`*${queue.split('/').at(-1)}*log`)
    const name = /\{feed:(.*)\}/.exec(key)?.[1] ?? ''
    await app.perilune.feed(name, { codec: jsonText }).append(BAD)
    await post(2)
    const bodies = async (answer: Promise<{ json: { messages: { body: unknown }[] } }>) =>
      (await answer).json.messages.map(({ body }) => body)
    expect(await bodies(call('GET', '/messages?echo=true'))).toEqual([1, 2])
    expect((await call('GET', '/stats')).status).toBe(200)
    expect(await bodies(call('POST', '/claims', { ttl: 60, grace: 60 }))).toEqual([1, 2])
  })
})
