import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { type HttpAnswer, type CallOptions, startApp, type TestApp } from '../../testing/test-app.ts'

// Nothing listens there: these tests are about stored data, not about pushes.
const HOOK = 'http://127.0.0.1:1024/hook'
vi.stubEnv('PERILUNE_WEBHOOK_ALLOW', '127.0.0.1, ::1')

let app: TestApp
beforeAll(async () => {
  app = await startApp(inject('redisPort'), {
    limits: { minSubscriptionTtl: 1, maxSubscriptionsPerQueue: 25 },
  })
})
afterAll(() => app[Symbol.asyncDispose]())

const pathOf = (queue: string): string => `/v2/queues/${queue}/subscriptions`
const newQueue = (): string => `q-${randomUUID()}`

const subscribe = (queue: string, body: object, options: CallOptions = {}): Promise<HttpAnswer> =>
  app.call('POST', pathOf(queue), { ...options, body: { subscriber: HOOK, ...body } })

const idOf = async (queue: string, body: object = {}): Promise<string> =>
  (await subscribe(queue, body)).json.subscription_id

test('a subscription is created with 201, its id and its URL, and returns its members', async () => {
  const queue = newQueue()
  const answer = await subscribe(queue, { ttl: 100, options: { a: [1] } })

  const id = answer.json.subscription_id
  expect(answer.status).toBe(201)
  expect(answer.headers.get('location')).toBe(`${pathOf(queue)}/${id}`)
  const { json } = await app.call('GET', `${pathOf(queue)}/${id}`)
  const shown = {
    id,
    subscriber: HOOK,
    source: queue,
    ttl: 100,
    age: expect.any(Number),
    options: { a: [1] },
    confirmed: false,
  }
  expect(json).toEqual(shown)
  expect((await app.call('GET', pathOf(queue))).json.subscriptions).toEqual([shown])
  expect((await app.call('GET', `/v2/queues?name=${queue}`)).json.queues).toHaveLength(1)
})

test('the same subscriber again has the same id, and is a conflict once it has confirmed', async () => {
  const queue = newQueue()
  const id = await idOf(queue)
  expect(await idOf(queue)).toBe(id)
  await app.call('PUT', `${pathOf(queue)}/${id}/confirm`, { body: { confirmed: true } })

  expect((await subscribe(queue, {})).status).toBe(409)
  expect(await idOf(newQueue())).not.toBe(id)
})

test('many requests at once for one subscriber make one subscription', async () => {
  const queue = newQueue()
  const ids = await Promise.all(Array.from({ length: 10 }, () => idOf(queue)))
  expect(new Set(ids).size).toBe(1)
})

test('a change of the ttl restarts its life, and one of the subscriber requires a new confirmation', async () => {
  const queue = newQueue()
  const id = await idOf(queue, { ttl: 100 })
  const one = `${pathOf(queue)}/${id}`
  await app.call('PUT', `${one}/confirm`, { body: { confirmed: true } })

  expect((await app.call('PATCH', one, { body: { ttl: 200, options: { b: 1 } } })).status).toBe(204)
  expect((await app.call('GET', one)).json).toMatchObject({ ttl: 200, options: { b: 1 }, confirmed: true })
  await app.call('PATCH', one, { body: { subscriber: `${HOOK}2` } })
  expect((await app.call('GET', one)).json).toMatchObject({ subscriber: `${HOOK}2`, confirmed: false })
  expect(await idOf(queue)).not.toBe(id)
  expect((await app.call('PATCH', one, { body: { subscriber: HOOK } })).status).toBe(409)
})

test('a list is in pages that a marker joins, and an empty page has no link', async () => {
  const queue = newQueue()
  for (let number = 0; number < 25; number += 1) await subscribe(queue, { subscriber: `${HOOK}/${number}` })
  expect((await subscribe(queue, { subscriber: `${HOOK}/one-too-many` })).status).toBe(403)

  const found = new Set<string>()
  let next = `${pathOf(queue)}?limit=7`
  for (;;) {
    const { json } = await app.call('GET', next)
    for (const { id } of json.subscriptions) found.add(id)
    if (json.links.length === 0) break
    expect(json.links[0].rel).toBe('next')
    next = json.links[0].href
  }

  expect(found.size).toBe(25)
  expect((await app.call('GET', pathOf(queue))).json.subscriptions).toHaveLength(10)
  for (const limit of [0, 21, 'x']) {
    expect((await app.call('GET', `${pathOf(queue)}?limit=${limit}`)).status).toBe(400)
  }
})

