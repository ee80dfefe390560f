import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import { type Items, sqliteItems } from '../../testing/items.ts'
import type { HttpAnswer } from '../../testing/test-app.ts'

let items: Items
let api: FeedApi
let nextId = 1000
beforeAll(async () => {
  items = await sqliteItems()
  const place = { ...items.entry, fsyncGrace: '0s' }
  api = await startFeedApi(inject('redisPort'), {
    counters: {
      votes: place,
      known: { ...place, missing: 'refuse' },
      'votes-of-bob': { ...place, project: 'bob', name: 'votes' },
      application: { ...place, project: null },
      absent: { ...place, table: 'absent' },
      away: { ...place, database: 'sqlite:/nowhere/items.db' },
    },
  })
})
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  await items.close()
})

/** The id of an unused counter. */
const newId = (): number => nextId++
const own = { project: 'default' }
const call = (method: string, path: string, body?: unknown): Promise<HttpAnswer> =>
  api.call(method, `/v1/counters${path}`, { ...own, body })
const increment = (name: string, body: unknown, key: string | null = null): Promise<HttpAnswer> =>
  api.call('POST', `/v1/counters/${name}/increments`, { ...own, body, headers: { 'Idempotency-Key': key } })

test('a count begins with the row of the table, and reaches it', async () => {
  expect((await increment('known', { id: 7 })).json).toEqual({ id: '7', value: 41, counted: true })
  expect((await increment('known', { id: '7', by: -3 })).json.value).toBe(38)
  expect((await call('GET', '/known/values/7')).json).toEqual({ id: '7', value: 38 })
  expect((await call('GET', '/known')).json).toMatchObject({ name: 'known', dirty: 1, values: 1 })

  expect((await call('POST', '/known/flush')).json).toEqual({ batches: 1, counters: 1 })

  expect((await items.votes())['7']).toBe(38)
  expect((await call('GET', '/known')).json).toMatchObject({ dirty: 0, lagMs: null })
  expect((await call('POST', '/known/flush')).json).toEqual({ batches: 0, counters: 0 })
})

test('an idempotency key counts once, in the body and in the header', async () => {
  const id = newId()
  const first = await increment('votes', { id, by: 2, idempotencyKey: 'ada' })
  const second = await increment('votes', { id, by: 2 }, 'ada')

  expect([first.json, second.json]).toEqual([
    { id: String(id), value: 2, counted: true },
    { id: String(id), value: 2, counted: false },
  ])
  const differs = await increment('votes', { id, idempotencyKey: 'ada' }, 'bob')
  const many = await increment('votes', { increments: [{ id }, { id }] }, 'ada')
  expect([differs.status, many.status]).toEqual([400, 400])
  expect([differs.json.argument, many.json.argument]).toEqual(['Idempotency-Key', 'Idempotency-Key'])
  expect((await increment('votes', { increments: [{ id, by: 2 }] }, 'ada')).json.increments).toEqual([
    { id: String(id), value: 2, counted: false },
  ])
})

test('each of many increments is counted independently, and has its own result', async () => {
  const [a, b] = [newId(), newId()]
  const increments = [
    { id: a, by: 5 },
    { id: 'no number' },
    { id: b, by: 1, idempotencyKey: 'k' },
    { id: b, by: 1, idempotencyKey: 'k' },
  ]

  const { status, json } = await increment('votes', { increments })

  expect(status).toBe(200)
  expect(json.increments).toMatchObject([
    { id: String(a), value: 5, counted: true },
    { id: 'no number', code: 'invalid-argument' },
    { id: String(b), value: 1, counted: true },
    { id: String(b), value: 1, counted: false },
  ])
  const unknown = await increment('known', { increments: [{ id: 7 }, { id: 8 }] })
  expect(unknown.json.increments[1]).toEqual({
    id: '8',
    code: 'unknown-counter',
    detail: 'The counter 8 does not exist.',
  })
})

test('values are read in the order of their ids, also ids with commas in them', async () => {
  const id = newId()
  await increment('votes', { id, by: 3 })
  expect((await call('GET', `/votes/values?ids=${id},7`)).json.values).toMatchObject([
    { id: String(id), value: 3 },
    { id: '7' },
  ])
  expect((await call('GET', '/known/values?ids=7,9')).json.values).toMatchObject([
    { id: '7' },
    { id: '9', value: null },
  ])
  for (const ids of ['7,,8', ',', '%', '%C3%28'])
    expect((await call('GET', `/votes/values?ids=${ids}`)).status, ids).toBe(400)
  const refused = await call('GET', '/votes/values?ids=7%2C8')
  expect(refused.json.detail).toContain('"7,8"')
  const question = await call('GET', '/votes/values?ids=7?8')
  expect(question.json.detail).toContain('"7?8"')
})

test('integers of 64 bits are exact: numbers, and from 2^53 texts', async () => {
  const [large, most] = [newId(), newId()]
  await items.run(`INSERT INTO items VALUES (${large}, 9007199254740991), (${most}, 9223372036854775806)`)

  expect((await call('GET', `/votes/values/${large}`)).json.value).toBe(9007199254740991)
  expect((await increment('votes', { id: large, by: 2 })).json.value).toBe('9007199254740993')
  expect((await call('GET', `/votes/values?ids=${large}`)).json.values[0].value).toBe('9007199254740993')
  const [counted, refused] = [
    await increment('votes', { id: most }),
    await increment('votes', { id: most, by: 1 }),
  ]
  expect(counted.json.value).toBe('9223372036854775807')
  expect([refused.status, refused.json.code]).toEqual([422, 'overflow'])
  expect((await increment('votes', { increments: [{ id: most }] })).json.increments[0].code).toBe('overflow')
  expect((await call('GET', `/votes/values/${most}`)).json.value).toBe('9223372036854775807')
})

