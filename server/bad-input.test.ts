// Any input gets a documented 4xx answer: never a 500, never silence, and no other client waits.

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from './testing/feed-api.ts'
import { openSocket, type RawRequest, readStatus, send, statusOf } from './testing/raw-request.ts'
import { type Items, sqliteItems } from './testing/items.ts'
import { ALICE } from './testing/test-app.ts'

let api: FeedApi
let items: Items
beforeAll(async () => {
  items = await sqliteItems()
  api = await startFeedApi(inject('redisPort'), {
    requestTimeoutMs: 1000,
    counters: { f: { ...items.entry, project: 'bad' } },
  })
})
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  await items.close()
})

const HEADERS = [`Client-ID: ${ALICE}`, 'X-Project-ID: bad', 'Content-Type: application/json']
const FEED = '/v1/feeds/f'
const QUEUE = '/v2/queues/q'
const LOCK = '/v1/locks/l'
const SEMAPHORE = '/v1/semaphores/s'
const SUBJECT = '/v1/rate-limits/r/subjects/s'
const KEY = '/v1/once/o/keys/k'
const JOBS = '/v1/queues/q'
const INDEX = '/v1/autocomplete/a'
const CACHED = '/v1/caches/c/keys/k'
const COUNTERS = '/v1/counters/f'
type Target = readonly [version: '/v1' | '/v2', method: string, path: string]

const QUEUE_TARGETS: readonly Target[] = [
  ['/v2', 'POST', `${QUEUE}/messages`],
  ['/v2', 'POST', `${QUEUE}/claims`],
  ['/v2', 'PATCH', `${QUEUE}/claims/1`],
  ['/v2', 'PUT', QUEUE],
]
// Values for the parameters of a path.
const VALUES: Readonly<Record<string, string>> = { name: 'f', subscriber: 's', subject: 's', key: 'k' }

/** Every route that takes a body; in /v1 as the service describes them. */
let targets: readonly Target[]
beforeAll(() => {
  const described = Object.entries(api.description.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { requestBody }]) => requestBody !== undefined)
      .map(
        ([method]): Target => [
          '/v1',
          method.toUpperCase(),
          path.replace(/\{(\w+)\}/g, (_, parameter: string) => VALUES[parameter] ?? '1'),
        ],
      ),
  )
  targets = [...described, ...QUEUE_TARGETS]
})
const MEMBERS =
  'messages body limit lease from marker ttl __proto__ limits window weight cost shared jobs ids name payload token next result dependsOn add remove entries text id score value keys tag tags ttl version by increments notes'.split(
    ' ',
  )
const ROOTS =
  '/v1/feeds /v1/queues /v2/queues /v1/locks /v1/elections /v1/semaphores /v1/rate-limits /v1/once /v1/autocomplete /v1/caches /v1/counters /v1/counters/f'.split(
    ' ',
  )
const TOO_LARGE = { '/v1': [413], '/v2': [400, 413] }

const raw = (request: RawRequest): Promise<number> => statusOf(api.url, { headers: HEADERS, ...request })
const alive = async (): Promise<void> => {
  expect(await raw({ path: `${FEED}/messages` })).toBe(200)
  expect(await raw({ path: `${QUEUE}/messages` })).toBe(200)
}

