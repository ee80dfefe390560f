import { setTimeout as sleep } from 'node:timers/promises'
import { InvalidArgumentError, LeaseLostError, type PartitionClaim } from 'perilune'
import { describe, expect, test } from 'vitest'
import { bodies } from '../../test/feed-fixture.ts'
import { keysFor, numbers, setup } from '../../test/partitioned-fixture.ts'

type Claimed = PartitionClaim<number>
type Named = Pick<Claimed, 'partition' | 'token'>

// Shorter than the polling interval of a waiter.
const WOKEN = { timeout: 8_000 }

describe('claiming', () => {
  test('the partitions take turns, and a claim has messages of one', async () => {
    const { feed } = setup<number>()
    const keys = keysFor(4)
    await feed.appendMany(numbers(40).map((body) => ({ body, key: keys[body % 4] ?? '' })))

    const claims = []
    for (let n = 0; n < 4; n++) claims.push(await feed.claim({ limit: 5 }))

    expect(new Set(claims.map((claim) => claim?.partition))).toEqual(new Set([0, 1, 2, 3]))
    for (const claim of claims) {
      expect(claim?.messages).toHaveLength(5)
      expect(new Set(claim?.messages.map(({ partition }) => partition))).toEqual(new Set([claim?.partition]))
    }
  })

  test('messages are acked and released by id; ids of another partition are rejected', async () => {
    const { feed } = setup<string>()
    await feed.appendMany([
      { body: 'a', key: 'k' },
      { body: 'b', key: 'k' },
    ])
    const claim = await feed.claim()
    const [a, b] = claim?.messages ?? []

    expect(await claim?.ack([a?.id ?? ''])).toEqual([])
    expect(await claim?.ack([a?.id ?? ''])).toEqual([{ id: a?.id, reason: 'absent' }])
    await expect(claim?.ack([`${((claim?.partition ?? 0) + 1) % 4}.12`])).rejects.toThrow(
      InvalidArgumentError,
    )
    expect((await feed.remove([b?.id ?? ''])).held).toEqual([b?.id])
    const found = await feed.byToken.get({ partition: claim?.partition ?? 0, token: claim?.token ?? 0 })
    expect(bodies(found?.messages ?? [])).toEqual(['b'])
    await claim?.release()
    await expect(found?.extend('10s')).rejects.toThrow(LeaseLostError)

    expect(bodies(await feed.pop())).toEqual(['b'])
    expect(await feed.claim()).toBeNull()
  })

  test.each([0, 1, 2, 3])('a waiting worker is woken by partition %i', WOKEN, async (partition) => {
    const { feed } = setup<string>()

    const waiting = feed.claim({ wait: '20s' })
    await sleep(150)
    await feed.append('work', { key: keysFor(4)[partition] ?? '' })

    expect((await waiting)?.messages).toMatchObject([{ body: 'work', partition }])
  })

  test('partition and token are enough to extend, ack and release, each claim separately', async () => {
    const { feed, redis, name } = setup<number>()
    const keys = keysFor(4)
    await feed.appendMany(numbers(8).map((body) => ({ body, key: keys[body % 2] ?? '' })))
    const claims = [await feed.claim({ lease: '10s' }), await feed.claim({ lease: '20s' })]
    const [one, two] = claims.map((claim) => claim as NonNullable<typeof claim>) as [Claimed, Claimed]
    const elsewhere = redis.feed<number>(name, { partitions: 4 })
    const [a, b] = [one, two].map(({ partition, token }) => ({ partition, token })) as [Named, Named]
    const strange = { partition: b.partition, token: a.token - 1 }

    const extended = await elsewhere.byToken.extend([a, strange, b], '1m')
    expect(extended.claims.map(({ outcome }) => outcome)).toEqual(['extended', 'lost', 'extended'])
    expect(extended.expiresAtMs).toBeGreaterThan(two.expiresAtMs)

    const [first, second] = one.messages.map(({ id }) => id) as [string, string]
    expect(await elsewhere.byToken.ack([{ ...a, ids: [first] }, strange])).toEqual([
      { outcome: 'acked', refused: [] },
      { outcome: 'lost' },
    ])
    expect(await elsewhere.byToken.ack([{ ...a, ids: [first] }])).toEqual([
      { outcome: 'acked', refused: [{ id: first, reason: 'absent' }] },
    ])
    expect(await elsewhere.byToken.release([{ ...a, ids: [second] }, b])).toEqual([
      { outcome: 'released' },
      { outcome: 'released' },
    ])
    expect(await feed.inspect()).toMatchObject({ total: 7, free: 5, claimed: 2 })
  })

  test('a claim is settled in its own partition, with ids of that partition', async () => {
    const { feed } = setup<number>()
    await feed.append(1, { key: 'k' })
    const { partition, token, messages } = (await feed.claim()) as Claimed
    const [other, id] = [(partition + 1) % 4, messages[0]?.id ?? '']

    expect(await feed.byToken.ack([{ partition: other, token }])).toEqual([{ outcome: 'lost' }])
    const refused: [string, object][] = [
      ['partition', { partition: 4, token }],
      ['partition', { token }],
      ['ids', { partition: other, token, ids: [id] }],
      ['ids', { partition, token, ids: ['forged'] }],
    ]
    for (const [argument, claim] of refused) {
      await expect(feed.byToken.ack([{ partition, token }, claim as never])).rejects.toMatchObject({
        argument,
      })
    }
    expect(await feed.byToken.ack([{ partition, token }])).toEqual([{ outcome: 'acked', refused: [] }])
  })

  test('a waiting worker gets the messages of a dead one as soon as its lease ends', WOKEN, async () => {
    const { feed } = setup<string>()
    await feed.append('work')
    await feed.claim({ lease: '300ms' })

    expect(bodies((await feed.claim({ wait: '20s' }))?.messages ?? [])).toEqual(['work'])
  })

  test('messages claimed too often become dead letters of the whole feed', async () => {
    const { feed } = setup<number>({ maxClaims: 1 })
    const appended = await feed.appendMany(numbers(12).map((body) => ({ body, key: `${body}` })))
    for (;;) {
      const claim = await feed.claim({ limit: 100 })
      if (claim === null) break
      await claim.release()
    }

    const letters = await feed.deadLetters.read({ limit: 100 })

    expect(letters.messages).toHaveLength(12)
    expect(new Set(letters.messages.map(({ id }) => id))).toEqual(new Set(appended.map(({ id }) => id)))
    expect(await feed.inspect()).toMatchObject({ total: 0, deadLetters: 12 })
  })
})

