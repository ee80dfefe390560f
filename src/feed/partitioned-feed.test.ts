import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cluster } from 'ioredis'
import { InvalidArgumentError, perilune } from 'perilune'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { waysToOpen } from '../../test/drivers/client.ts'
import { bodies } from '../../test/feed-fixture.ts'
import { keysFor, keysOf, numbers, readAll, setup } from '../../test/partitioned-fixture.ts'
import { slotOf } from '../drivers/wire/slot.ts'
import { partitionOf } from '../runtime/partitions/partition-hash.ts'

describe('partitions', () => {
  test('a key belongs to the same partition in every language', () => {
    expect(partitionOf('123456789', 65_536)).toBe(0x31c3)
    expect(partitionOf('', 16)).toBe(0)
    expect(partitionOf('{a}b', 65_536)).not.toBe(partitionOf('a', 65_536))
    for (const key of ['room 7', 'é', '日本語', '🌙', '\n'])
      expect(partitionOf(key, 16_384)).toBe(slotOf(key))
    expect(() => partitionOf('\ud800', 16)).toThrow(InvalidArgumentError)
  })

  test('a partition shares no key with a feed that is named like a partition', async () => {
    const { redis, name, feed } = setup<string>({ partitions: 1 })
    await feed.append('in the partition')

    expect((await redis.feed(`${name}:0`).inspect()).exists).toBe(false)
  })

  test('clear leaves no key', async () => {
    const there = setup<number>({ maxClaims: 1 })
    const { feed } = there
    await feed.appendMany(numbers(40).map((body) => ({ body, key: `${body}`, idempotencyKey: `${body}` })))
    await feed.append(40, { delay: '1h' })
    await feed.subscriber('ada').cursor()
    for (let n = 0; n < 4; n++) await (await feed.claim())?.release()
    await feed.claim()
    expect((await keysOf(there)).length).toBeGreaterThan(8)

    expect(await feed.clear()).toBe(true)

    expect(await keysOf(there)).toEqual([])
    expect(await feed.clear()).toBe(false)
  })
})

describe('odd arguments', () => {
  test('are rejected by name', async () => {
    const { redis, name, feed } = setup<number>()
    const odd = <Value>(value: unknown): Value => value as Value

    expect(() => redis.feed(name, { retention: odd(null) })).toThrow(/^retention must be an object$/)
    // oxlint-disable-next-line no-sparse-arrays
    for (const holes of [odd<[{ body: number }]>([, { body: 1 }])]) {
      await expect(redis.feed<number>(name).appendMany(holes)).rejects.toThrow(/^message must be an object$/)
      await expect(feed.appendMany(holes)).rejects.toThrow(/^message must be an object$/)
    }
    await expect(feed.byToken.get({ partition: odd('length'), token: 1 })).rejects.toThrow(
      /^partition must be a whole number/,
    )
    const lease = { partition: odd<number>('length'), token: 1 }
    await expect(feed.byToken.ack([lease])).rejects.toThrow(/^partition must be a whole number/)
  })

  test('a repeated id is returned once', async () => {
    const { feed } = setup<number>()
    const { id } = await feed.append(7)

    expect(bodies((await feed.get([id, id])).messages)).toEqual([7])
  })
})