describe('a body', () => {
  test('that is not UTF-8 is rejected', async () => {
    const broken = [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80], [0xc0, 0x80]]
    for (const [, method, path] of targets) {
      for (const bytes of broken) {
        const body = Buffer.concat([Buffer.from('{"body":"'), Buffer.from(bytes), Buffer.from('"}')])
        expect(await raw({ method, path, body }), `${method} ${path}`).toBe(400)
      }
    }
  })

  test('that is not JSON is rejected', async () => {
    const broken = ['{', '}', 'nul', '{"a":1,}', "{'a':1}", '\ufeff{}', '{"body":1}x', '[1', '"', '01', '\0']
    for (const [, method, path] of targets) {
      for (const body of broken) expect(await raw({ method, path, body }), `${path} ${body}`).toBe(400)
    }
  })

  test('of 10 MB is rejected as too large', async () => {
    for (const [version, method, path] of targets) {
      const body = `{"body":"${'x'.repeat(10_000_000)}"}`
      expect(TOO_LARGE[version], `${method} ${path}`).toContain(await raw({ method, path, body }))
    }
    await alive()
  })

  test('that announces 10 MB is rejected before it is sent', async () => {
    for (const [version, method, path] of targets) {
      const status = await raw({ method, path, body: '{', length: 10_000_000 })
      expect(TOO_LARGE[version], `${method} ${path}`).toContain(status)
    }
  })

  test('in chunks that grows too large is rejected', async () => {
    for (const [version, method, path] of targets) {
      const socket = await openSocket(api.url)
      send(socket, { method, path, headers: [...HEADERS, 'Transfer-Encoding: chunked'] })
      const piece = 'x'.repeat(65_536)
      for (let at = 0; at < 100 && !socket.destroyed; at += 1) socket.write(`10000\r\n${piece}\r\n`)
      expect(TOO_LARGE[version], path).toContain(await readStatus(socket))
      socket.destroy()
    }
  })

  test('that is nested 10,000 deep is accepted as a message and rejected otherwise', async () => {
    const deep = '['.repeat(10_000) + ']'.repeat(10_000)
    const post = (path: string, body: string) => raw({ method: 'POST', path, body })
    expect(await post(`${FEED}/messages`, `{"body":${deep}}`)).toBe(201)
    expect(await post(`${QUEUE}/messages`, `{"messages":[{"body":${deep}}]}`)).toBe(201)
    expect(await raw({ path: `${FEED}/messages` })).toBe(200)
    expect(await raw({ path: `${QUEUE}/messages?echo=true` })).toBe(200)
    for (const [, method, path] of targets) {
      // 410: a result may be any JSON, and the attempt is over.
      const known = `{"limit":${deep},"ttl":${deep},"_max_claim_count":${deep}}`
      expect([400, 410], `${method} ${path}`).toContain(await raw({ method, path, body: deep }))
      expect([400, 410], `${method} ${path}`).toContain(await raw({ method, path, body: known }))
    }
  })

  test('with half a surrogate pair is accepted as a message and rejected as a name', async () => {
    const half = String.raw`"\ud800"`
    const messages = (body: string) => raw({ method: 'POST', path: `${FEED}/messages`, body })
    expect(await messages(`{"body":${half}}`)).toBe(201)
    expect(await messages(`{"body":1,"idempotencyKey":${half}}`)).toBe(400)
    expect(
      await raw({ method: 'POST', path: `${QUEUE}/messages`, body: `{"messages":[{"body":${half}}]}` }),
    ).toBe(201)
    const marker = await raw({ method: 'PATCH', path: `${FEED}/subscribers/s`, body: `{"cursor":${half}}` })
    const dead = await raw({ method: 'PUT', path: QUEUE, body: `{"_dead_letter_queue":${half}}` })
    expect([marker, dead]).toEqual([400, 400])
  })

  test('of any JSON is answered, and never with a 500', async () => {
    const value = fc.jsonValue({ maxDepth: 3 })
    const known = fc.constantFrom(...MEMBERS)
    const body = fc.oneof(value, fc.dictionary(known, value), fc.record({ messages: fc.array(value) }))
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...targets), body, async ([, method, path], json) => {
        const status = await raw({ method, path, body: JSON.stringify(json) })
        expect([200, 201, 204, 400, 404, 409, 410, 415, 422, 429]).toContain(status)
      }),
      { numRuns: 300 },
    )
  })
})

