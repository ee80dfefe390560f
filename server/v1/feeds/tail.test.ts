import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { startRedis } from '../../../test/servers/redis.ts'
import { type EventReader, openEvents } from '../../testing/events.ts'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import { openSocket } from '../../testing/raw-request.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

const tail = (feed: string, query = '', headers: Record<string, string> = {}): Promise<EventReader> =>
  openEvents(`${api.url}${feed}/tail${query}`, { 'X-Project-ID': 'test', ...headers })

async function bodies(events: EventReader, count: number): Promise<unknown[]> {
  const found: unknown[] = []
  while (found.length < count) found.push(JSON.parse((await events.nextNamed())?.data ?? 'null')?.body)
  return found
}

test('a tail gives existing messages and then new ones, each with its cursor as id', async () => {
  const feed = api.newFeed()
  const [first] = await api.append(feed, 'old')
  await using events = await tail(feed)

  const old = await events.nextNamed()
  expect([events.status, events.type]).toEqual([200, 'text/event-stream'])
  expect([old?.event, old?.id, JSON.parse(old?.data ?? '')]).toEqual([
    'message',
    first?.cursor,
    expect.objectContaining({ id: first?.id, cursor: first?.cursor, body: 'old', claims: 0 }),
  ])
  await api.whenWaiting(feed)
  await api.append(feed, 'new', 'newer')
  expect(await bodies(events, 2)).toEqual(['new', 'newer'])
})

test('a reader that reconnects with the last id misses nothing, whatever its query says', async () => {
  const feed = api.newFeed()
  const [first] = await api.append(feed, 1, 2, 3)
  await using events = await tail(feed, '?after=end', { 'Last-Event-ID': first?.cursor ?? '' })
  expect(await bodies(events, 2)).toEqual([2, 3])
})

test('a reader that begins at the end learns its position at once', async () => {
  const feed = api.newFeed()
  const [first] = await api.append(feed, 'old')
  const events = await tail(feed, '?after=end')
  const hello = await events.next()
  events.close()
  await api.append(feed, 'while away')

  expect([hello?.event, hello?.id]).toEqual([null, first?.cursor])
  await using again = await tail(feed, '?after=end', { 'Last-Event-ID': hello?.id ?? '' })
  expect(await bodies(again, 1)).toEqual(['while away'])
})

test('missing messages are reported before the message after them', async () => {
  const feed = api.newFeed()
  const [first] = await api.append(feed, 1, 2)
  await api.call('POST', `${feed}/messages?retentionCount=1`, { body: { body: 3 } })
  await using gap = await tail(feed, `?after=${first?.cursor}`)
  expect([(await gap.nextNamed())?.event, (await gap.nextNamed())?.event]).toEqual(['gap', 'message'])

  await api.call('DELETE', feed)
  await api.append(feed, 'next life')
  await using reset = await tail(feed, `?after=${first?.cursor}`)
  expect([(await reset.nextNamed())?.event, (await reset.nextNamed())?.event]).toEqual(['reset', 'message'])
})

test('a body with line breaks is one line of data, and keeps its numbers', async () => {
  const feed = api.newFeed()
  await api.call('POST', `${feed}/messages`, { body: '{"body":{\r\n"n":\n9007199254740993,\r"e":1e400}}' })
  await using events = await tail(feed)
  expect((await events.nextNamed())?.data).toContain('"body":{  "n": 9007199254740993, "e":1e400}}')
})

test('a tail hides messages on request', async () => {
  const feed = api.newFeed()
  await api.append(feed, 'claimed')
  await api.call('POST', `${feed}/claims`)
  await api.call('POST', `${feed}/messages?origin=ada`, { body: { body: 'mine' } })
  await api.append(feed, 'free')
  await using events = await tail(feed, '?origin=ada&echo=false&includeClaimed=false')
  expect(await bodies(events, 1)).toEqual(['free'])
})

test('a silent tail sends heartbeats that move the reader past hidden messages', async () => {
  await using own = await startFeedApi(inject('redisPort'), { feedLimits: { heartbeat: '20ms' } })
  const feed = own.newFeed()
  await using events = await openEvents(`${own.url}${feed}/tail?origin=ada&echo=false`)
  const hello = await events.next()
  const appended = await own.call('POST', `${feed}/messages?origin=ada`, {
    body: { body: 'hidden' },
    headers: { 'X-Project-ID': null },
  })

  let beat = await events.next()
  while (beat?.id === hello?.id) beat = await events.next()
  expect([beat?.event, beat?.id]).toEqual([null, appended.json.messages[0].cursor])
})

test('invalid arguments are rejected before the stream begins', async () => {
  const wrong = [
    ['?after=x', {}, 'after'],
    ['', { 'Last-Event-ID': 'x' }, 'after'],
    ['?echo=false', {}, 'origin'],
    ['?origin=a%20b', {}, 'origin'],
    ['?limit=5', {}, 'limit'],
    ['?includeClaimed=1', {}, 'includeClaimed'],
  ] as const
  for (const [query, headers, argument] of wrong) {
    const answer = await api.call('GET', `${api.newFeed()}/tail${query}`, { headers })
    expect([answer.status, answer.json.argument], query).toEqual([400, argument])
  }
})

