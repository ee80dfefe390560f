import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import type { HttpAnswer } from '../../testing/test-app.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

const newIndex = (): string => `/v1/autocomplete/${randomUUID()}`
const add = (index: string, body: unknown): Promise<HttpAnswer> =>
  api.call('POST', `${index}/entries`, { body })
const suggest = (index: string, query = ''): Promise<HttpAnswer> =>
  api.call('GET', `${index}/suggestions${query}`)

test('entries are suggested with unchanged payloads, the greatest score first', async () => {
  const index = newIndex()
  const payload = '{"far": 1e400, "sum": 9007199254740993}'
  const body = `{"entries": [{"text": "Reykjavík", "score": 1, "payload": ${payload}}, {"score": 2, "text": "Reykjanes", "id": "r"}]}`

  expect((await add(index, body)).json).toEqual({ added: 2, replaced: 0 })

  expect((await suggest(index, '?query=REYKJAV%C3%8D&limit=5')).text).toBe(
    `{"suggestions":[{"id":"Reykjavík","text":"Reykjavík","score":1,"edited":false,"payload":${payload}}]}`,
  )
  expect((await suggest(index)).json.suggestions).toMatchObject([{ id: 'r', payload: null }, { score: 1 }])
  expect((await suggest(index, '?query=reyjka&fuzzy=true')).json.suggestions).toMatchObject([
    { id: 'r', edited: true },
    { edited: true },
  ])
})

test('an entry is replaced by its id, and removed', async () => {
  const index = newIndex()
  await add(index, { entries: [{ text: 'Bob', id: 'user/7' }] })
  expect((await add(index, { entries: [{ text: 'Rob', id: 'user/7' }] })).json).toEqual({
    added: 0,
    replaced: 1,
  })

  const place = `${index}/entries/${encodeURIComponent('user/7')}`
  expect((await api.call('DELETE', place)).status).toBe(204)
  expect((await api.call('DELETE', place)).status).toBe(404)
  expect((await suggest(index)).json.suggestions).toEqual([])
})

test('an index is inspected, and cleared', async () => {
  const index = newIndex()
  await add(index, { entries: [{ text: 'New York', ttl: '1h' }] })

  expect((await api.call('GET', index)).json).toMatchObject({
    entries: 1,
    words: 2,
    expiring: 1,
    codec: 'json',
  })
  expect((await api.call('DELETE', index)).status).toBe(204)
  expect((await api.call('GET', index)).json).toMatchObject({ entries: 0, codec: null })
})

test('an invalid argument is named', async () => {
  const index = newIndex()
  const wrong = [
    await add(index, { entries: [{ text: '' }] }),
    await add(index, { entries: [{ text: 'a', score: 0.5 }] }),
    await suggest(index, '?limit=101'),
  ]

  expect(wrong.map(({ status }) => status)).toEqual([400, 400, 400])
  expect(wrong[0]?.json.argument).toBe('entries[0].text')
  expect((await api.call('GET', index)).json.entries).toBe(0)
})
