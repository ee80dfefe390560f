// Shared by the tests of partitioned feeds: a feed of its own for each.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import {
  type PartitionedFeed,
  type PartitionedFeedOptions,
  type PartitionedMessage,
  type Perilune,
  perilune,
} from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { inject, onTestFinished } from 'vitest'
import { partitionOf } from '../src/runtime/partitions/partition-hash.ts'

export interface Place {
  redis: Perilune
  client: Redis
  name: string
}

function place(): Place {
  const client = new Redis(inject('redisPort'))
  const redis = perilune(ioredis(client), { namespace: 'partition-test' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { redis, client, name: randomUUID() }
}

export function setup<Body>(
  options: Partial<PartitionedFeedOptions<Body>> = {},
): Place & { feed: PartitionedFeed<Body> } {
  const there = place()
  return { ...there, feed: there.redis.feed<Body>(there.name, { partitions: 4, ...options }) }
}

/** From 0. */
export function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}

export async function readAll<Body>(
  feed: PartitionedFeed<Body>,
  limit: number,
): Promise<{ messages: PartitionedMessage<Body>[]; pages: number }> {
  const messages: PartitionedMessage<Body>[] = []
  let after: string | undefined
  for (let pages = 1; ; pages++) {
    const page = await feed.read(after === undefined ? { limit } : { limit, after })
    messages.push(...page.messages)
    after = page.next
    if (!page.more) return { messages, pages }
  }
}

/** A key of each partition. */
export function keysFor(count: number): string[] {
  const keys: string[] = []
  for (let n = 0; keys.filter(Boolean).length < count; n++)
    keys[partitionOf(`key ${n}`, count)] ??= `key ${n}`
  return keys
}

export async function keysOf({ client, name }: Place): Promise<string[]> {
  return client.keys(`partition-test:{feed:${name}*`)
}
