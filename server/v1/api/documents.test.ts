// Large documents of requests: stored as they were sent, and never parsed.

import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())
afterEach(() => void vi.restoreAllMocks())

/** Written as no serializer would write it. */
const DOCUMENT = `{ "body": [ ${'1.50, "a\\u0062", '.repeat(10_000)} null ], "name" : 9007199254740993 }`

/** An entry holds no more. */
const SMALL = `[ ${'1.50, '.repeat(600)} null ]`

interface Case {
  readonly title: string
  /** The route, its request, and where the document is found afterwards. */
  play(name: string): Promise<{ method: string; path: string; body: string; found?: string }>
}

async function claimedJob(name: string): Promise<string> {
  await api.call('POST', `/v1/queues/${name}/jobs`, { body: { id: 'j', name: 'n', payload: 1 } })
  await api.call('PUT', `/v1/queues/${name}`, { body: { keepDone: { count: 10 } } })
  const { json } = await api.call('POST', `/v1/queues/${name}/claims`, { body: {} })
  return String(json.jobs[0].token)
}

const cases: Case[] = [
  {
    title: 'a message',
    play: async (name) => ({
      method: 'POST',
      path: `/v1/feeds/${name}/messages`,
      body: `{"ttl":"1h","body":${DOCUMENT}}`,
      found: `/v1/feeds/${name}/messages`,
    }),
  },
  {
    title: 'messages',
    play: async (name) => ({
      method: 'POST',
      path: `/v1/feeds/${name}/messages`,
      body: `{"messages":[{"body":1},{"body":${DOCUMENT},"ttl":"1h"}]}`,
      found: `/v1/feeds/${name}`,
    }),
  },
  {
    title: 'the payload of a job',
    play: async (name) => ({
      method: 'POST',
      path: `/v1/queues/${name}/jobs`,
      body: `{"jobs":[{"id":"j","name":"n","payload":${DOCUMENT}}]}`,
      found: `/v1/queues/${name}/jobs/j`,
    }),
  },
  {
    title: 'the payload of a recurring job',
    play: async (name) => ({
      method: 'PUT',
      path: `/v1/queues/${name}/recurring/r`,
      body: `{"name":"n","every":"1h","payload":${DOCUMENT}}`,
      found: `/v1/queues/${name}/recurring/r`,
    }),
  },
  {
    title: 'the result of a job',
    play: async (name) => ({
      method: 'PUT',
      path: `/v1/queues/${name}/jobs/j/claims/${await claimedJob(name)}/result`,
      body: DOCUMENT,
    }),
  },
  {
    title: 'the results of jobs',
    play: async (name) => ({
      method: 'POST',
      path: `/v1/queues/${name}/ack`,
      body: `{"jobs":[{"id":"j","token":${await claimedJob(name)},"result":${DOCUMENT}}]}`,
    }),
  },
  {
    title: 'a next job',
    play: async (name) => ({
      method: 'POST',
      path: `/v1/queues/${name}/jobs/j/claims/${await claimedJob(name)}/ack-and-enqueue`,
      body: `{"result":1,"next":{"id":"k","name":"n","payload":${DOCUMENT}}}`,
      found: `/v1/queues/${name}/jobs/k`,
    }),
  },
  {
    title: 'a cached value',
    play: async (name) => ({
      method: 'PUT',
      path: `/v1/caches/${name}/keys/k/value`,
      body: `{"value":${DOCUMENT},"ttl":"1h"}`,
      found: `/v1/caches/${name}/keys/k/value`,
    }),
  },
  {
    title: 'the payload of an entry',
    play: async (name) => ({
      method: 'POST',
      path: `/v1/autocomplete/${name}/entries`,
      body: `{"entries":[${Array.from({ length: 40 }, (_, at) => `{"id":"${at}","text":"found","score":1,"payload":${SMALL}}`).join()}]}`,
    }),
  },
]

function longestParsed(): number {
  return Math.max(0, ...vi.mocked(JSON.parse).mock.calls.map(([text]) => String(text).length))
}

describe.each(cases)('$title', ({ play }) => {
  test('is stored unchanged, and not parsed', async () => {
    const { method, path, body, found } = await play(randomUUID())
    vi.spyOn(JSON, 'parse')
    const { status, text } = await api.call(method, path, { body })
    expect(status < 300 ? 'taken' : text).toBe('taken')
    expect(longestParsed()).toBeLessThan(3000)
    vi.restoreAllMocks()
    if (found === undefined) return
    const shown = (await api.call('GET', found)).text
    expect(shown.includes(DOCUMENT) ? 'unchanged' : shown.slice(0, 500)).toBe('unchanged')
  })

  test('is refused if it is not JSON', async () => {
    const { method, path, body } = await play(randomUUID())
    const { status, json } = await api.call(method, path, { body: body.replace('1.50', '1.') })
    expect([status, json.code, json.detail]).toEqual([
      400,
      'invalid-argument',
      expect.stringContaining('must be JSON'),
    ])
  })
})
