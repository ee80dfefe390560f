import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { bodiesOf, type FeedApi, startFeedApi } from '../../testing/feed-api.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

const make = (feed: string, body: object = {}, name = 'ada') =>
  api.call('PUT', `${feed}/subscribers/${name}`, { body })
const pageOf = (feed: string, query = '') => api.call('GET', `${feed}/subscribers/ada/messages${query}`)
const advance = (feed: string, body: object) => api.call('PATCH', `${feed}/subscribers/ada`, { body })

test('a subscriber is created once and keeps its position', async () => {
  const feed = api.newFeed()
  await api.append(feed, 1, 2)
  const made = await make(feed)
  const [first] = (await pageOf(feed)).json.messages
  await advance(feed, { cursor: first.cursor })
  const again = await make(feed, { from: 'end' })

  expect([made.status, made.json.name, again.status, again.json.cursor]).toEqual([
    201,
    'ada',
    200,
    first.cursor,
  ])
})

test('a subscriber may begin at the end, at a cursor, or on a feed that does not exist yet', async () => {
  const feed = api.newFeed()
  expect((await make(feed)).status).toBe(201)
  const [first] = await api.append(feed, 1, 2)
  expect((await make(feed, { from: first?.cursor }, 'bob')).json.cursor).toBe(first?.cursor)
  await make(feed, { from: 'end' }, 'eve')
  await api.append(feed, 3)

  expect(bodiesOf(await pageOf(feed))).toEqual([1, 2, 3])
  expect(bodiesOf(await api.call('GET', `${feed}/subscribers/bob/messages`))).toEqual([2, 3])
  expect(bodiesOf(await api.call('GET', `${feed}/subscribers/eve/messages`))).toEqual([3])
})

test('reading moves nothing, advancing does, and back only with rewind', async () => {
  const feed = api.newFeed()
  await make(feed)
  const [first, second] = await api.append(feed, 1, 2)

  expect(bodiesOf(await pageOf(feed, '?limit=1'))).toEqual([1])
  expect(bodiesOf(await pageOf(feed, '?limit=1'))).toEqual([1])
  expect((await advance(feed, { cursor: second?.cursor })).json).toEqual({
    name: 'ada',
    cursor: second?.cursor,
  })
  expect((await advance(feed, { cursor: first?.cursor })).json.cursor).toBe(second?.cursor)
  expect(bodiesOf(await pageOf(feed))).toEqual([])
  expect((await advance(feed, { cursor: first?.cursor, rewind: true })).json.cursor).toBe(first?.cursor)
  expect(bodiesOf(await pageOf(feed))).toEqual([2])
})

test('a page is waited for', async () => {
  const feed = api.newFeed()
  await make(feed)
  const waiting = pageOf(feed, '?wait=25s')
  await api.whenWaiting(feed)
  await api.append(feed, 'new')
  expect(bodiesOf(await waiting)).toEqual(['new'])
})

test('a page hides messages on request', async () => {
  const feed = api.newFeed()
  await make(feed)
  await api.append(feed, 'claimed')
  await api.call('POST', `${feed}/claims`)
  await api.call('POST', `${feed}/messages?origin=ada`, { body: { body: 'mine' } })

  expect(bodiesOf(await pageOf(feed, '?origin=ada&echo=false&includeClaimed=false'))).toEqual([])
  expect((await pageOf(feed, '?echo=false')).json.argument).toBe('origin')
})

test('a protected subscriber keeps messages that it has not passed, also while it reads', async () => {
  const feed = api.newFeed()
  await make(feed, { protect: true })
  await api.append(feed, 1, 2)
  await pageOf(feed)
  await api.call('POST', `${feed}/messages?retentionCount=1`, { body: { body: 3 } })
  expect(bodiesOf(await pageOf(feed))).toEqual([1, 2, 3])
})

test('a subscriber that was deleted, or never existed, is not found and not created by reads', async () => {
  const feed = api.newFeed()
  const [message] = await api.append(feed, 1)
  await make(feed)
  const forget = () => api.call('DELETE', `${feed}/subscribers/ada`)

  expect((await forget()).status).toBe(204)
  const answers = [await forget(), await pageOf(feed), await advance(feed, { cursor: message?.cursor })]
  for (const { status, json } of answers) expect([status, json.code]).toEqual([404, 'not-found'])
  expect((await api.call('GET', feed)).json.subscribers).toBe(0)
})

test('invalid arguments are rejected by their names', async () => {
  const feed = api.newFeed()
  const path = `${feed}/subscribers/ada`
  const wrong: [method: string, path: string, body: unknown, argument: string][] = [
    ['PUT', path, { from: 'x' }, 'from'],
    ['PUT', path, { from: 5 }, 'from'],
    ['PUT', path, { protect: 'yes' }, 'protect'],
    ['PUT', path, { origin: 'a' }, 'origin'],
    ['PUT', path, '[', 'body'],
    ['PUT', `${feed}/subscribers/a%0Ab`, {}, 'name'],
    ['PUT', `${feed}/subscribers/${'x'.repeat(513)}`, {}, 'name'],
    ['PATCH', path, {}, 'cursor'],
    ['PATCH', path, { cursor: null }, 'cursor'],
    ['PATCH', path, { cursor: 'end' }, 'cursor'],
    ['PATCH', path, { cursor: 'x' }, 'cursor'],
    ['PATCH', path, { cursor: '1-1', rewind: 1 }, 'rewind'],
    ['GET', `${path}/messages?limit=0`, undefined, 'limit'],
    ['GET', `${path}/messages?wait=x`, undefined, 'wait'],
    ['GET', `${path}/messages?after=end`, undefined, 'after'],
  ]
  for (const [method, where, body, argument] of wrong) {
    const answer = await api.call(method, where, { body })
    expect([answer.status, answer.json.argument], `${method} ${where.slice(-30)} ${argument}`).toEqual([
      400,
      argument,
    ])
  }
})

test('bodies are JSON of at most 64 KiB', async () => {
  const path = `${api.newFeed()}/subscribers/ada`
  for (const method of ['PUT', 'PATCH']) {
    const headers = { 'Content-Type': 'text/plain' }
    expect((await api.call(method, path, { body: '{}', headers })).status).toBe(415)
    expect((await api.call(method, path, { body: { from: 'x'.repeat(65_536) } })).status).toBe(413)
  }
})
