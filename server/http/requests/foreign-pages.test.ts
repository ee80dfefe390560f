// A page in a browser can do nothing to the service of its reader.

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import type { HttpAnswer } from '../../testing/test-app.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

const EVIL = 'https://evil.example'
const codeOf = ({ status, json }: HttpAnswer): unknown[] => [status, json?.code]
const newLock = (): string => `/v1/locks/${randomUUID()}/leases`

/** Every described route, with values for its parameters. */
function routes(): [method: string, path: string][] {
  return Object.entries(api.description.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method): [string, string] => [
      method.toUpperCase(),
      path.replace(/\{\w+\}/g, '1'),
    ]),
  )
}

test('every route rejects pages of another origin', async () => {
  const all = routes()
  expect(all.length).toBeGreaterThan(80)
  for (const [method, path] of all) {
    const answer = await api.call(method, path, { headers: { Origin: EVIL } })
    expect(codeOf(answer), `${method} ${path}`).toEqual([403, 'foreign-origin'])
  }
})

test.each(['null', 'http://localhost:1', 'file://', 'no origin'])('%s is another origin', async (origin) => {
  expect(codeOf(await api.call('POST', newLock(), { headers: { Origin: origin } }))).toEqual([
    403,
    'foreign-origin',
  ])
})

test('its own origin is accepted, whatever scheme a proxy has given it', async () => {
  for (const origin of [api.url, api.url.replace('http:', 'https:')]) {
    expect((await api.call('POST', newLock(), { headers: { Origin: origin } })).status).toBe(201)
  }
})

test('no answer allows a page to send requests', async () => {
  const headers = { Origin: EVIL, 'Access-Control-Request-Method': 'POST' }
  const answer = await api.call('OPTIONS', newLock(), { headers })

  expect(codeOf(answer)).toEqual([403, 'foreign-origin'])
  expect(answer.headers.get('access-control-allow-origin')).toBe(null)
})

test('every POST is application/json, also one without a body', async () => {
  const posts = routes().filter(([method]) => method === 'POST')
  for (const [method, path] of posts) {
    for (const type of [null, 'text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
      const answer = await api.call(method, path, { headers: { 'Content-Type': type } })
      expect(codeOf(answer), `${method} ${path} ${type}`).toEqual([415, 'unsupported-media-type'])
    }
  }
  const taken = await api.call('POST', newLock(), {
    headers: { 'Content-Type': 'Application/JSON; charset=utf-8' },
  })
  expect(taken.status).toBe(201)
})

test('/v2 rejects pages of another origin', async () => {
  const path = `/v2/queues/${randomUUID()}/claims`

  const { status, json } = await api.call('POST', path, { headers: { Origin: EVIL } })

  expect([status, json.title]).toEqual([403, 'Forbidden'])
})