describe('a path', () => {
  test('of any bytes is answered, and never with a 500', async () => {
    const piece = fc.oneof(
      fc.string({ unit: 'grapheme' }).map(encodeURIComponent),
      fc
        .uint8Array({ maxLength: 6 })
        .map((bytes) => [...bytes].map((b) => `%${b.toString(16).padStart(2, '0')}`).join('')),
      fc.constantFrom(
        '..',
        '.',
        '',
        '%',
        '%2',
        '%zz',
        'a%2Fb',
        '%00',
        '*',
        ';',
        'messages',
        'claims',
        'tail',
        'leases',
        'subjects',
        'keys',
        'jobs',
        'dead',
        'entries',
        'suggestions',
        'value',
        'loads',
        'invalidations',
        'values',
        'notes',
      ),
    )
    const path = fc.tuple(fc.constantFrom(...ROOTS), fc.array(piece, { maxLength: 5 }))
    await fc.assert(
      fc.asyncProperty(path, fc.constantFrom('GET', 'DELETE', 'PUT'), async ([root, pieces], method) => {
        const status = await raw({ method, path: [root, ...pieces].join('/') })
        expect([200, 201, 204, 400, 404, 405, 410]).toContain(status)
      }),
      { numRuns: 300 },
    )
  })

  test('of 15 KB is rejected', async () => {
    for (const root of [FEED, QUEUE]) {
      expect(await raw({ path: `${root}${'x'.repeat(15_000)}/messages` })).toBe(400)
    }
    for (const root of [LOCK, SEMAPHORE, SUBJECT, KEY, JOBS, INDEX, CACHED, COUNTERS]) {
      expect(await raw({ method: 'DELETE', path: `${root}${'x'.repeat(15_000)}` })).toBe(400)
    }
  })

  test('with any query is answered, and never with a 500', async () => {
    const names = [
      'after',
      'limit',
      'wait',
      'echo',
      'origin',
      'marker',
      'ids',
      'pop',
      'include_claimed',
      '__proto__',
    ]
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('%FF', '%', '1', '-1', '1e9', '1-1', '9'.repeat(30), 'true'),
    )
    const query = fc.array(fc.tuple(fc.constantFrom(...names), text), { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(FEED, QUEUE), query, async (root, pairs) => {
        const sent = pairs.map(([name, value]) => `${name}=${encodeURI(value).replaceAll('#', '')}`)
        const status = await raw({ path: `${root}/messages?${sent.join('&')}` })
        expect([200, 400, 404]).toContain(status)
      }),
      { numRuns: 300 },
    )
  })
})

describe('forged', () => {
  test('markers, tokens and ids of other objects have no effect', async () => {
    await api.append('/v1/feeds/forged', 'a')
    const forged = [
      '1-1',
      '0-0',
      '9999999999999999-9999999999999999',
      '1-1-1-1',
      '0',
      "1'--",
      '1%0D%0ASET',
      '-',
    ]
    for (const text of forged) {
      const statuses = [
        await raw({ path: `${FEED}/messages?after=${text}` }),
        await raw({ path: `${FEED}/messages/${text}` }),
        await raw({ method: 'DELETE', path: `${FEED}/messages/${text}` }),
        await raw({ path: `${FEED}/claims/${text}` }),
        await raw({ method: 'DELETE', path: `${FEED}/claims/${text}` }),
        await raw({ method: 'DELETE', path: `${LOCK}/leases/${text}` }),
        await raw({ method: 'DELETE', path: `${LOCK}/leases/${text}?shared=true` }),
        await raw({ method: 'PATCH', path: `${SEMAPHORE}/leases/${text}` }),
        await raw({ method: 'DELETE', path: `/v1/elections/e/terms/${text}` }),
        await raw({ method: 'DELETE', path: `${SUBJECT}/leases/${text}?limit=1&algorithm=concurrency` }),
        await raw({ method: 'PUT', path: `${KEY}/attempts/${text}/result`, body: '1' }),
        await raw({ path: `${JOBS}/jobs/${text}` }),
        await raw({ path: `${JOBS}/search?after=${text}` }),
        await raw({ method: 'DELETE', path: `${JOBS}/jobs/1/claims/${text}` }),
        await raw({ method: 'DELETE', path: `${JOBS}/jobs/${text}/claims/1` }),
        await raw({ method: 'PATCH', path: `${JOBS}/jobs/${text}/claims/1` }),
        await raw({ method: 'DELETE', path: `${INDEX}/entries/${text}` }),
        await raw({ path: `${INDEX}/suggestions?query=${text}` }),
        await raw({ path: `${CACHED}/loads/${text}` }),
        await raw({ method: 'DELETE', path: `${CACHED}/loads/${text}` }),
        await raw({ method: 'PATCH', path: `${CACHED}/loads/${text}`, body: '{}' }),
        await raw({ method: 'PUT', path: `${CACHED}/loads/${text}/value`, body: '{"value":1}' }),
        await raw({ path: `${COUNTERS}/values/${text}` }),
        await raw({ path: `${COUNTERS}/values?ids=${text}` }),
        await raw({ path: `${QUEUE}/messages?marker=${text}` }),
        await raw({ path: `${QUEUE}/messages/${text}` }),
        await raw({ path: `${QUEUE}/claims/${text}` }),
      ]
      for (const status of statuses) expect([200, 400, 404, 405, 410], text).toContain(status)
    }
    expect((await api.call('GET', '/v1/feeds/forged')).json.total).toBe(1)
  })
})