test('changes of other programs are visible after a reconcile', async () => {
  const id = newId()
  await increment('votes', { id, by: 4 })
  await items.run(`INSERT INTO items VALUES (${id}, 100)`)
  expect((await call('GET', `/votes/values/${id}`)).json.value).toBe(4)

  expect((await call('POST', '/votes/reconcile', { ids: [id] })).status).toBe(204)

  expect((await call('GET', `/votes/values/${id}`)).json.value).toBe(104)
})

test('cleared counters are loaded again from the table, without increments that were not flushed', async () => {
  const id = newId()
  await increment('votes-of-bob', { id })
  await increment('votes', { id, by: 5 })
  await call('POST', '/votes/flush')
  await increment('votes', { id, by: 1 })

  expect((await call('DELETE', '/votes')).status).toBe(204)

  expect((await call('GET', `/votes/values/${id}`)).json.value).toBe(5)
})

test('a tenant sees only its own counters, under its own names, and no tenant sees those of the application', async () => {
  const asBob = (method: string, path: string, body?: unknown): Promise<HttpAnswer> =>
    api.call(method, `/v1/counters${path}`, { project: 'bob', body })
  const id = newId()
  await increment('votes', { id, by: 3 })

  expect((await asBob('GET', '')).json).toEqual({ counters: ['votes'] })
  expect((await api.call('GET', '/v1/counters', { project: 'carol' })).json).toEqual({ counters: [] })
  expect((await call('GET', '')).json).toEqual({ counters: ['votes', 'known', 'absent', 'away'] })
  expect((await asBob('GET', '/votes')).json.dirty).toBe(0)
  expect((await asBob('POST', '/votes/increments', { id })).json.value).toBe(1)

  for (const name of ['known', 'votes-of-bob']) {
    const answers = await Promise.all([
      asBob('GET', `/${name}`),
      asBob('GET', `/${name}/values/7`),
      asBob('GET', `/${name}/values?ids=7`),
      asBob('POST', `/${name}/increments`, { id: 7 }),
      asBob('POST', `/${name}/flush`),
      asBob('POST', `/${name}/reconcile`, { ids: [7] }),
      asBob('DELETE', `/${name}`),
    ])
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404, 404])
    expect(new Set(answers.map(({ json }) => json.detail))).toEqual(
      new Set([`There are no counters ${name}.`]),
    )
  }
  expect((await call('GET', '/votes-of-bob')).status).toBe(404)
  expect((await call('GET', '/application')).status).toBe(404)
})

test('a counter that is not in the table is unknown if none may be created', async () => {
  const answers = [await call('GET', '/known/values/9'), await increment('known', { id: 9 })]
  expect(answers.map(({ status, json }) => [status, json.code])).toEqual([
    [404, 'unknown-counter'],
    [404, 'unknown-counter'],
  ])
})

test('a database that is away is 503 with Retry-After; a missing table is 503 without it', async () => {
  const many = { increments: [{ id: 1 }, { id: 2 }] }
  for (const [name, code, after] of [
    ['away', 'sink-unreachable', '1'],
    ['absent', 'sink-misconfigured', null],
  ] as const) {
    const answers = await Promise.all([
      call('GET', `/${name}/values/7`),
      call('GET', `/${name}/values?ids=7,8`),
      increment(name, { id: 7 }),
      increment(name, many),
      call('POST', `/${name}/reconcile`, { ids: [7] }),
    ])
    for (const { status, json, headers } of answers) {
      expect([status, json.code, headers.get('retry-after')]).toEqual([503, code, after])
      expect(json.detail).not.toMatch(/nowhere|table/)
    }
    expect((await call('GET', `/${name}`)).status).toBe(200)
  }
})

test('an invalid argument is named', async () => {
  const asked: [body: unknown, argument: string][] = [
    [{}, 'id'],
    [{ id: 7, by: 1.5 }, 'by'],
    [{ id: 7, by: 2 ** 53 }, 'by'],
    [{ id: 2 ** 53 }, 'id'],
    [{ id: 'x'.repeat(256) }, 'id'],
    [{ id: 'x' }, 'id'],
    [{ id: {} }, 'id'],
    [{ id: 7, amount: 1 }, 'amount'],
    [{ id: 7, idempotencyKey: 'x'.repeat(256) }, 'idempotencyKey'],
    [{ increments: [] }, 'increments'],
    [{ increments: [{ id: 7 }, { id: 7, by: 'x' }] }, 'increments[1].by'],
    [{ increments: [{ id: 7 }, { id: 7, by: -(2 ** 53) }] }, 'increments[1].by'],
  ]
  for (const [body, argument] of asked) {
    const { status, json } = await increment('votes', body)
    expect([status, json.argument], JSON.stringify(body)).toEqual([400, argument])
  }
  const others: [answer: HttpAnswer, argument: string][] = [
    [await call('GET', '/votes/values'), 'ids'],
    [await call('GET', '/votes/values?ids=1&ids=2'), 'ids'],
    [await call('GET', `/votes/values?ids=${'1,'.repeat(1001)}`), 'ids'],
    [await call('GET', '/votes/values/x'), 'id'],
    [await call('POST', '/votes/reconcile', { ids: [{}] }), 'ids[0]'],
    [await call('GET', `/${'x'.repeat(600)}`), 'name'],
    [await api.call('GET', '/v1/counters', { project: 'x'.repeat(257) }), 'X-Project-ID'],
  ]
  expect(others.map(([{ status, json }]) => [status, json.argument])).toEqual(
    others.map(([, argument]) => [400, argument]),
  )
})
