// Rules for every request, whatever its route: its head, how its body is written, and that its answer arrives.

import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from './testing/feed-api.ts'
import { openSocket, readStatus, send, statusOf } from './testing/raw-request.ts'
import { ALICE } from './testing/test-app.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

const JSON_TYPE = 'Content-Type: application/json'
const ZAQAR = [`Client-ID: ${ALICE}`, 'X-Project-ID: p']
const post = (path: string, headers: readonly string[], body = '{"body":1}'): Promise<number> =>
  statusOf(api.url, { method: 'POST', path, headers, body })

/** The statuses of all answers on one connection until its end, the head of the first answer, and the last body. */
async function talk(text: string): Promise<{ statuses: number[]; head: string; last: string }> {
  const socket = await openSocket(api.url)
  let received = ''
  socket.on('data', (piece) => (received += String(piece)))
  socket.write(text)
  await once(socket, 'close')
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))
  const parts = received.split('\r\n\r\n')
  return { statuses, head: parts[0] ?? '', last: parts.at(-1) ?? '' }
}

describe('the head of a request', () => {
  test('is read to its end: the tenant is found after thousands of lines', async () => {
    const feed = api.newFeed()
    const lines = Array.from({ length: 2000 }, () => 'a:b')
    expect(await post(`${feed}/messages`, [...lines, JSON_TYPE, 'X-Project-ID: far'])).toBe(201)
    expect((await api.call('GET', feed, { project: 'far' })).status).toBe(200)
    expect((await api.call('GET', feed, { project: 'default' })).status).toBe(404)
  })

  test('has each field that names the tenant or the idempotency key only once', async () => {
    const fields = [
      'X-Project-ID: p',
      `Client-ID: ${ALICE}`,
      'Idempotency-Key: k',
      'Last-Event-ID: m',
      'Host: localhost',
      JSON_TYPE,
      'URL-Signature: s',
      'URL-Paths: p',
      'URL-Methods: GET',
      'URL-Expires: e',
    ]
    for (const field of fields) {
      for (const path of ['/v1/locks/l', '/v2/queues', '/readyz']) {
        expect(await statusOf(api.url, { path, headers: [...ZAQAR, field, field] }), field).toBe(400)
      }
    }
  })
})

describe('a method that no path has', () => {
  const OTHERS = ['TRACE', 'PROPFIND', 'QUERY', 'M-SEARCH', 'PURGE', 'LOCK', 'OPTIONS']

  test.each(OTHERS)('%s is rejected like others, with the methods that the path has', async (method) => {
    for (const path of ['/v1/feeds/f/messages', '/v2/queues/q/messages']) {
      const body = method === 'PROPFIND' ? 'Content-Length: 2\r\n\r\n{}' : '\r\n'
      const head = `Host: x\r\n${ZAQAR.join('\r\n')}\r\nConnection: close\r\n`
      const { statuses, last, head: answered } = await talk(`${method} ${path} HTTP/1.1\r\n${head}${body}`)
      expect(statuses, path).toEqual([405])
      expect(answered, path).toMatch(/^allow: (?=.*GET)(?=.*POST)/im)
      expect(JSON.parse(last), path).toMatchObject({ title: expect.any(String) })
    }
    expect(await statusOf(api.url, { method, path: '/v1/nothing' })).toBe(404)
  })

  test('CONNECT is answered after the answers before it', async () => {
    const good = 'GET /v1/locks/l HTTP/1.1\r\nHost: x\r\n\r\n'
    const { statuses, last } = await talk(`${good}${good}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`)
    expect(statuses).toEqual([200, 200, 400])
    expect(JSON.parse(last)).toMatchObject({ code: 'invalid-http', detail: 'This service is not a proxy.' })
  })
})

describe('what a client expects', () => {
  const expecting = (expectation: string): ReturnType<typeof talk> =>
    talk(
      `POST ${api.newFeed()}/messages HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}\r\nExpect: ${expectation}\r\n` +
        'Connection: close\r\nContent-Length: 10\r\n\r\n{"body":1}',
    )

  test('is 100-continue', async () => {
    expect((await expecting('100-continue')).statuses).toEqual([100, 201])
    expect((await expecting('100-Continue')).statuses).toEqual([100, 201])
  })

  test('and nothing else, which is rejected by name', async () => {
    const { statuses, last } = await expecting('tea')
    expect(statuses).toEqual([400])
    expect(JSON.parse(last)).toMatchObject({ code: 'invalid-argument', argument: 'Expect' })
  })
})

