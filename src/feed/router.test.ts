import { InvalidArgumentError } from 'perilune'
import { describe, expect, test } from 'vitest'
import { bodies, setup as feedSetup } from '../../test/feed-fixture.ts'
import { numbers, readAll, setup } from '../../test/partitioned-fixture.ts'
import { partitionOf } from '../runtime/partitions/partition-hash.ts'

describe('appending', () => {
  test('messages of one key keep their order among concurrent writers', async () => {
    const { redis, name, feed } = setup<[string, number]>()
    const writers = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(async (key) => {
      const own = redis.feed<[string, number]>(name, { partitions: 4 })
      for (const n of numbers(25)) await own.append([key, n], { key })
    })
    await Promise.all(writers)

    const { messages } = await readAll(feed, 7)

    expect(messages).toHaveLength(200)
    for (const key of 'abcdefgh') {
      const own = messages.filter(({ body }) => body[0] === key)
      expect(own.map(({ body }) => body[1])).toEqual(numbers(25))
      expect(new Set(own.map(({ partition }) => partition))).toEqual(new Set([partitionOf(key, 4)]))
    }
  })

  test('without a key the partitions take turns', async () => {
    const { feed } = setup<number>()

    const appended = []
    for (const n of numbers(8)) appended.push(await feed.append(n))

    const first = appended.slice(0, 4).map(({ partition }) => partition)
    expect(new Set(first)).toEqual(new Set([0, 1, 2, 3]))
    expect(appended.slice(4).map(({ partition }) => partition)).toEqual(first)
  })

  test('writers begin with a random partition, so that single writes spread over all', async () => {
    const { redis, name } = setup<number>()
    const writers = numbers(30).map(() => redis.feed<number>(name, { partitions: 4 }))

    const appended = await Promise.all(writers.map((writer) => writer.append(1)))

    expect(new Set(appended.map(({ partition }) => partition)).size).toBeGreaterThan(1)
  })

  test('an idempotency key appends once, with a key and without', async () => {
    const { feed } = setup<string>()

    const once = await feed.append('x', { idempotencyKey: 'order 1' })
    const twice = await feed.append('x', { idempotencyKey: 'order 1' })
    await feed.append('y', { key: 'k', idempotencyKey: 'order 2' })
    const again = await feed.append('y', { key: 'k', idempotencyKey: 'order 2' })

    expect(twice).toEqual({ ...once, duplicate: true })
    expect(again.duplicate).toBe(true)
    expect((await feed.inspect()).total).toBe(2)
  })

  test('the results of appendMany are in the order of the messages', async () => {
    const { feed } = setup<number>()

    const appended = await feed.appendMany(numbers(50).map((body) => ({ body, key: `${body % 13}` })))

    const { messages } = await feed.get(appended.map(({ id }) => id))
    expect(bodies(messages)).toEqual(numbers(50))
    expect(messages.map(({ partition }) => partition)).toEqual(appended.map(({ partition }) => partition))
  })

  test('a list with one invalid message appends nothing to any partition', async () => {
    const { feed } = setup<number>()
    const wrong = { body: 2, key: 'b', delay: 'soon' as '1s' }

    await expect(feed.appendMany([{ body: 1, key: 'a' }, wrong])).rejects.toThrow(InvalidArgumentError)

    expect((await feed.inspect()).total).toBe(0)
  })

  test('a burst that creates all partitions reads their number a few times, and then never again', async () => {
    const { redis, name, calls } = await feedSetup({ clock: 'real' })
    const feed = redis.feed<number>(name, { partitions: 4 })
    const asked = (): number => calls.filter((call) => call === 'feed/subscribe').length

    await Promise.all(numbers(400).map((n) => feed.append(n, { key: `${n}` })))
    expect(asked()).toBeLessThanOrEqual(5)

    const before = asked()
    await Promise.all(numbers(400).map((n) => feed.append(n, { key: `${n}` })))
    expect(asked()).toBe(before)
  })
})
