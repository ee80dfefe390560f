// Acks that are repeated because it is unknown whether they were carried out.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import {
  AmbiguousError,
  type Feed,
  LeaseLostError,
  type PartitionedFeed,
  type Perilune,
  perilune,
} from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'

/** A process that gets no answer to acks while it is deaf. */
function scene(): { redis: Perilune; line: { isDeaf: boolean } } {
  const client = new Redis(inject('redisPort'))
  const driver = ioredis(client)
  const line = { isDeaf: true }
  const run = driver.run.bind(driver)
  driver.run = async (call) => {
    const reply = await run(call)
    if (line.isDeaf && call.script.name === 'feed/ack') await new Promise(() => undefined)
    return reply
  }
  const redis = perilune(driver, { namespace: 'ack-doubts', deadline: '300ms' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { redis, line }
}

type Any = Feed<string> | PartitionedFeed<string>

const kinds: [string, (redis: Perilune) => Any][] = [
  ['a feed', (redis) => redis.feed(randomUUID())],
  ['partitions', (redis) => redis.feed(randomUUID(), { partitions: 1 })],
]

describe.each(kinds)('a repeated ack on %s', (_, make) => {
  /** A claim of two messages. */
  async function claimTwo() {
    const { redis, line } = scene()
    const feed = make(redis)
    await feed.append('first')
    await feed.append('second')
    const claim = (await feed.claim()) ?? expect.fail('nothing was claimed')
    return { feed, claim, line, ids: claim.messages.map(({ id }) => id) }
  }

  test('reports that all messages are done', async () => {
    const { feed, claim, line } = await claimTwo()
    await expect(claim.ack()).rejects.toThrow(AmbiguousError)
    line.isDeaf = false

    expect([await claim.ack(), await claim.ack()]).toEqual([[], []])

    expect((await feed.inspect()).total).toBe(0)
  })

  test('reports that some messages are done, and then the others', async () => {
    const { claim, line, ids } = await claimTwo()
    await expect(claim.ack(ids.slice(0, 1))).rejects.toThrow(AmbiguousError)
    line.isDeaf = false

    expect([await claim.ack(ids.slice(0, 1)), await claim.ack(ids.slice(1))]).toEqual([[], []])
  })

  test('reports a lost claim when another process has ended it', async () => {
    const { feed, claim, line, ids } = await claimTwo()
    await expect(claim.ack(ids.slice(0, 1))).rejects.toThrow(AmbiguousError)
    line.isDeaf = false
    await feed.clear()

    await expect(claim.ack()).rejects.toThrow(LeaseLostError)
  })
})
