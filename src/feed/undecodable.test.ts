import { jsonText, type UndecodableMessage } from 'perilune'
import { describe, expect, test } from 'vitest'
import { bodies, setup as setupPlain } from '../../test/feed-fixture.ts'
import { setup as setupPartitioned } from '../../test/partitioned-fixture.ts'

const BAD = 'no JSON'

/** Seven messages; another program stored the fourth in another format. */
async function setup(options = {}) {
  const { feed, redis, name, clock, calls } = await setupPlain<number>(options)
  const raw = redis.feed(name, { codec: jsonText })
  await feed.appendMany([1, 2, 3].map((body) => ({ body })))
  const bad = await raw.append(BAD)
  await feed.appendMany([4, 5, 6].map((body) => ({ body })))
  return { feed, raw, bad, redis, name, clock, calls }
}

const shown = (messages: readonly UndecodableMessage[]): unknown[] =>
  messages.map(({ id, bytes, error }) => [id, Buffer.from(bytes).toString(), (error as Error).name])

describe('a message that the codec cannot decode', () => {
  test('is returned apart from the others of its page, and its cursor leads on', async () => {
    const { feed, bad } = await setup()

    const page = await feed.read()
    const rest = await feed.read({ after: page.undecodable[0]?.cursor ?? '' })

    expect(bodies(page.messages)).toEqual([1, 2, 3, 4, 5, 6])
    expect(shown(page.undecodable)).toEqual([[bad.id, BAD, 'SyntaxError']])
    expect('body' in (page.undecodable[0] ?? {})).toBe(false)
    expect([bodies(rest.messages), rest.undecodable]).toEqual([[4, 5, 6], []])
  })

  test('can be the only message of a page, which then reports whether more follow', async () => {
    const { feed, raw } = await setup()
    await raw.append(BAD)
    const { next } = await feed.read({ limit: 3 })

    const page = await feed.read({ after: next, limit: 1 })

    expect([page.messages, page.undecodable.length, page.more]).toEqual([[], 1, true])
    expect(bodies((await feed.read({ after: page.next })).messages)).toEqual([4, 5, 6])
  })

  test('wakes a waiting reader like any other', async () => {
    const { feed, redis, name } = await setupPlain<number>()
    const waiting = feed.read({ wait: '20s' })
    await redis.feed(name, { codec: jsonText }).append(BAD)
    expect((await waiting).undecodable).toHaveLength(1)
  })

  test.each(['tail', 'read of a subscriber'])('is reported in order by %s, and skipped', async (what) => {
    const { feed, bad } = await setup()
    const seen: unknown[] = []
    const ending = new AbortController()
    const onUndecodable = (message: UndecodableMessage) => {
      seen.push(message.id)
      throw new Error('of no consequence')
    }
    const options = { onUndecodable, signal: ending.signal }
    const thrown: unknown[] = []
    const hear = (error: unknown) => thrown.push(error)
    const others = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.on('uncaughtException', hear)

    const following = what === 'tail' ? feed.tail(options) : feed.subscriber('s').read(options)
    for await (const { body, lostBefore } of following) {
      seen.push(lostBefore === null ? body : [body, lostBefore])
      if (body === 6) break
    }
    process.off('uncaughtException', hear)
    for (const other of others) process.on('uncaughtException', other)

    expect(seen).toEqual([1, 2, 3, bad.id, [4, 'undecodable'], 5, 6])
    expect(thrown).toHaveLength(1)
  })

  test('is on the pages of a subscriber, which advances past it', async () => {
    const { feed } = await setup()
    const subscriber = feed.subscriber('s')
    const page = await subscriber.page({ limit: 4 })
    expect([bodies(page.messages), page.undecodable.length]).toEqual([[1, 2, 3], 1])
    await subscriber.commit(page.next)
    expect(bodies((await subscriber.page()).messages)).toEqual([4, 5, 6])
  })

  test('is found by its id', async () => {
    const { feed, bad } = await setup()
    const found = await feed.get([bad.id])
    expect([found.messages, shown(found.undecodable)]).toEqual([[], [[bad.id, BAD, 'SyntaxError']]])
  })

  test('is shown by inspect, as the oldest and the newest', async () => {
    const { feed, redis, name } = await setupPlain<number>()
    const { id } = await redis.feed(name, { codec: jsonText }).append(BAD)
    const { oldest, newest } = await feed.inspect()
    expect([oldest, newest]).toMatchObject([{ id, bytes: Buffer.from(BAD) }, { id }])
  })

  test('becomes a dead letter when it is claimed, and the others are processed', async () => {
    const { feed, bad } = await setup({ maxClaims: 3, deadLettersTtl: '1h' })

    const claim = await feed.claim()
    const letters = await feed.deadLetters.read()

    expect(bodies(claim?.messages ?? [])).toEqual([1, 2, 3, 4, 5, 6])
    expect(shown(claim?.undecodable ?? [])).toEqual([[bad.id, BAD, 'SyntaxError']])
    expect([letters.messages, shown(letters.undecodable)]).toEqual([[], [[bad.id, BAD, 'SyntaxError']]])
    expect(letters.undecodable[0]?.expiresAtMs).not.toBeNull()
    expect(await claim?.ack()).toEqual([])
    expect(await feed.inspect()).toMatchObject({ total: 0, claimed: 0, claims: 0, deadLetters: 1 })
  })

  test('does not fill a claim: the claim continues after it', async () => {
    const { feed, raw } = await setup()
    await feed.pop({ limit: 3 })
    await raw.appendMany([BAD, BAD].map((body) => ({ body })))
    await feed.append(7)

    const claims = [
      await feed.claim({ limit: 1 }),
      await feed.claim({ limit: 2 }),
      await feed.claim({ limit: 1 }),
    ]

    expect(claims.map((claim) => bodies(claim?.messages ?? []))).toEqual([[4], [5, 6], [7]])
    expect(await feed.claim()).toBeNull()
    expect((await feed.inspect()).deadLetters).toBe(3)
  })

  test('is not popped, and not lost', async () => {
    const { feed } = await setup()
    expect(bodies(await feed.pop())).toEqual([1, 2, 3, 4, 5, 6])
    expect(await feed.inspect()).toMatchObject({ total: 0, deadLetters: 1 })
  })

  test('stays in a looked-up claim until it ends, and is not acked with all', async () => {
    const { feed, raw, bad, clock } = await setup()
    const other = await raw.claim({ lease: '10s' })

    const found = await feed.byToken.get({ token: other?.token ?? 1 })
    await found?.ack()

    expect(bodies(found?.messages ?? [])).toEqual([1, 2, 3, 4, 5, 6])
    expect(shown(found?.undecodable ?? [])).toEqual([[bad.id, BAD, 'SyntaxError']])
    expect(await feed.inspect()).toMatchObject({ total: 1, claimed: 1 })
    await clock.advance(10_000)
    expect(bodies((await raw.claim())?.messages ?? [])).toEqual([BAD])
  })

  describe('among dead letters', () => {
    async function setupDead() {
      const made = await setup({ maxClaims: 1 })
      await (await made.feed.claim())?.release()
      await made.feed.claim()
      return { ...made, letters: made.feed.deadLetters }
    }

    test('is held by a claim like the others, and an ack of all leaves it', async () => {
      const { letters, bad } = await setupDead()

      const claim = await letters.claim()
      await claim?.ack()

      expect(bodies(claim?.messages ?? [])).toEqual([1, 2, 3, 4, 5, 6])
      expect(shown(claim?.undecodable ?? [])).toEqual([[bad.id, BAD, 'SyntaxError']])
      expect(await letters.inspect()).toMatchObject({ total: 1, claimed: 1 })
      await claim?.ack([bad.id])
      expect((await letters.inspect()).total).toBe(0)
    })

    test('does not block the messages after it from being popped', async () => {
      const { letters } = await setupDead()
      const taken: number[] = []
      for (;;) {
        const some = await letters.pop({ limit: 1 })
        if (some.length === 0) break
        taken.push(...bodies(some))
      }
      expect(taken).toEqual([1, 2, 3, 4, 5, 6])
      expect(await letters.inspect()).toMatchObject({ total: 1, claimed: 0 })
    })

    test('is not moved to another feed, but the others are', async () => {
      const { feed, letters, redis, name } = await setupDead()
      const target = redis.feed<number>(`${name} target`)
      expect(await feed.moveDeadLetters(target)).toBe(6)
      expect(bodies((await target.read()).messages)).toEqual([1, 2, 3, 4, 5, 6])
      expect((await letters.read()).undecodable).toHaveLength(1)
    })
  })
})

