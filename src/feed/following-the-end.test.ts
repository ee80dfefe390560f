import { Redis } from 'ioredis'
import { type Feed, type PartitionedFeed, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { instance } from '../../test/instance.ts'

/** A process whose reads are refused while the store is away. */
function scene(): { redis: Perilune; store: { isAway: boolean; reads: number } } {
  const client = new Redis(inject('redisPort'))
  const driver = ioredis(client)
  const run = driver.run.bind(driver)
  const store = { isAway: false, reads: 0 }
  driver.run = async (call) => {
    if (call.script.name !== 'feed/read') return run(call)
    if (store.isAway) await new Promise(() => undefined)
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
  ['partitions', (redis, name) => redis.partitionedFeed(name, { partitions: 2 })],
]

describe.each(kinds)('a follower of the end of %s', (_, make) => {
  test('misses nothing behind an outage, though no page had come before it', async () => {
    const { redis: other, name } = instance()
    const feed = make(other, name)
    await feed.append(0)
    const { redis, store } = scene()
    const following = make(redis, name).tail({ after: 'end' })
    const met = following.next()
    await expect.poll(() => store.reads).toBeGreaterThanOrEqual(2)

    store.isAway = true
    await feed.append(1)
    // Those that were under way have ended: it asks anew.
    await new Promise((resolve) => setTimeout(resolve, 500))
    store.isAway = false
    await feed.append(2)

    expect((await met).value).toMatchObject({ body: 1, lostBefore: null })
    expect((await following.next()).value).toMatchObject({ body: 2 })
    await following.return(undefined)
  })
})