test('a subscription whose time is over does not exist, and the subscriber may subscribe again', async () => {
  const queue = newQueue()
  const id = await idOf(queue, { ttl: 1 })
  const one = `${pathOf(queue)}/${id}`
  await app.call('PUT', `${one}/confirm`, { body: { confirmed: true } })
  while ((await app.call('GET', one)).status === 200) await sleep(50)

  expect((await app.call('GET', pathOf(queue))).json.subscriptions).toEqual([])
  expect((await app.call('PATCH', one, { body: { ttl: 100 } })).status).toBe(404)
  expect((await app.call('PUT', `${one}/confirm`, { body: { confirmed: true } })).status).toBe(404)
  expect((await subscribe(queue, {})).status).toBe(201)
})

test('a missing subscription answers 404, except to a deletion: 204', async () => {
  const one = `${pathOf('nowhere')}/none`
  expect((await app.call('GET', one)).status).toBe(404)
  expect((await app.call('PATCH', one, { body: { ttl: 100 } })).status).toBe(404)
  expect((await app.call('PUT', `${one}/confirm`, { body: { confirmed: true } })).status).toBe(404)
  expect((await app.call('DELETE', one)).status).toBe(204)
  expect((await app.call('GET', pathOf('nowhere'))).json).toEqual({ subscriptions: [], links: [] })
})

test('projects are separate', async () => {
  const queue = newQueue()
  const one = `${pathOf(queue)}/${await idOf(queue)}`
  const other = { project: 'another' }
  expect((await app.call('GET', one, other)).status).toBe(404)
  expect((await app.call('GET', pathOf(queue), other)).json.subscriptions).toEqual([])
  expect((await app.call('DELETE', one, other)).status).toBe(204)
  expect((await app.call('GET', one)).status).toBe(200)
})

test.each([
  { subscriber: null },
  { subscriber: '' },
  { subscriber: 'mailto:ada@example.org' },
  { subscriber: 'trust+http://127.0.0.1:1024/' },
  { subscriber: 'ftp://127.0.0.1/' },
  { subscriber: 'http://' },
  { subscriber: 'http:127.0.0.1' },
  { subscriber: `http://127.0.0.1:1024/${'x'.repeat(2048)}` },
  { subscriber: 'http://user:pass@127.0.0.1:1024/' },
  { subscriber: 'http://127.0.0.1:22/' },
  { subscriber: 'http://127.0.0.1:1024/a b' },
  { subscriber: 'http://127.0.0.1\\@example.org/' },
  { ttl: 0 },
  { ttl: '100' },
  { ttl: 1.5 },
  { ttl: 4_000_000_000 },
  { options: [] },
  { options: 'x' },
  { options: { post_headers: { Host: 'x' } } },
  { options: { post_headers: { 'Content-Length': '1' } } },
  { options: { post_headers: { 'a b': 'x' } } },
  { options: { post_headers: { a: 'x\r\ny: z' } } },
  { options: { post_headers: { a: 1 } } },
  { options: { post_data: {} } },
  { options: { _retry_policy: { minimum_delay: 60 } } },
  { options: { _retry_policy: { retry_backoff_function: 'constructor' } } },
])('%j is rejected with 400', async (body) => {
  expect((await subscribe(newQueue(), body)).status).toBe(400)
})

test.each([
  'http://127.0.0.2/', // not the address that the configuration allows
  'http://localhost.localdomain:1024@10.0.0.1/',
  'http://10.1.2.3/',
  'http://100.64.0.1/',
  'http://169.254.169.254/latest/meta-data',
  'http://172.31.0.1/',
  'http://192.168.1.1/',
  'http://0.0.0.0/',
  'http://0/',
  'http://0x7f.1/',
  'http://2130706433/',
  'http://017700000001/',
  'http://127.1/',
  'http://134744072/', // a public address in a disguised form
  'http://[::]/',
  'http://[::2]/',
  'http://[fc00::1]/',
  'http://[fe80::1]/',
  'http://[ff02::1]/',
  'http://[::ffff:10.0.0.1]/',
  'http://[::ffff:a00:1]/',
  'http://[64:ff9b::a00:1]/',
  'http://[2002:a00:1::]/',
])('%s is rejected with 400: it does not lead to a public address', async (subscriber) => {
  expect((await subscribe(newQueue(), { subscriber })).status).toBe(400)
})

test.each(['{}', '[]', '{"confirmed":1}', '{"ttl":0}', '{"age":1}', '{"subscriber":"mailto:x"}', ''])(
  'a change or confirmation with %s is rejected with 400',
  async (body) => {
    const queue = newQueue()
    const one = `${pathOf(queue)}/${await idOf(queue)}`
    expect((await app.call('PATCH', one, { body })).status).toBe(400)
    expect((await app.call('PUT', `${one}/confirm`, { body })).status).toBe(400)
  },
)