describe('the number of partitions', () => {
  test('rejects a handle with another number, whichever partitions have messages', async () => {
    const { redis, name, feed } = setup<string>({ partitions: 16 })
    await feed.append('far away', { key: keysFor(16)[12] ?? '' })
    const wrong = redis.feed<string>(name, { partitions: 8 })
    const refusal = /^partitions must be 16, as stored, until it is cleared$/

    await expect(wrong.append('lost?', { key: keysFor(8)[3] ?? '' })).rejects.toThrow(refusal)
    await expect(wrong.appendMany([{ body: 'lost?' }])).rejects.toThrow(refusal)
    await expect(wrong.read()).rejects.toThrow(refusal)
    await expect(wrong.claim()).rejects.toThrow(refusal)
    await expect(wrong.subscriber('ada').cursor()).rejects.toThrow(refusal)
    await expect(wrong.deadLetters.read()).rejects.toThrow(refusal)
    await expect(wrong.deadLetters.claim()).rejects.toThrow(refusal)
    await expect(wrong.inspect()).rejects.toThrow(refusal)
    await expect(wrong.get(['3.17'])).rejects.toThrow(refusal)
    await expect(wrong.remove(['3.17'])).rejects.toThrow(refusal)
    await expect(wrong.byToken.get({ partition: 3, token: 17 })).rejects.toThrow(refusal)
    await expect(wrong.clear()).rejects.toThrow(refusal)
    await expect(wrong.deadLetters.clear()).rejects.toThrow(refusal)
    expect(bodies((await feed.read()).messages)).toEqual(['far away'])
  })

  test('stays known when every message has expired', async () => {
    const there = setup<string>({ partitions: 4 })
    await there.feed.append('short', { ttl: '10ms', key: keysFor(4)[2] ?? '' })
    await there.feed.append('short', { ttl: '10ms', key: keysFor(4)[0] ?? '' })
    const alone = `partition-test:{feed:${there.name}}:meta`

    expect(await there.client.pttl(alone)).toBe(-1)
    await expect(there.redis.feed(there.name, { partitions: 2 }).read()).rejects.toThrow(InvalidArgumentError)
  })

  test.each([
    [16, 8],
    [8, 16],
  ])('rejects a writer that missed a clear and a change from %i partitions to %i', async (old, fresh) => {
    const there = setup<string>({ partitions: old })
    const { redis, name, feed } = there
    const all = keysFor(old).map((key, at) => ({ body: `late ${at}`, key }))
    await feed.appendMany(all)
    await redis.feed(name, { partitions: old }).clear()
    const recreated = redis.feed<string>(name, { partitions: fresh })
    await recreated.append('recreated')

    for (const { body, key } of all) {
      await expect(feed.append(body, { key })).rejects.toThrow(`partitions must be ${fresh}`)
    }
    await expect(feed.appendMany(all)).rejects.toThrow(`partitions must be ${fresh}`)
    expect(bodies((await recreated.read()).messages)).toEqual(['recreated'])
  })

  test('accepts a writer that missed a clear but has the same number', async () => {
    const { redis, name, feed } = setup<string>({ partitions: 8 })
    await feed.append('before')
    await redis.feed(name, { partitions: 8 }).clear()

    await feed.append('late')

    expect(bodies((await feed.read()).messages)).toEqual(['late'])
  })

  test('rejects a handle without partitions on a feed with them, and the reverse', async () => {
    const { redis, name, feed } = setup<string>({ partitions: 8 })
    await feed.append('spread')
    const plain = redis.feed<string>(name)
    const refused = [
      plain.append('lost?'),
      plain.read(),
      plain.claim(),
      plain.inspect(),
      plain.get(['17']),
      plain.subscriber('ada').cursor(),
      plain.clear(),
    ]
    for (const each of await Promise.allSettled(refused)) {
      expect(each).toMatchObject({
        reason: { argument: 'partitions', message: expect.stringContaining('must be 8') },
      })
    }
    expect(bodies((await feed.read()).messages)).toEqual(['spread'])

    const [alone, spread] = [redis.feed(`${name} alone`), redis.feed(`${name} alone`, { partitions: 16 })]
    await alone.append('alone')
    await expect(spread.append('lost?')).rejects.toThrow('partitions must be left out')
    await expect(spread.read()).rejects.toThrow('partitions must be left out')
    await expect(spread.clear()).rejects.toThrow('partitions must be left out')
    await alone.clear()
    expect(await spread.append('now')).toMatchObject({ duplicate: false })
  })

  test('rejects a writer that missed the new feed, and hides no message', async () => {
    const there = setup<string>({ partitions: 16 })
    const { redis, name, feed } = there
    await feed.append('before', { key: 'any' })
    await redis.feed(name, { partitions: 16 }).clear()
    const recreated = redis.feed<string>(name, { partitions: 8 })
    await recreated.append('recreated')

    const late = feed.append('late', { key: keysFor(16)[12] ?? '' })

    await expect(late).rejects.toThrow('partitions must be 8')
    const left = (await keysOf(there)).filter((key) => key.includes(':12}'))
    for (const key of left) expect(await there.client.pttl(key)).toBeGreaterThan(0)
    expect(bodies((await recreated.read()).messages)).toEqual(['recreated'])
  })

  test('rejects a wrong handle also in the same tick as a right one', async () => {
    const { redis, name, feed } = setup<string>({ partitions: 4 })
    await feed.appendMany(keysFor(4).map((key) => ({ key, body: 'there' })))
    const wrong = redis.feed<string>(name, { partitions: 8 })

    const [right, other] = await Promise.allSettled([
      feed.append('mine', { key: keysFor(4)[1] ?? '' }),
      wrong.append('lost?', { key: keysFor(8)[1] ?? '' }),
    ])

    expect([right.status, other.status]).toEqual(['fulfilled', 'rejected'])
  })

  test('rejects a cursor of a feed with another number', async () => {
    const { redis, feed } = setup<string>({ partitions: 4 })
    const other = await redis.feed(randomUUID(), { partitions: 5 }).read()

    await expect(feed.read({ after: other.next })).rejects.toThrow(
      'after is a cursor of a feed in 5 partitions, not in 4',
    )
  })

  test.each([
    '',
    'p',
    'p4',
    '0-0',
    'p4.0-0',
    'p4.0-0.0-0.0-0.0-00',
    'p4.0-0.0-0.0-0.0-zzzzzzzzzzz',
    'p4.0-0.0-0.0-0.0-0 ',
  ])('rejects the forged cursor %j', async (after) => {
    const { feed } = setup<string>({ partitions: 4 })

    await expect(feed.read({ after })).rejects.toMatchObject({
      name: 'InvalidArgumentError',
      argument: 'after',
    })
  })
})

