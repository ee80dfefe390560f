import { bytes, InvalidArgumentError, jsonText, text } from 'perilune'
import { describe, expect, test } from 'vitest'
import { bodies, setup } from '../../test/feed-fixture.ts'

describe('appending', () => {
  test('ids rise in the order of the calls', async () => {
    const { feed } = await setup<number>()

    const appended = await Promise.all([feed.append(1), feed.append(2), feed.append(3)])

    const page = await feed.read()
    expect(bodies(page.messages)).toEqual([1, 2, 3])
    expect(page.messages.map(({ id }) => id)).toEqual(appended.map(({ id }) => id))
  })

  test('a hundred appends of one tick share a few script calls', async () => {
    const { feed, calls } = await setup<number>()
    await feed.append(0)
    calls.length = 0

    await Promise.all(Array.from({ length: 100 }, (_, n) => feed.append(n)))

    expect(calls.length).toBeLessThanOrEqual(2)
    expect((await feed.inspect()).total).toBe(101)
  })

  test('a feed with a byte limit keeps no more messages than fit', async () => {
    const { feed } = await setup<number>({ retention: { count: 3, bytes: 3 } })

    for (let n = 0; n < 9; n++) await feed.append(n)

    expect(bodies((await feed.read()).messages)).toEqual([6, 7, 8])
  })

  test('one message is one script call, also when something is due', async () => {
    const { feed, calls, clock } = await setup<number>({ ttl: '10s' })
    await feed.append(0)
    await feed.append(1)
    await clock.advance(10_000)
    calls.length = 0

    await feed.append(2)

    expect(calls).toHaveLength(1)
  })

  test('a large message is one script call, because it skips the fast path', async () => {
    const { feed, calls } = await setup<string>()
    await feed.append('first')
    calls.length = 0

    await feed.append('x'.repeat(20_000))
    await feed.append('last')

    expect(calls).toEqual(['feed/append', 'feed/append-alike'])
  })

  test('handles of the same feed share their batches', async () => {
    const { redis, name, calls, feed } = await setup<number>()
    await feed.append(0)
    calls.length = 0

    await Promise.all(Array.from({ length: 50 }, (_, n) => redis.feed<number>(name).append(n)))

    expect(calls.length).toBeLessThanOrEqual(2)
  })

  test('no other message comes between those of one appendMany', async () => {
    const { feed } = await setup<string>()

    await Promise.all(
      Array.from({ length: 20 }, (_author, by) =>
        feed.appendMany(Array.from({ length: 30 }, (_, n) => ({ body: `${by}.${n}` }))),
      ),
    )

    const { messages } = await feed.read({ limit: 1000 })
    const authors = bodies(messages).map((body) => body.split('.')[0])
    const changes = authors.filter((author, at) => author !== authors[at - 1])
    expect(changes).toHaveLength(20)
  })

  test('more messages than fit one call are sent in several calls, in order', async () => {
    const { feed, calls } = await setup<number>()

    const appended = await feed.appendMany(Array.from({ length: 2500 }, (_, body) => ({ body })))

    expect(appended).toHaveLength(2500)
    expect(calls.filter((name) => name.startsWith('feed/append'))).toHaveLength(3)
    const page = await feed.read({ limit: 1000, after: appended[1498]?.cursor ?? '' })
    expect(page.messages[0]?.body).toBe(1499)
  })

  test('an idempotency key appends once and returns the first id again', async () => {
    const { feed, clock } = await setup<string>({ idempotencyTtl: '1m' })

    const first = await feed.append('a', { idempotencyKey: 'k' })
    const again = await feed.append('b', { idempotencyKey: 'k' })
    await clock.advance(60_001)
    const later = await feed.append('c', { idempotencyKey: 'k' })

    expect(again).toMatchObject({ id: first.id, duplicate: true })
    expect(later.duplicate).toBe(false)
    expect(bodies((await feed.read()).messages)).toEqual(['a', 'c'])
  })

  test('the first append reports that it created the feed', async () => {
    const { feed } = await setup<number>()

    expect((await feed.append(1)).began).toBe(true)
    expect((await feed.append(2)).began).toBe(false)
  })

  test('JSON text is returned unchanged', async () => {
    const { feed } = await setup<string>({ codec: jsonText })
    const exact = '{"n": 9007199254740993, "x":1e400,  "e":[], "u":"\\u00e9"}'

    await feed.append(exact)

    expect(bodies((await feed.read()).messages)).toEqual([exact])
  })

  test('bytes are returned unchanged', async () => {
    const { feed } = await setup<Uint8Array>({ codec: bytes })
    const all = Uint8Array.from({ length: 256 }, (_, n) => n)

    await feed.append(all)

    expect(Buffer.from((await feed.read()).messages[0]?.body ?? [])).toEqual(Buffer.from(all))
  })

  test('another codec than that of the feed is rejected', async () => {
    const { feed, redis, name } = await setup<number>()
    await feed.append(1)

    const other = redis.feed<string>(name, { codec: text })

    await expect(other.append('x')).rejects.toThrow(InvalidArgumentError)
    await expect(other.read()).rejects.toThrow('json')
  })
})