describe('a body', () => {
  test('that is compressed, or in another charset than UTF-8, is rejected by every route', async () => {
    const forms = [
      ['Content-Encoding: gzip', JSON_TYPE],
      ['Content-Encoding: br, gzip', JSON_TYPE],
      ['Content-Type: application/json; charset=utf-16'],
      ['Content-Type: application/json; charset="iso-8859-1"'],
      ['Content-Type: application/json; x=y; CHARSET = UTF-7'],
    ]
    const described = Object.entries(api.description.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method.toUpperCase(), path.replace(/\{\w+\}/g, '1')] as const),
    )
    const zaqar = ['/messages', '/claims', '/purge', '/share'].map(
      (path) => ['POST', `/v2/queues/q${path}`] as const,
    )
    for (const [method, path] of [...described, ...zaqar]) {
      for (const form of forms) {
        const status = await statusOf(api.url, { method, path, headers: [...ZAQAR, ...form], body: '{}' })
        expect(status, `${method} ${path} ${form.join()}`).toBe(415)
      }
    }
  })

  test('that declares plain UTF-8 is accepted', async () => {
    const types = ['application/json; charset=utf-8', 'application/json;charset="UTF-8"']
    for (const type of types) {
      const path = `${api.newFeed()}/messages`
      expect(await post(path, ['Content-Encoding: identity', `Content-Type: ${type}`])).toBe(201)
    }
  })
})

describe('an answer', () => {
  test('to a body that is too large arrives, also if the client reads only after it has sent everything', async () => {
    for (const path of ['/v1/feeds/f/messages', '/v2/queues/q/messages']) {
      const socket = await openSocket(api.url)
      send(socket, { method: 'POST', path, headers: [...ZAQAR, JSON_TYPE], length: 20_000_000 })
      const left = once(socket, 'close')
      for (let at = 0; at < 20 && !socket.destroyed; at += 1) {
        if (!socket.write(Buffer.alloc(1_000_000))) await Promise.race([once(socket, 'drain'), left])
      }
      expect([400, 413], path).toContain(await readStatus(socket))
      socket.destroy()
    }
  })

  test('to a body that is too large leaves the connection to the next request', async () => {
    const large = 'x'.repeat(1_000_000)
    const head = `Host: x\r\n${JSON_TYPE}\r\n`
    const { statuses } = await talk(
      `POST /v1/locks/l/leases HTTP/1.1\r\n${head}Content-Length: ${large.length}\r\n\r\n${large}` +
        `GET /v1/locks/l HTTP/1.1\r\n${head}Connection: close\r\n\r\n`,
    )
    expect(statuses).toEqual([413, 200])
  })

  test('to a good request is not replaced by the one to the garbage after it', async () => {
    const feed = api.newFeed()
    const good = `POST ${feed}/messages HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}\r\nContent-Length: 10\r\n\r\n{"body":1}`
    const { statuses, last } = await talk(`${good}${good}GARBAGE\0\r\n\r\n`)
    expect(statuses).toEqual([201, 201, 400])
    expect(JSON.parse(last)).toMatchObject({ status: 400, code: 'invalid-http', title: 'Bad Request' })
    expect((await api.call('GET', feed, { project: 'default' })).json.total).toBe(2)
  })

  test('to a request that breaks off in its body arrives, after those before it', async () => {
    const feed = api.newFeed()
    const head = `POST ${feed}/messages HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}\r\n`
    const good = `${head}Content-Length: 10\r\n\r\n{"body":1}`
    const { statuses } = await talk(
      `${good}${head}Transfer-Encoding: chunked\r\n\r\nZZ\r\n{"body":2}\r\n0\r\n\r\n`,
    )
    expect(statuses).toEqual([201, 400])
  })
})

describe('a request after another one on its connection', () => {
  const behind = async (first: string): Promise<{ statuses: number[]; isDone: boolean }> => {
    const feed = api.newFeed()
    const head = `Host: x\r\n${JSON_TYPE}\r\nX-Project-ID: p\r\nConnection: close\r\nContent-Length: 10`
    const { statuses } = await talk(`${first}POST ${feed}/messages HTTP/1.1\r\n${head}\r\n\r\n{"body":1}`)
    await setTimeout(50)
    return { statuses, isDone: (await api.call('GET', feed, { project: 'p' })).status === 200 }
  }

  test('that asks to close is not processed', async () => {
    for (const wish of ['close', 'te, Close', 'close\t', 'keep-alive\r\nConnection: close']) {
      const first = `GET /v1/locks/l HTTP/1.1\r\nHost: x\r\nConnection: ${wish}\r\n\r\n`
      expect(await behind(first), wish).toEqual({ statuses: [200], isDone: false })
      const second = `GET /v1/locks/k HTTP/1.1\r\nHost: x\r\n\r\n${first}`
      expect(await behind(second), wish).toEqual({ statuses: [200, 200], isDone: false })
    }
  })

  test('that names no host is answered', async () => {
    const { statuses, isDone } = await behind('GET /v1/locks/l HTTP/1.1\r\n\r\n')
    expect({ statuses, isDone }).toEqual({ statuses: [400, 201], isDone: true })
  })
})