describe('subscribers', () => {
  test('a stored position is found again, only moves forward, and can be deleted', async () => {
    const { redis, name, feed } = setup<number>()
    for (const n of numbers(20)) await feed.append(n, { key: `${n}` })
    const ada = feed.subscriber('ada')

    for await (const { body, cursor } of ada.read()) {
      await ada.commit(cursor)
      if (body === 11) break
    }
    const early = (await feed.read({ limit: 3 })).next

    const again = redis.feed<number>(name, { partitions: 4 }).subscriber('ada')
    expect(bodies((await again.page()).messages)).toEqual(numbers(20).slice(12))
    const stored = await again.cursor()
    expect(await feed.subscriber('ada').commit(early)).toBe(stored)
    expect(await again.commit(early, { rewind: true })).toBe(early)
    expect(bodies((await again.page()).messages)).toEqual(numbers(20).slice(3))
    expect(await again.forget()).toBe(true)
    expect(await again.commit(stored)).toBeNull()
    expect(await again.forget()).toBe(false)
  })

  test('a rewind to the cursor that this handle stored moves back although others advanced since', async () => {
    const { redis, name, feed } = setup<number>()
    for (const n of numbers(20)) await feed.append(n, { key: `${n}` })
    const open = () => redis.feed<number>(name, { partitions: 4 }).subscriber('ada')
    const [ada, other] = [open(), open()]
    const first = (await ada.page({ limit: 5 })).next
    await ada.commit(first)
    await other.commit((await other.page({ limit: 5 })).next)

    expect(await ada.commit(first, { rewind: true })).toBe(first)
    expect(await open().cursor()).toBe(first)
  })

  test('a commit of the cursor that this handle stored returns the stored cursor, or null after forget', async () => {
    const { redis, name, feed } = setup<number>()
    for (const n of numbers(20)) await feed.append(n, { key: `${n}` })
    const open = () => redis.feed<number>(name, { partitions: 4 }).subscriber('ada')
    const [ada, other] = [open(), open()]
    const first = (await ada.page({ limit: 5 })).next
    await ada.commit(first)
    const later = (await other.page({ limit: 5 })).next
    await other.commit(later)

    expect(await ada.commit(first)).toBe(later)
    await other.forget()
    expect(await ada.commit(later)).toBeNull()
  })

  test('a cursor from before the first message means the start of all partitions', async () => {
    const { feed } = setup<number>()
    const nothing = (await feed.read()).next
    for (const n of numbers(20)) await feed.append(n, { key: `${n}` })
    const ada = feed.subscriber('ada')
    await ada.commit((await ada.page({ limit: 10 })).next)

    await ada.commit(nothing, { rewind: true })

    expect(bodies((await ada.page({ limit: 20 })).messages)).toEqual(numbers(20))
  })

  test('a subscriber may begin at the end', async () => {
    const { feed } = setup<number>()
    await feed.append(0)
    const ada = feed.subscriber('ada', { from: 'end' })
    await ada.cursor()

    await feed.append(1)

    expect(bodies((await ada.page()).messages)).toEqual([1])
    expect((await feed.inspect()).subscribers).toBe(1)
  })
})

test('inspect returns sums and each partition', async () => {
  const { feed } = setup<number>()
  await feed.appendMany(numbers(20).map((body) => ({ body, key: `${body}` })))
  await feed.append(20, { delay: '1h' })
  const claim = await feed.claim({ limit: 3 })

  const { partitions, ...sums } = await feed.inspect()

  expect(sums).toMatchObject({
    exists: true,
    total: 21,
    claimed: claim?.messages.length,
    delayed: 1,
    claims: 1,
  })
  expect(sums.free + sums.claimed + sums.delayed).toBe(21)
  expect(partitions.map(({ total }) => total).reduce((a, b) => a + b)).toBe(21)
  expect(partitions[claim?.partition ?? 0]?.oldest).toMatchObject({ claimToken: claim?.token })
  expect((await feed.read({ after: sums.end })).messages).toEqual([])
})
