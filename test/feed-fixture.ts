// Shared by the tests of the feed: a feed of its own for each, on a clock that stands still.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Feed, type FeedOptions, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { inject, onTestFinished } from 'vitest'
import contract from '../lua/contract.json' with { type: 'json' }
import { START_US, setTestClock, withTestClock } from '../src/testing/test-clock.ts'
import { counting } from './counting-driver.ts'

export interface Setup<Body> {
  feed: Feed<Body>
  redis: Perilune
  client: Redis
  name: string
  /** Names of the scripts run so far. */
  calls: string[]
  clock: { advance(ms: number): Promise<void> }
}

/** A feed of its own on a clock that stands still; with `clock: 'real'` on the server's. */
export async function setup<Body = unknown>(
  options: FeedOptions<Body> & { clock?: 'real' } = {},
): Promise<Setup<Body>> {
  const { clock: kind, ...feedOptions } = options
  const client = new Redis(inject('redisPort'))
  const calls: string[] = []
  const plain = ioredis(client)
  const driver = counting(kind === 'real' ? plain : withTestClock(plain, contract.clock), calls)
  const redis = perilune(driver, { namespace: 'feed-test' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  const name = randomUUID()
  let us = START_US
  const move = (): Promise<void> => setTestClock(plain, `feed-test:{feed:${name}}`, us)
  if (kind !== 'real') await move()
  const advance = async (ms: number): Promise<void> => {
    us += ms * 1000
    await move()
  }
  return { feed: redis.feed<Body>(name, feedOptions), redis, client, name, calls, clock: { advance } }
}

export function bodies<Body>(messages: readonly { body: Body }[]): Body[] {
  return messages.map(({ body }) => body)
}
