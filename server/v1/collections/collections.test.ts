import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import type { HttpAnswer } from '../../testing/test-app.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

const newPlace = (kind: string): string => `/v1/collections/${kind}/${randomUUID()}`
const put = (place: string, body: unknown): Promise<HttpAnswer> => api.call('PUT', place, { body })
const post = (place: string, body: unknown): Promise<HttpAnswer> => api.call('POST', place, { body })
const get = (place: string): Promise<HttpAnswer> => api.call('GET', place)
const codeOf = ({ status, json }: HttpAnswer): unknown[] => [status, json.code]

test('a list is replaced, checked by its version, and read unchanged', async () => {
  const place = newPlace('list')
  const body = '{"version": 7, "items": ["a", {"sum": 9007199254740993, "far": 1e400}, null]}'
  expect((await put(place, body)).json).toMatchObject({ status: 'replaced', size: 3 })
  expect((await put(place, body)).json).toMatchObject({ status: 'unchanged', version: 7 })
  expect((await put(place, { items: [], version: 6 })).json).toEqual({ status: 'refused', version: 7 })
  const page = await get(`${place}/items`)
  expect(page.status).toBe(200)
  expect(page.text).toContain('"items":["a",{"sum": 9007199254740993, "far": 1e400},null]')
  expect(page.json).toMatchObject({ status: 'page', next: null, gap: false, size: 3, version: 7 })
})

test.each(['list', 'set'])(
  'a %s accepts a hundred thousand items in one request, and no more',
  async (kind) => {
    const place = newPlace(kind)
    const items = (count: number): string => `{"items":[${Array(count).fill('1').join(',')}]}`
    expect((await put(place, items(100_000))).status).toBe(200)
    const refused = await put(place, items(100_001))
    expect(codeOf(refused)).toEqual([400, 'invalid-argument'])
    expect(refused.json.detail).toContain('must be at most 100000')
    for (const more of ['items', 'removals']) {
      expect(codeOf(await post(`${place}/${more}`, items(100_001)))).toEqual(
        kind === 'list' && more === 'removals' ? [404, 'not-found'] : [400, 'invalid-argument'],
      )
    }
  },
)

test('a list is read in pages, and a reader of replaced items gets `replaced`', async () => {
  const place = newPlace('list')
  await put(place, { items: [1, 2, 3] })
  const first = await get(`${place}/items?limit=2`)
  expect(first.json.items).toEqual([1, 2])
  expect((await get(`${place}/items?after=${first.json.next}`)).json).toMatchObject({
    items: [3],
    next: null,
  })
  await put(place, { items: [] })
  expect((await get(`${place}/items?after=${first.json.next}`)).json).toEqual({
    status: 'replaced',
    version: null,
  })
  expect((await get(`${place}/items`)).json.items).toEqual([])
})

test('items are added and removed, within a limit, if the collection exists', async () => {
  const list = newPlace('list')
  expect(codeOf(await post(`${list}/items`, { items: [1] }))).toEqual([404, 'not-found'])
  await put(list, { items: [1, 2], ttl: '1h' })
  expect((await post(`${list}/items`, { items: [3, 4], limit: 3 })).json).toEqual({
    size: 3,
    added: 2,
    removed: 1,
  })
  expect(codeOf(await post(`${list}/removals`, { items: [3] }))).toEqual([404, 'not-found'])

  const set = newPlace('set')
  await put(set, { items: ['a', 'b', 'a'] })
  expect((await post(`${set}/items`, { items: ['b', 'c'] })).json).toEqual({ size: 3, added: 1, removed: 0 })
  expect((await post(`${set}/removals`, { items: ['a', 'x'] })).json).toEqual({ size: 2, removed: 1 })
  expect((await get(`${set}/items`)).json.items.toSorted()).toEqual(['b', 'c'])

  const hash = newPlace('hash')
  await put(hash, '{"items": [["tea", {"cents": 1.10}], ["milk", 2]]}')
  expect((await post(`${hash}/removals`, { items: ['milk'] })).json).toEqual({ size: 1, removed: 1 })
  expect((await get(`${hash}/items`)).text).toContain('"items":[["tea",{"cents": 1.10}]]')

  const ranked = newPlace('sortedSet')
  await put(ranked, {
    items: [
      ['a', 3],
      ['b', 1.5],
      ['c', 2],
    ],
    limit: 2,
  })
  expect((await get(`${ranked}/items`)).json.items).toEqual([
    ['c', 2],
    ['a', 3],
  ])
})

test('many items are replaced by one request', async () => {
  const place = newPlace('set')
  const items = Array.from({ length: 5000 }, (_, n) => `item ${n}`)
  expect((await put(place, { items })).json).toMatchObject({ status: 'replaced', size: 5000 })
  expect((await get(place)).json).toMatchObject({ exists: true, kind: 'set', size: 5000 })
})

test('a collection is inspected, and ends when it is cleared', async () => {
  const place = newPlace('list')
  const name = place.split('/').at(-1)
  expect((await get(place)).json).toEqual({ name, exists: false })
  const { expiresAtMs } = (await put(place, { items: ['abc'], version: 0 })).json
  expect((await get(place)).json).toEqual({
    name,
    exists: true,
    kind: 'list',
    size: 1,
    version: 0,
    largestBytes: 5,
    expiresAtMs,
  })
  expect((await api.call('DELETE', place)).status).toBe(204)
  expect(codeOf(await get(`${place}/items`))).toEqual([404, 'not-found'])
})

describe('an invalid argument', () => {
  const wrong: [argument: string, kind: string, body: unknown][] = [
    ['items', 'list', {}],
    ['items', 'list', { items: 'a' }],
    ['items', 'hash', { items: ['a'] }],
    ['items', 'hash', { items: [['a', 1, 2]] }],
    ['items', 'sortedSet', { items: [['a']] }],
    ['field', 'hash', { items: [[1, 1]] }],
    ['score', 'sortedSet', { items: [['a', 'b']] }],
    ['version', 'list', { items: [], version: -1 }],
    ['ttl', 'list', { items: [], ttl: 'soon' }],
    ['limit', 'set', { items: [], limit: 3 }],
    ['ttl', 'list', { items: [], ttl: 3 }],
    ['kind', 'stack', { items: [] }],
  ]
  test.each(wrong)('is rejected by its name: %s of a %s', async (argument, kind, body) => {
    const { status, json } = await put(newPlace(kind), body)
    expect([status, json.code, json.argument]).toEqual([400, 'invalid-argument', argument])
  })

  test('in a query or a path is rejected: invalid markers, another kind', async () => {
    const place = newPlace('list')
    await put(place, { items: [1] })
    const argumentOf = async (path: string): Promise<unknown[]> => {
      const { status, json } = await get(path)
      return [status, json.argument]
    }
    expect(await argumentOf(`${place}/items?after=x`)).toEqual([400, 'after'])
    expect(await argumentOf(`${place}/items?limit=1001`)).toEqual([400, 'limit'])
    expect(await argumentOf(`${place.replace('/list/', '/set/')}/items`)).toEqual([400, 'kind'])
  })
})