describe('in partitions, a message that the codec cannot decode', () => {
  async function setupParts() {
    const { feed, redis, name } = setupPartitioned<number>()
    const raw = redis.feed(name, { codec: jsonText, partitions: feed.partitions })
    await feed.appendMany([1, 2, 3].map((body) => ({ body, key: 'k' })))
    const bad = await raw.append(BAD, { key: 'k' })
    await feed.appendMany([4, 5, 6].map((body) => ({ body, key: 'k' })))
    return { feed, bad }
  }

  test('is returned apart from the others of its page, is found and shown', async () => {
    const { feed, bad } = await setupParts()
    const page = await feed.read()
    const found = await feed.get([bad.id])
    expect(bodies(page.messages)).toEqual([1, 2, 3, 4, 5, 6])
    expect(shown(page.undecodable)).toEqual([[bad.id, BAD, 'SyntaxError']])
    expect(page.undecodable[0]?.partition).toBe(bad.partition)
    expect(bodies((await feed.read({ after: page.undecodable[0]?.cursor ?? '' })).messages)).toEqual([
      4, 5, 6,
    ])
    expect(shown(found.undecodable)).toEqual([[bad.id, BAD, 'SyntaxError']])
    expect((await feed.inspect()).total).toBe(7)
  })

  test('is reported in order to tails', async () => {
    const { feed, bad } = await setupParts()
    const seen: unknown[] = []
    const onUndecodable = ({ id }: { id: string }) => seen.push(id)
    for await (const { body, lostBefore } of feed.subscriber('s').read({ onUndecodable })) {
      seen.push(lostBefore === null ? body : [body, lostBefore])
      if (body === 6) break
    }
    expect(seen).toEqual([1, 2, 3, bad.id, [4, 'undecodable'], 5, 6])
  })

  test('becomes a dead letter of the claim that meets it', async () => {
    const { feed, bad } = await setupParts()
    const claim = await feed.claim()
    expect(bodies(claim?.messages ?? [])).toEqual([1, 2, 3, 4, 5, 6])
    expect(shown(claim?.undecodable ?? [])).toEqual([[bad.id, BAD, 'SyntaxError']])
    await claim?.ack()
    expect(await feed.inspect()).toMatchObject({ total: 0, deadLetters: 1 })
    const letters = await feed.deadLetters.claim()
    expect([letters?.messages, letters?.undecodable.length]).toEqual([[], 1])
    await letters?.ack()
    expect((await feed.deadLetters.inspect()).total).toBe(1)
  })
})
