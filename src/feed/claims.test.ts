import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { LeaseLostError } from 'perilune'
import { describe, expect, test } from 'vitest'
import { bodies, setup } from '../../test/feed-fixture.ts'

describe('claiming', () => {
  test('a claim of twenty is one script call, and no other claim gets them', async () => {
    const { feed, calls } = await setup<number>()
    await feed.appendMany(Array.from({ length: 30 }, (_, body) => ({ body })))
    calls.length = 0

    const first = await feed.claim({ limit: 20 })
    const second = await feed.claim({ limit: 20 })

    expect(calls).toEqual(['feed/claim', 'feed/claim'])
    expect(first?.messages).toHaveLength(20)
    expect(bodies(second?.messages ?? [])).toEqual([20, 21, 22, 23, 24, 25, 26, 27, 28, 29])
  })

  test('an expired claim is lost to its holder, and its messages are free for others', async () => {
    const { feed, clock } = await setup<string>()
    await feed.append('work')
    const slow = await feed.claim({ lease: '10s' })
    await clock.advance(10_000)

    const quick = await feed.claim({ lease: '10s' })

    expect(bodies(quick?.messages ?? [])).toEqual(['work'])
    await expect(slow?.ack()).rejects.toThrow(LeaseLostError)
    await expect(slow?.extend('10s')).rejects.toThrow(LeaseLostError)
    await expect(slow?.release()).rejects.toThrow(LeaseLostError)
    expect(await quick?.ack()).toEqual([])
  })

  test('an extension without a length makes the claim last as long as before', async () => {
    const { feed, clock } = await setup<string>()
    await feed.append('work')
    const claim = await feed.claim({ lease: '10s' })
    await clock.advance(9000)

    await claim?.extend()

    expect(claim?.leaseMs).toBe(10_000)
    await clock.advance(9999)
    expect(await claim?.ack()).toEqual([])
  })

  test('a second ack or release of a claim does nothing, and the claim holds nothing', async () => {
    const { feed, calls } = await setup<number>()
    await feed.appendMany([{ body: 1 }, { body: 2 }])
    const [first, second] = [await feed.claim({ limit: 1 }), await feed.claim({ limit: 1 })]
    first?.assertHeld()
    await first?.ack()
    await second?.release()
    calls.length = 0

    expect(await first?.ack()).toEqual([])
    await first?.release()
    await second?.release()

    expect(calls).toEqual([])
    expect([first?.remainingMs, second?.remainingMs]).toEqual([0, 0])
    expect(() => first?.assertHeld()).toThrow(LeaseLostError)
    await expect(second?.ack()).rejects.toThrow(LeaseLostError)
  })

  test('leaving the block gives back what was not acked', async () => {
    const { feed } = await setup<number>()
    await feed.appendMany([{ body: 1 }, { body: 2 }])

    {
      await using claim = await feed.claim()
      await claim?.ack([claim.messages[0]?.id ?? ''])
    }

    const next = await feed.claim()
    expect(bodies(next?.messages ?? [])).toEqual([2])
  })

  test('a waiting worker is woken when a message is given back', async () => {
    const { feed } = await setup<string>({ clock: 'real' })
    await feed.append('work')
    const held = await feed.claim({ lease: '1m' })

    const waiting = feed.claim({ wait: '20s' })
    await sleep(100)
    await held?.release()

    expect(bodies((await waiting)?.messages ?? [])).toEqual(['work'])
  })

  test('a waiting worker gets the messages of a dead one as soon as its lease ends', async () => {
    const { feed } = await setup<string>({ clock: 'real' })
    await feed.append('work')
    await feed.claim({ lease: '300ms' })

    const claim = await feed.claim({ wait: '20s' })

    expect(bodies(claim?.messages ?? [])).toEqual(['work'])
  })

  test('another process finds a claim by its token', async () => {
    const { feed, redis, name } = await setup<string>()
    await feed.append('work')
    const claim = await feed.claim({ lease: '30s' })

    const found = await redis.feed<string>(name).byToken.get({ token: claim?.token ?? 0 })

    expect(bodies(found?.messages ?? [])).toEqual(['work'])
    expect(found?.leaseMs).toBe(30_000)
    expect(await feed.byToken.get({ token: 1 })).toBeNull()
  })

  test('the token is enough to extend, ack and release', async () => {
    const { feed, calls } = await setup<number>()
    await feed.appendMany([{ body: 1 }, { body: 2 }, { body: 3 }])
    const claim = await feed.claim({ limit: 3, lease: '10s' })
    const [first, second] = claim?.messages ?? []
    const token = claim?.token ?? 0
    calls.length = 0

    expect(await feed.byToken.extend([{ token }], '1m')).toEqual({
      leaseMs: 60_000,
      expiresAtMs: (claim?.expiresAtMs ?? 0) + 50_000,
      claims: [{ outcome: 'extended' }],
    })
    expect(await feed.byToken.ack([{ token, ids: [first?.id ?? '', 'forged'] }])).toEqual([
      { outcome: 'acked', refused: [{ id: 'forged', reason: 'absent' }] },
    ])
    expect(await feed.byToken.release([{ token, ids: [second?.id ?? ''] }])).toEqual([
      { outcome: 'released' },
    ])

    expect(calls).toEqual(['feed/extend', 'feed/ack', 'feed/release'])
    expect(await feed.inspect()).toMatchObject({ total: 2, free: 1, claimed: 1 })
    expect(await feed.byToken.release([{ token }])).toEqual([{ outcome: 'released' }])
    expect(await feed.byToken.ack([{ token }])).toEqual([{ outcome: 'lost' }])
    expect(await feed.byToken.extend([{ token }])).toEqual({
      leaseMs: 30_000,
      expiresAtMs: null,
      claims: [{ outcome: 'lost' }],
    })
  })

  test.each<[string, string[]]>([
    ['no ids', []],
    ['ids that name nothing', ['zz', '']],
  ])('with %s, nothing is settled, neither of an unknown nor of a live claim', async (_, ids) => {
    const { feed } = await setup<number>()
    await feed.append(1)
    const claim = await feed.claim()
    const token = claim?.token ?? 0
    const absent = ids.map((id) => ({ id, reason: 'absent' }))

    expect(await feed.byToken.ack([{ token: 5, ids }])).toEqual([{ outcome: 'lost' }])
    expect(await feed.byToken.release([{ token: 5, ids }])).toEqual([{ outcome: 'lost' }])
    expect(await feed.byToken.ack([{ token, ids }])).toEqual([{ outcome: 'acked', refused: absent }])
    expect(await feed.byToken.release([{ token, ids }])).toEqual([{ outcome: 'released' }])
    expect(await claim?.ack(ids)).toEqual(absent)
    await claim?.release(ids)
    expect(await feed.inspect()).toMatchObject({ total: 1, claimed: 1 })
    await claim?.ack()
    expect(await feed.byToken.ack([{ token, ids }])).toEqual([{ outcome: 'lost' }])
  })

  const wrong: [argument: string, claims: readonly object[]][] = [
    ['claims', []],
    ['claims', Array.from({ length: 501 }, () => ({ token: 1 }))],
    ['claim', ['7'] as never],
    ['claim.odd', [{ token: 1, odd: 1 }]],
    ['token', [{ token: 1 }, { token: '2' }]],
    ['ids', [{ token: 1, ids: 'some' }]],
  ]
  test.each(wrong)('wrong tokens are rejected before anything is sent: %s', async (argument, claims) => {
    const { feed, calls } = await setup<number>()
    calls.length = 0

    for (const settle of ['ack', 'release'] as const) {
      await expect(feed.byToken[settle](claims as never)).rejects.toMatchObject({ argument })
    }
    expect(calls).toEqual([])
  })

  test('the time left never exceeds what the server granted', async () => {
    const { feed } = await setup<string>({ clock: 'real' })
    await feed.append('work')

    const claim = await feed.claim({ lease: '10s' })

    expect(claim?.remainingMs).toBeLessThanOrEqual(10_000)
    expect(claim?.remainingMs).toBeGreaterThan(0)
  })

  test('messages claimed too often become dead letters and can be moved to another feed once', async () => {
    const { feed, redis } = await setup<string>({ maxClaims: 2, clock: 'real' })
    const { id } = await feed.append('poison')
    for (let n = 0; n < 2; n++) await (await feed.claim())?.release()

    expect(await feed.claim()).toBeNull()

    const letters = await feed.deadLetters.read()
    expect(letters.messages.map((letter) => [letter.id, letter.body])).toEqual([[id, 'poison']])
    const target = redis.feed<string>(randomUUID())
    expect(await feed.moveDeadLetters(target)).toBe(1)
    expect(await feed.moveDeadLetters(target)).toBe(0)
    expect(bodies((await target.read()).messages)).toEqual(['poison'])
  })

  test('dead letters of a feed with a long name can be moved, too', async () => {
    const { redis } = await setup<string>({ clock: 'real' })
    const feed = redis.feed<string>('é'.repeat(230) + randomUUID(), { maxClaims: 1 })
    await feed.append('poison')
    await (await feed.claim())?.release()
    await feed.claim()
    const target = redis.feed<string>(randomUUID())

    expect(await feed.moveDeadLetters(target)).toBe(1)
    expect(await feed.moveDeadLetters(target)).toBe(0)
  })

  test('take removes what it returns', async () => {
    const { feed } = await setup<number>()
    await feed.appendMany([{ body: 1 }, { body: 2 }, { body: 3 }])

    expect(bodies(await feed.pop({ limit: 2 }))).toEqual([1, 2])
    expect((await feed.inspect()).total).toBe(1)
    expect(bodies(await feed.pop())).toEqual([3])
    expect(await feed.pop()).toEqual([])
  })
})
