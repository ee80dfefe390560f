import { setTimeout as sleep } from 'node:timers/promises'
import { type Perilune, text } from 'perilune'
import { describe, expect, test } from 'vitest'
import { bodies, setup } from '../../test/feed-fixture.ts'

const MIB = 1024 * 1024

describe('reading', () => {
  test('one page is one script call', async () => {
    const { feed, calls } = await setup<number>()
    await feed.appendMany(Array.from({ length: 40 }, (_, body) => ({ body })))
    calls.length = 0

    const page = await feed.read({ limit: 20 })

    expect(page).toMatchObject({ more: true, gap: false, reset: false })
    expect(page.messages).toHaveLength(20)
    expect(calls).toEqual(['feed/read'])
  })

  test('a page has claimed messages unless includeClaimed is false', async () => {
    const { feed } = await setup<string>()
    await feed.appendMany([{ body: 'claimed' }, { body: 'free' }])
    await feed.claim({ limit: 1 })

    expect(bodies((await feed.read()).messages)).toEqual(['claimed', 'free'])
    expect(bodies((await feed.read({ includeClaimed: false })).messages)).toEqual(['free'])
  })

  test('a reader with lookThrough gets an empty page with more, and continues from there', async () => {
    const { feed, redis, name, calls } = await setup<number>({ origin: 'me' })
    for (let round = 0; round < 4; round += 1) {
      await feed.appendMany(Array.from({ length: 1000 }, (_, body) => ({ body })))
    }
    await redis.feed<number>(name).append(-1)
    calls.length = 0

    const page = await feed.read({ limit: 1, echo: false, lookThrough: 2000 })
    const waited = await feed.read({ limit: 1, echo: false, lookThrough: 1, wait: '20s' })
    const on = await feed.read({ limit: 1, echo: false, lookThrough: 3000, after: page.next })

    expect([page.messages, page.more, waited.messages, waited.more]).toEqual([[], true, [], true])
    expect(bodies(on.messages)).toEqual([-1])
    expect(calls.slice(0, 3)).toEqual(['feed/read', 'feed/read', 'feed/read'])
    await expect(feed.read({ lookThrough: 0 })).rejects.toThrow(/^lookThrough must be/)
  })

  test('a page ends after the message that reaches maxBytes', async () => {
    const { feed } = await setup<string>()
    await feed.appendMany(Array.from({ length: 5 }, () => ({ body: 'x'.repeat(100) })))

    const [page, smallest] = [await feed.read({ maxBytes: 150 }), await feed.read({ maxBytes: 1 })]

    expect([page.messages.length, page.more]).toEqual([2, true])
    expect([smallest.messages.length, smallest.more]).toEqual([1, true])
    expect((await feed.read({ after: page.next })).messages).toHaveLength(3)
    await expect(feed.read({ maxBytes: 0 })).rejects.toThrow(/^maxBytes must be/)
    await expect(feed.read({ maxBytes: 4 * 1024 * 1024 + 1 })).rejects.toThrow(/^maxBytes must be/)
  })

  test('a waiting reader is woken by an append', async () => {
    const { feed } = await setup<string>({ clock: 'real' })
    const { next } = await feed.read({ after: 'end' })

    const waiting = feed.read({ after: next, wait: '20s' })
    await sleep(100)
    await feed.append('now')

    expect(bodies((await waiting).messages)).toEqual(['now'])
  })

  test('waiting readers do not poll the server', async () => {
    const { feed, calls } = await setup<string>({ clock: 'real' })
    const { next } = await feed.read({ after: 'end' })
    calls.length = 0

    await feed.read({ after: next, wait: '1500ms' })

    expect(calls.length).toBeLessThanOrEqual(3)
  })

  test('a delayed message wakes a reader when it becomes due', async () => {
    const { feed } = await setup<string>({ clock: 'real' })
    await feed.append('late', { delay: '300ms' })

    const page = await feed.read({ wait: '20s' })

    expect(bodies(page.messages)).toEqual(['late'])
  })

  test('a read returns an empty page after its wait', async () => {
    const { feed } = await setup<string>({ clock: 'real' })
    await feed.append('old')
    const { next } = await feed.read()

    const page = await feed.read({ after: next, wait: '50ms' })

    expect(page).toMatchObject({ messages: [], next, more: false })
  })

  test('an abort ends the wait with its reason', async () => {
    const { feed } = await setup<string>({ clock: 'real' })
    const stop = new AbortController()

    const waiting = feed.read({ wait: '20s', signal: stop.signal })
    setTimeout(() => stop.abort(new Error('enough')), 50)

    await expect(waiting).rejects.toThrow('enough')
  })

  test('a tail yields every message and reports what was lost before it', async () => {
    const { feed } = await setup<number>({ retention: 5 })
    await feed.append(0)
    const { next } = await feed.read()
    await feed.appendMany(Array.from({ length: 8 }, (_, n) => ({ body: n + 1 })))
    await feed.append(9)

    const met: [number, string | null][] = []
    for await (const { body, lostBefore } of feed.tail({ after: next })) {
      met.push([body, lostBefore])
      if (body === 9) break
    }

    expect(met).toEqual([
      [5, 'gap'],
      [6, null],
      [7, null],
      [8, null],
      [9, null],
    ])
  })

  test('a page with only hidden messages still moves its cursor', async () => {
    const { feed, redis, name } = await setup<number>({ origin: 'me' })
    await feed.appendMany(Array.from({ length: 3000 }, (_, body) => ({ body })))
    const other = redis.feed<number>(name, { origin: 'other' })
    await other.append(1)

    const page = await feed.read({ echo: false })

    expect(bodies(page.messages)).toEqual([1])
  })

  test('get returns messages in the order of the ids and omits unknown ids', async () => {
    const { feed } = await setup<string>()
    const a = await feed.append('a')
    const b = await feed.append('b')
    const late = await feed.append('c', { delay: '1m' })

    const { messages } = await feed.get([late.id, b.id, 'no-such-id', '12', a.id])

    expect(bodies(messages)).toEqual(['c', 'b', 'a'])
    expect(messages[0]?.cursor).toBeNull()
  })

  test('a page ends after the message that reaches 4 MiB, and the next page continues there', async () => {
    const { feed } = await setup<string>({ codec: text })
    const large = ['a', 'b', 'c'].map((letter) => letter.repeat(2 * MIB))
    for (const body of large) await feed.append(body)

    const page = await feed.read({ limit: 1000 })
    const rest = await feed.read({ limit: 1000, after: page.next })

    expect(page.more).toBe(true)
    expect(bodies(page.messages)).toEqual(large.slice(0, 2))
    expect(rest.more).toBe(false)
    expect(bodies(rest.messages)).toEqual(large.slice(2))
  })

  test('get returns all messages, in as many calls as their sizes need', async () => {
    const { feed, calls } = await setup<string>({ codec: text })
    const large = ['a', 'b', 'c'].map((letter) => letter.repeat(2 * MIB))
    const ids: string[] = []
    for (const body of large) ids.push((await feed.append(body)).id)
    calls.length = 0

    const { messages } = await feed.get([...ids, ids[0] ?? '', '1'])

    expect(bodies(messages)).toEqual(large)
    expect(calls).toEqual(['feed/get', 'feed/get'])
  })

  describe.each(['tail', 'read of a subscriber'])('%s', (what) => {
    const follow = async (end: (aborter: AbortController, redis: Perilune) => unknown) => {
      const { feed, redis } = await setup<number>()
      await feed.appendMany(Array.from({ length: 30 }, (_, n) => ({ body: n })))
      const aborter = new AbortController()
      const { signal } = aborter
      const terms = { signal, limit: 100 }
      const messages = what === 'tail' ? feed.tail(terms) : feed.subscriber('s').read(terms)
      const met: number[] = []
      try {
        for await (const { body } of messages) {
          met.push(body)
          if (met.length === 3) await end(aborter, redis)
        }
      } catch (error) {
        return { met: met.length, error }
      }
      return { met: met.length, error: null }
    }

    test('yields no more messages of a page after its signal has aborted', async () => {
      const reason = new Error('enough')
      expect(await follow((aborter) => aborter.abort(reason))).toEqual({ met: 3, error: reason })
    })

    test('yields no more messages of a page after the instance closes', async () => {
      expect(await follow((_, redis) => redis.close())).toEqual({
        met: 3,
        error: expect.objectContaining({ name: 'DriverError', code: 'closed' }),
      })
    })
  })
})