test.each(await waysToOpen('clusters'))(
  'with %s, partitions are on different nodes and work as one feed',
  async (_, open) => {
    const { driver, close } = await open(inject('clusterPorts'))
    const redis = perilune(driver, { namespace: 'partition-test', deadline: '10s' })
    onTestFinished(async () => {
      await redis.close()
      await close()
    })
    const name = randomUUID()
    const feed = redis.feed<number>(name, { partitions: 16 })
    await feed.appendMany(numbers(100).map((body) => ({ body, key: `${body}` })))

    expect(await nodesOf(name)).toBeGreaterThan(1)
    const { messages } = await readAll(feed, 13)
    expect(bodies(messages).toSorted((a, b) => a - b)).toEqual(numbers(100))
    let { next } = await feed.read({ after: 'end' })
    for (const key of keysFor(16).slice(0, 4)) {
      const waiting = feed.read({ after: next, wait: '20s' })
      await sleep(200)
      await feed.append(-1, { key })
      const woken = await waiting
      expect(bodies(woken.messages)).toEqual([-1])
      next = woken.next
    }
    let taken = 0
    for (let some = await feed.pop({ limit: 50 }); some.length > 0; some = await feed.pop({ limit: 50 })) {
      taken += some.length
    }
    expect(taken).toBe(104)
    expect(await feed.clear()).toBe(true)
    expect(await nodesOf(name)).toBe(0)
  },
)

/** The number of nodes with keys of the feed. */
async function nodesOf(name: string): Promise<number> {
  const cluster = new Cluster(inject('clusterPorts').map((port) => ({ host: '127.0.0.1', port })))
  try {
    await cluster.call('PING')
    const found = await Promise.all(
      cluster.nodes('master').map((node) => node.keys(`partition-test:{feed:${name}*`)),
    )
    return found.filter((keys) => keys.length > 0).length
  } finally {
    cluster.disconnect()
  }
}
