import { setTimeout as sleep } from 'node:timers/promises'
import { type Perilune, text } from 'perilune'
import { describe, expect, test } from 'vitest'
import { bodies, setup as feedSetup } from '../../test/feed-fixture.ts'
import { keysFor, numbers, readAll, setup } from '../../test/partitioned-fixture.ts'

// Shorter than the polling interval of a waiter.
const WOKEN = { timeout: 8_000 }

describe('reading', () => {
  test.each([1, 2, 3, 7, 20, 100, 1000])(
    'pages of %i return every message once, oldest first',
    async (limit) => {
      const { feed } = setup<number>()
      for (const n of numbers(60)) await feed.append(n, { key: `${n % 11}` })

      const { messages, pages } = await readAll(feed, limit)

      expect(bodies(messages)).toEqual(numbers(60))
      expect(pages).toBeLessThanOrEqual(Math.ceil(60 / limit) + 1)
    },
  )

  test('a page of evenly distributed messages is one script call for each partition', async () => {
    const { redis, name, calls } = await feedSetup({ clock: 'real' })
    const feed = redis.feed<number>(name, { partitions: 4 })
    for (const n of numbers(60)) await feed.append(n)
    calls.length = 0

    const page = await feed.read({ limit: 20 })

    expect(page.messages).toHaveLength(20)
    expect(calls).toEqual(['feed/read', 'feed/read', 'feed/read', 'feed/read'])
  })

  test('a page is full when one partition has all the messages', async () => {
    const { feed } = setup<number>()
    await feed.appendMany(numbers(100).map((body) => ({ body, key: 'hot' })))

    const page = await feed.read({ limit: 60 })

    expect(bodies(page.messages)).toEqual(numbers(60))
    expect(page.more).toBe(true)
  })

  test('a page ends after the message that reaches maxBytes', async () => {
    const { feed } = setup<string>()
    for (let n = 0; n < 12; n += 1) await feed.append('x'.repeat(100), { key: `${n % 5}` })

    const page = await feed.read({ maxBytes: 350 })
    const rest = await feed.read({ after: page.next, limit: 100 })

    expect([page.messages.length, page.more]).toEqual([4, true])
    expect(rest.messages).toHaveLength(8)
    await expect(feed.read({ maxBytes: 0 })).rejects.toThrow(/^maxBytes must be/)
  })

  test.each([1, 250, 100_000])(
    'a page of %i bytes has no message after the one that reaches them',
    async (maxBytes) => {
      const { feed } = setup<string>({ codec: text })
      for (const n of numbers(12)) await feed.append(`${n} `.padEnd(100, 'x'), { key: `${n % 5}` })

      const met: number[] = []
      for (let after: string | undefined, more = true; more; ) {
        const page = await feed.read({ maxBytes, limit: 100, ...(after === undefined ? {} : { after }) })
        expect(page.messages.length).toBeLessThanOrEqual(Math.ceil(maxBytes / 100))
        met.push(...page.messages.map(({ body }) => Number.parseInt(body, 10)))
        ;({ next: after, more } = page)
      }

      expect(met).toEqual(numbers(12))
    },
  )

  test('the cursor of any message leads to the following messages', async () => {
    const { feed } = setup<number>()
    for (const n of numbers(30)) await feed.append(n, { key: `${n % 7}` })
    const { messages } = await feed.read({ limit: 30 })

    for (const { body, cursor } of messages) {
      const rest = await feed.read({ after: cursor ?? '', limit: 100 })
      expect(bodies(rest.messages)).toEqual(numbers(30).slice(body + 1))
    }
  })

  test('a message appended between two pages is read, in whichever partition', async () => {
    const { feed } = setup<number>()
    const keys = keysFor(4)
    const met: number[] = []
    let after = (await feed.read({ after: 'end' })).next
    for (const n of numbers(40)) {
      await feed.append(n, { key: keys[(n * 7) % 4] ?? '' })
      if (n % 3 === 0) continue
      const page = await feed.read({ after, limit: 2 })
      met.push(...bodies(page.messages))
      after = page.next
    }

    met.push(...bodies((await feed.read({ after, limit: 100 })).messages))

    expect(met.toSorted((a, b) => a - b)).toEqual(numbers(40))
  })

  test('a page of large messages has four MiB', async () => {
    const mib = 1024 * 1024
    const { feed } = setup<string>({ codec: text })
    const keys = keysFor(4)
    for (const n of numbers(24)) await feed.append(`${n} `.padEnd(mib, 'x'), { key: keys[n % 4] ?? '' })

    const { messages, pages } = await readAll(feed, 1000)

    expect(messages.map(({ body }) => Number.parseInt(body, 10))).toEqual(numbers(24))
    expect(pages).toBe(6)
  })

  test('a gap is reported once, with its partition', async () => {
    const { feed } = setup<number>({ retention: 2 })
    const keys = keysFor(4)
    await feed.append(0, { key: keys[1] ?? '' })
    await feed.append(0, { key: keys[2] ?? '' })
    const { next } = await feed.read()
    await feed.append(1, { key: keys[2] ?? '' })
    for (const n of numbers(10)) await feed.append(10 + n, { key: keys[1] ?? '' })

    const page = await feed.read({ after: next, limit: 1 })
    const rest = await feed.read({ after: page.next })

    expect(page).toMatchObject({ gap: true, gaps: [1], reset: false, resets: [] })
    expect(bodies(page.messages)).toEqual([1])
    expect(rest).toMatchObject({ gap: false, reset: false, more: false })
    expect(bodies(rest.messages).at(-1)).toBe(19)
  })

  test('a feed that was cleared and created again is reported as a reset, once', async () => {
    const { feed } = setup<number>()
    await feed.appendMany(numbers(20).map((body) => ({ body, key: `${body}` })))
    const { next } = await feed.read({ limit: 100 })
    await feed.clear()
    await feed.appendMany(numbers(20).map((body) => ({ body: body + 100, key: `${body}` })))

    const page = await feed.read({ after: next, limit: 3 })
    const rest = await feed.read({ after: page.next, limit: 100 })

    expect(page).toMatchObject({ reset: true, gap: false, resets: [0, 1, 2, 3] })
    expect(rest).toMatchObject({ reset: false, gap: false })
    expect(bodies([...page.messages, ...rest.messages]).toSorted((a, b) => a - b)).toEqual(
      numbers(20).map((n) => n + 100),
    )
  })

  test.each([0, 1, 2, 3])('a waiting reader is woken by partition %i', WOKEN, async (partition) => {
    const { feed } = setup<string>()
    const { next } = await feed.read()

    const waiting = feed.read({ after: next, wait: '20s' })
    await sleep(150)
    await feed.append('now', { key: keysFor(4)[partition] ?? '' })

    expect((await waiting).messages).toMatchObject([{ body: 'now', partition }])
  })

  test('a delayed message wakes a reader when it becomes due', WOKEN, async () => {
    const { feed } = setup<string>()
    await feed.append('late', { delay: '300ms' })

    expect(bodies((await feed.read({ wait: '20s' })).messages)).toEqual(['late'])
  })

  test('a read returns an empty page after its wait, and an abort ends the wait', async () => {
    const { feed } = setup<string>()
    const stop = new AbortController()

    expect(await feed.read({ wait: '50ms' })).toMatchObject({ messages: [], more: false })
    const waiting = feed.read({ wait: '20s', signal: stop.signal })
    setTimeout(() => stop.abort(new Error('enough')), 50)

    await expect(waiting).rejects.toThrow('enough')
  })

  test('a reader does not see messages of its own origin, and skips them', async () => {
    const { redis, name, feed } = setup<number>({ origin: 'me' })
    await feed.appendMany(numbers(50).map((body) => ({ body, key: `${body}` })))
    await redis.feed<number>(name, { partitions: 4, origin: 'you' }).append(50)

    const page = await feed.read({ echo: false })
    const rest = await feed.read({ after: page.next })

    expect(bodies(page.messages)).toEqual([50])
    expect(rest.messages).toEqual([])
  })

  test('a tail yields every message, and reports which partition lost some', async () => {
    const { feed } = setup<number>({ retention: 2 })
    const keys = keysFor(4)
    await feed.append(-1, { key: keys[0] ?? '' })
    const { next } = await feed.read()
    await feed.append(0, { key: keys[3] ?? '' })
    for (const n of numbers(5)) await feed.append(n + 1, { key: keys[0] ?? '' })

    const met: [number, string | null][] = []
    for await (const { body, lostBefore } of feed.tail({ after: next })) {
      met.push([body, lostBefore])
      if (body === 5) break
    }

    expect(met).toEqual([
      [0, null],
      [4, 'gap'],
      [5, null],
    ])
  })

  describe.each(['tail', 'read of a subscriber'])('%s', (what) => {
    const follow = async (end: (aborter: AbortController, redis: Perilune) => unknown) => {
      const { feed, redis } = setup<number>()
      await feed.appendMany(Array.from({ length: 30 }, (_, n) => ({ body: n, key: `${n}` })))
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