describe('headers', () => {
  test('that may be given once are rejected when they are given twice', async () => {
    const twice = (name: string, path: string, method = 'GET', body?: string) =>
      raw({
        method,
        path,
        headers: ['Content-Type: application/json', `${name}: a`, `${name}: b`],
        ...(body === undefined ? {} : { body }),
      })
    expect(await twice('X-Project-ID', `${FEED}/messages`)).toBe(400)
    expect(await twice('Last-Event-ID', `${FEED}/tail`)).toBe(400)
    expect(await twice('Idempotency-Key', `${FEED}/messages`, 'POST', '{"body":1}')).toBe(400)
    expect(await twice('X-Project-ID', '/v1/counters')).toBe(400)
    for (const path of [`${LOCK}/leases`, `${SUBJECT}/takes`, `${KEY}/attempts`, `${CACHED}/loads`]) {
      expect(await twice('X-Project-ID', path, 'POST', '{"limit":1,"window":"1s"}'), path).toBe(400)
    }
    expect(await twice('Client-ID', `${QUEUE}/messages`)).toBe(400)
  })

  test('that are too large are rejected with 431', async () => {
    for (const path of [`${FEED}/messages`, `${QUEUE}/messages`]) {
      const huge = [...HEADERS, `X-Huge: ${'x'.repeat(20_000)}`]
      const many = [...HEADERS, ...Array.from({ length: 3000 }, (_, at) => `X-${at}: y`)]
      expect([await raw({ path, headers: huge }), await raw({ path, headers: many })]).toEqual([431, 431])
    }
    await alive()
  })

  test('that contradict each other are rejected', async () => {
    const tricks = [
      ['Content-Length: 5', 'Content-Length: 6'],
      ['Content-Length: 5', 'Transfer-Encoding: chunked'],
      ['Content-Length: -1'],
      ['Content-Length: x'],
      ['Transfer-Encoding: gzip'],
      ['X-Bad\x00: 1'],
      ['X Bad: 1'],
      [': 1'],
    ]
    for (const path of [`${FEED}/messages`, `${QUEUE}/messages`]) {
      for (const lines of tricks) {
        const status = await raw({ method: 'POST', path, headers: [...HEADERS, ...lines] })
        expect([400, 408, 415], lines.join()).toContain(status)
      }
    }
  })

  test('that override the method are ignored', async () => {
    await api.append(FEED, 'stays')
    const headers = [...HEADERS, 'X-HTTP-Method-Override: DELETE', 'X-Method-Override: DELETE']
    await raw({ method: 'POST', path: `${FEED}/claims`, headers })
    expect((await api.call('GET', FEED)).status).toBe(200)
  })
})

describe('connections', () => {
  test('whose request stalls are ended with 408, and others are served meanwhile', async () => {
    const stalled = await Promise.all(
      targets.map(async ([, method, path]) => {
        const socket = await openSocket(api.url)
        send(socket, { method, path, headers: HEADERS, body: '{"body":', length: 100 })
        return socket
      }),
    )
    await alive()
    expect(await Promise.all(stalled.map(readStatus))).toEqual(targets.map(() => 408))
    await alive()
  })

  test('whose headers never end are ended with 408', async () => {
    const socket = await openSocket(api.url)
    socket.write(`GET ${FEED}/messages HTTP/1.1\r\nHost: x\r\nX-Slow: `)
    expect(await readStatus(socket)).toBe(408)
  })

  test('that are idle, a thousand of them, keep no other client from being served', async () => {
    const idle = await Promise.all(Array.from({ length: 1000 }, () => openSocket(api.url)))
    await alive()
    for (const socket of idle) socket.destroy()
  })

  test('that do not speak HTTP are rejected', async () => {
    for (const bytes of ['\x16\x03\x01\x02\x00', 'PING\r\n', 'GET\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n']) {
      const socket = await openSocket(api.url)
      socket.write(bytes)
      expect([400, 408, 505], JSON.stringify(bytes)).toContain(await readStatus(socket))
      socket.destroy()
    }
  })
})
