// Stored data that other programs wrote and that is not JSON: all valid data next to it is still answered.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { jsonText, type Queue } from 'perilune'
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

describe('a message that is not JSON', () => {
  async function setup() {
    const name = randomUUID()
    const feed = `/v1/feeds/${name}`
    await api.append(feed, 1, 2)
    const { id } = await api.perilune.feed(`v1:test/${name}`, { codec: jsonText }).append(BAD)
    await api.append(feed, 3)
    return { feed, id }
  }

  test('is listed among the others of a page, by its bytes', async () => {
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

  test('is skipped in /v2', async () => {
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

describe.each(['', '?partitions=2'])('a payload that is not JSON, in a queue%s', (query) => {
  async function setup() {
    const name = randomUUID()
    const path = `/v1/queues/${name}`
    const options = { codec: jsonText, ...(query === '' ? {} : { partitions: 2 }) }
    const raw = api.perilune.queue(`v1:test/${name}`, options as never) as unknown as Queue
    const enqueue = async (payload: number) =>
      (await api.call('POST', `${path}/jobs${query}`, { body: { name: 'j', payload, group: 'g' } })).json
        .jobs[0].id
    const ids = [await enqueue(1)]
    const bad = (await raw.enqueue('j', BAD, { group: 'g' })).id
    ids.push(await enqueue(2))
    return { path, raw, bad, ids }
  }

  test('is dead once it is claimed, and the others are claimed', async () => {
    const { path, bad } = await setup()
    const { json } = await api.call('POST', `${path}/claims${query}`, { body: { limit: 3 } })
    expect(json.jobs.map(({ payload }: { payload: unknown }) => payload)).toEqual([1, 2])
    expect((await api.call('GET', `${path}/jobs/${bad}${query}`)).json).toMatchObject({
      state: 'dead',
      failure: { kind: 'undecodable-payload' },
      payload: null,
      undecodable: [{ part: 'payload', ...UNDECODABLE }],
    })
  })

  test('keeps its place in each list, and so does a result', async () => {
    const { path, raw, ids, bad } = await setup()
    const and = query === '' ? '?' : `${query}&`
    const page = await api.call('GET', `${path}/jobs${and}state=grouped`)
    expect(page.json.jobs).toMatchObject([
      { payload: 1, undecodable: [] },
      { id: bad, payload: null, undecodable: [{ part: 'payload', ...UNDECODABLE }] },
      { payload: 2, undecodable: [] },
    ])
    await raw.jobs.cancel([bad])
    const dependent = await raw.enqueue('j', '3', { dependsOn: ids, group: 'g' })
    for (const job of await raw.claim({ limit: 2 })) await job.ack(job.payload === '1' ? BAD : '2')
    const dependencies = await api.call('GET', `${path}/jobs/${dependent.id}/dependencies${query}`)
    expect(dependencies.json.dependencies).toMatchObject([
      { result: null, undecodable: [{ part: 'result', ...UNDECODABLE }] },
      { result: 2, undecodable: [] },
    ])
  })
})
