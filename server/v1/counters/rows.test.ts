// Counters that count rows of the database.

import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import { type Items, sqliteItems } from '../../testing/items.ts'
import type { HttpAnswer } from '../../testing/test-app.ts'

let items: Items
let api: FeedApi
beforeAll(async () => {
  items = await sqliteItems()
  await items.makeVotes()
  const { database, ...target } = items.entry
  const events = { table: 'votes', id: 'item', amount: 'points', target }
  const bounded = { ...target, missing: 'refuse' }
  api = await startFeedApi(inject('redisPort'), {
    counters: {
      votes: { database, events },
      stock: { database, outbox: bounded },
      likes: items.entry,
      absent: { database, events: { ...events, table: 'absent' } },
      away: { database: 'sqlite:/nowhere/items.db', outbox: target },
    },
  })
})
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  await items.close()
})

const call = (method: string, path: string, body?: unknown): Promise<HttpAnswer> =>
  api.call(method, `/v1/counters${path}`, { project: 'default', body })
const vote = (item: number, points = 1): Promise<void> =>
  items.run(`INSERT INTO votes (item, points) VALUES (${item}, ${points})`)

test('rows are in the values, shown after a note, and counted by a flush', async () => {
  expect((await call('POST', '/votes/notes', { id: 7 })).json).toEqual({ id: '7', value: null })
  await call('DELETE', '/votes')
  await vote(7, 2)
  expect((await call('GET', '/votes/values/7')).json).toEqual({ id: '7', value: 42 })
  await vote(7)
  await vote(8, -5)
  expect((await call('POST', '/votes/notes', { id: '7' })).json).toEqual({ id: '7', value: 43 })
  const notes = [{ id: 7, by: 2 }, { id: 8 }]
  expect((await call('POST', '/votes/notes', { notes })).json).toEqual({
    notes: [
      { id: '7', value: 45 },
      { id: '8', value: null },
    ],
  })
  expect((await call('GET', '/votes')).json).toEqual({
    name: 'votes',
    values: 1,
    noted: 2,
    waiting: 3,
    lagMs: null,
    versions: [0],
  })

  expect((await call('POST', '/votes/flush')).json).toEqual({ events: 3 })

  expect(await items.votes()).toMatchObject({ 7: 43, 8: -5 })
  expect((await call('GET', '/votes/values?ids=7,8,9')).json.values).toEqual([
    { id: '7', value: 43 },
    { id: '8', value: -5 },
    { id: '9', value: 0 },
  ])
  expect((await call('POST', '/votes/flush')).json).toEqual({ events: 0 })
  expect((await call('GET', '/votes')).json).toMatchObject({
    noted: 0,
    waiting: 0,
    versions: [expect.any(Number)],
  })
})

test('counts are recomputed from all rows by a reconcile', async () => {
  await items.run('INSERT INTO items VALUES (20, 99)')
  await vote(20, 3)
  await call('POST', '/votes/flush')
  expect((await call('GET', '/votes/values/20')).json.value).toBe(102)

  expect((await call('POST', '/votes/reconcile', { ids: [20] })).status).toBe(204)

  expect((await call('GET', '/votes/values/20')).json.value).toBe(3)
})

test('cleared counts are read again, because the database has all of them', async () => {
  await vote(21, 4)
  expect((await call('GET', '/votes/values/21')).json.value).toBe(4)
  expect((await call('DELETE', '/votes')).status).toBe(204)
  expect((await call('GET', '/votes')).json.values).toBe(0)
  expect((await call('GET', '/votes/values/21')).json.value).toBe(4)
})

test('increments of rows, and notes of Redis counters, are rejected with the right alternative', async () => {
  const answers = [
    await call('POST', '/votes/increments', { id: 7 }),
    await call('POST', '/stock/increments', { increments: [{ id: 7 }] }),
    await call('POST', '/likes/notes', { id: 7 }),
  ]
  expect(answers.map(({ status, json }) => [status, json.code, json.detail])).toEqual([
    [409, 'refused', 'These counters count rows of the database: insert one, and send a note.'],
    [
      409,
      'refused',
      'These counters change in transactions of the database: add to its outbox, and send a note.',
    ],
    [409, 'refused', 'These counters are counted in Redis: increment them.'],
  ])
})

test('a counter that is not in the table is unknown if none may be created', async () => {
  expect((await call('GET', '/stock/values/7')).json.id).toBe('7')
  const { status, json } = await call('GET', '/stock/values/9999')
  expect([status, json.code]).toEqual([404, 'unknown-counter'])
})

test('a database that is away is 503, and notes still work', async () => {
  for (const [name, code, after] of [
    ['away', 'sink-unreachable', '1'],
    ['absent', 'sink-misconfigured', null],
  ] as const) {
    const answers = await Promise.all([
      call('GET', `/${name}/values/7`),
      call('POST', `/${name}/reconcile`, { ids: [7] }),
      call('GET', `/${name}`),
    ])
    for (const { status, json, headers } of answers) {
      expect([status, json.code, headers.get('retry-after')]).toEqual([503, code, after])
    }
    expect((await call('POST', `/${name}/notes`, { id: 7 })).json).toEqual({ id: '7', value: null })
  }
})

test('an error in a note is named', async () => {
  const asked: [body: unknown, argument: string][] = [
    [{}, 'id'],
    [{ id: 7, by: 1.5 }, 'by'],
    [{ id: 7, by: 2 ** 53 }, 'by'],
    [{ id: '' }, 'id'],
    [{ id: 7, key: 'k' }, 'key'],
    [{ notes: [] }, 'notes'],
    [{ notes: [{ id: 7 }, { id: 'x'.repeat(256) }] }, 'notes[1].id'],
  ]
  for (const [body, argument] of asked) {
    const { status, json } = await call('POST', '/votes/notes', body)
    expect([status, json.argument], JSON.stringify(body)).toEqual([400, argument])
  }
})
