import { Redis } from 'ioredis'
import { type Feed, type PartitionedFeed, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { instance } from '../../test/instance.ts'
import { keysFor } from '../../test/partitioned-fixture.ts'

interface Store {
  /** Whether reads of this unit are not answered. */
  isAway: (unit: string) => boolean
  reads: number
}

/** A process whose reads are not answered while the store is unavailable. */
function scene(): { redis: Perilune; store: Store } {
  const client = new Redis(inject('redisPort'))
  const driver = ioredis(client)
  const run = driver.run.bind(driver)
  const store: Store = { isAway: () => false, reads: 0 }
  driver.run = async (call) => {
    if (call.script.name !== 'feed/read') return run(call)
    if (store.isAway(String(call.keys[0]))) await new Promise(() => undefined)
    const reply = await run(call)
    store.reads += 1
    return reply
  }
  const redis = perilune(driver, { namespace: 'instance-test', deadline: '200ms' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { redis, store }
}

type Any = Feed<number> | PartitionedFeed<number>

const kinds: [string, (redis: Perilune, name: string) => Any][] = [
  ['a feed', (redis, name) => redis.feed(name)],
  ['partitions', (redis, name) => redis.feed(name, { partitions: 2 })],
]

describe.each(kinds)('a tail from the end of %s', (_, make) => {
  test('misses no message after an outage, even without a page before it', async () => {
    const { redis: other, name } = instance()
    const feed = make(other, name)
    await feed.append(0)
    const { redis, store } = scene()
    const following = make(redis, name).tail({ after: 'end' })
    const met = following.next()
    await expect.poll(() => store.reads).toBeGreaterThanOrEqual(2)

    store.isAway = () => true
    await feed.append(1)
    // The reads under way have ended: the tail reads again.
    await new Promise((resolve) => setTimeout(resolve, 500))
    store.isAway = () => false
    await feed.append(2)

    expect((await met).value).toMatchObject({ body: 1, lostBefore: null })
    expect((await following.next()).value).toMatchObject({ body: 2 })
    await following.return(undefined)
  })
})

test('a tail from the end misses no message of a partition while another was unavailable at its start', async () => {
  const { redis: other, name } = instance()
  const options = { partitions: 2 }
  const feed = other.feed<number>(name, options)
  const [here = '', away = ''] = keysFor(2)
  await feed.append(0, { key: here })
  const { redis, store } = scene()
  store.isAway = (key) => key.includes(`{feed:${name}:1}`)
  const following = redis.feed<number>(name, options).tail({ after: 'end' })
  const met = following.next()
  await expect.poll(() => store.reads).toBeGreaterThanOrEqual(1)

  await feed.append(1, { key: here })
  // The first reads of both have ended.
  await new Promise((resolve) => setTimeout(resolve, 500))
  store.isAway = () => false

  expect((await met).value).toMatchObject({ body: 1, lostBefore: null })
  await feed.append(2, { key: away })
  expect((await following.next()).value).toMatchObject({ body: 2 })
  await following.return(undefined)
})
