import { Redis } from 'ioredis'
import { type Driver, type Feed, type PartitionedFeed, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { bodies } from '../../test/feed-fixture.ts'
import { instance } from '../../test/instance.ts'

type Run = Driver['run']

/** A process that waits 300 ms for an answer, and gets the results of `run` for acks. */
function scene(run: (call: Parameters<Run>[0], plain: Run) => ReturnType<Run>): Perilune {
  const client = new Redis(inject('redisPort'))
  const driver = ioredis(client)
  const plain = driver.run.bind(driver)
  driver.run = (call) => (call.script.name === 'feed/ack' ? run(call, plain) : plain(call))
  const redis = perilune(driver, { namespace: 'instance-test', deadline: '300ms' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return redis
}

type Any = Feed<string> | PartitionedFeed<string>
type Make = (redis: Perilune, name: string) => Any

const kinds: [string, Make][] = [
  ['a feed', (redis, name) => redis.feed(name)],
  ['partitions', (redis, name) => redis.feed(name, { partitions: 2 })],
]
const never = new Promise<never>(() => undefined)

describe.each(kinds)('a message popped from %s', (_, make) => {
  test('is returned although its ack is not answered', async () => {
    const { redis, name } = instance()
    const feed = make(redis, name)
    await feed.append('had')
    const unheard = scene(async (call, run) => run(call).then(() => never))

    expect(bodies(await make(unheard, name).pop())).toEqual(['had'])

    expect((await feed.inspect()).total).toBe(0)
  })

  test('is acked once the server receives the ack', async () => {
    const { redis, name } = instance()
    const feed = make(redis, name)
    await feed.append('had')
    let isLost = true
    const lossy = scene((call, run) => {
      if (!isLost) return run(call)
      isLost = false
      return never
    })

    expect(bodies(await make(lossy, name).pop())).toEqual(['had'])

    await expect.poll(async () => (await feed.inspect()).total).toBe(0)
  })
})