test('a tail has no HEAD', async () => {
  expect((await fetch(`${api.url}${api.newFeed()}/tail`, { method: 'HEAD' })).status).toBe(405)
})

test('200 tails that are opened and dropped leave no waiters', async () => {
  // No heartbeat would detect that the client has left.
  await using own = await startFeedApi(inject('redisPort'), { feedLimits: { heartbeat: '10m' } })
  const feed = own.newFeed()
  const opened = await Promise.all(Array.from({ length: 200 }, () => openEvents(`${own.url}${feed}/tail`)))
  for (const events of opened) await events.next()
  await own.whenWaiting(feed)
  for (const events of opened) events.close()
  // The process listens as long as any request in it waits.
  await own.whenWaiting(feed, false)
})

test('200 long polls that are opened and dropped leave no waiters', async () => {
  const feed = api.newFeed()
  const leaving = new AbortController()
  const polls = Array.from({ length: 200 }, () =>
    fetch(`${api.url}${feed}/messages?wait=40s`, {
      headers: { 'X-Project-ID': 'test' },
      signal: leaving.signal,
    }).catch(() => 'left'),
  )
  await api.whenWaiting(feed)
  await sleep(100)
  leaving.abort()
  expect(new Set(await Promise.all(polls))).toEqual(new Set(['left']))
  await api.whenWaiting(feed, false)
})

test('a wait ends at the longest wait of the service, with the present result', async () => {
  await using own = await startFeedApi(inject('redisPort'), { feedLimits: { maxWaitMs: 30 } })
  const feed = own.newFeed()
  const [last] = await own.append(feed, 'a')
  const page = await own.call('GET', `${feed}/messages?after=${last?.cursor}&wait=1h`)
  const claim = await own.call('POST', `${own.newFeed()}/claims?wait=1h`)
  expect([page.status, page.json.next, claim.status]).toEqual([200, last?.cursor, 204])
})

test('closing the service ends tails and waits in order', async () => {
  const own = await startFeedApi(inject('redisPort'))
  const [feed, other] = [own.newFeed(), own.newFeed()]
  const events = await openEvents(`${own.url}${feed}/tail`)
  await events.next()
  await own.whenWaiting(feed)
  const poll = own.call('GET', `${other}/messages?wait=40s`)
  const claim = own.call('POST', `${other}/claims?wait=40s`)
  await own.whenWaiting(other)

  await own[Symbol.asyncDispose]()

  expect(await events.next()).toBeNull()
  expect([(await poll).status, (await claim).status]).toEqual([200, 204])
})

test('closing the service does not wait for connections without a request', async () => {
  const own = await startFeedApi(inject('redisPort'))
  const sockets = await Promise.all(Array.from({ length: 5 }, () => openSocket(own.url)))
  await own.call('GET', `${own.newFeed()}/messages`)
  await own[Symbol.asyncDispose]()
  for (const socket of sockets) socket.destroy()
})

test('no pages are read for a reader that does not read', async () => {
  const redis = await startRedis()
  const own = await startFeedApi(redis.port)
  const [feed, size, count] = [own.newFeed(), 500_000, 160]
  for (let at = 0; at < count; at += 1) await own.append(feed, `${at}-`.padEnd(size, 'x'))
  const before = await sentBy(own)
  const socket = connect(Number(new URL(own.url).port), '127.0.0.1')
  socket.write(`GET ${feed}/tail HTTP/1.1\r\nHost: x\r\nX-Project-ID: test\r\n\r\n`)
  await untilQuiet(own)
  const whileStuck = (await sentBy(own)) - before

  const found = await bodiesUntil(socket, count - 1)
  socket.destroy()
  await own[Symbol.asyncDispose]()
  await redis.stop()

  expect(whileStuck).toBeGreaterThan(size)
  expect(whileStuck).toBeLessThan((count / 2) * size)
  expect(found).toEqual(Array.from({ length: count }, (_, at) => at))
})

async function sentBy({ client }: FeedApi): Promise<number> {
  return Number(/total_net_output_bytes:(\d+)/.exec(await client.info('stats'))?.[1])
}

/** Resolves once Redis has sent something, and then next to nothing for a while. */
async function untilQuiet(own: FeedApi): Promise<void> {
  let [last, quiet, began] = [await sentBy(own), 0, false]
  while (!began || quiet < 10) {
    await sleep(50)
    const now = await sentBy(own)
    began ||= now - last > 1_000_000
    quiet = now - last < 100_000 ? quiet + 1 : 0
    last = now
  }
}

/** The numbers that the bodies begin with, up to `last`. */
async function bodiesUntil(socket: Socket, last: number): Promise<number[]> {
  const found: number[] = []
  let rest = ''
  for await (const chunk of socket) {
    rest = rest.slice(-20) + String(chunk)
    const numbers = [...rest.matchAll(/"body":"(\d+)-/g)].map(([, digits]) => Number(digits))
    found.push(...numbers.filter((number) => number > (found.at(-1) ?? -1)))
    if (found.at(-1) === last) break
  }
  return found
}
