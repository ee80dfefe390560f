// What the tests of the feed share: a feed of its own for each, on a clock that stands still.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Driver, type Feed, type FeedOptions, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { inject, onTestFinished } from 'vitest'
import contract from '../lua/contract.json' with { type: 'json' }
import { setTestClock, START_US, withTestClock } from '../src/testing/test-clock.ts'

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

function counting(driver: Driver, calls: string[]): Driver {
  const run: Driver['run'] = (call) => {
    // The source goes to a server that has forgotten the script: the same call once more.
    if (call.send === 'hash') calls.push(call.script.name)
    return driver.run(call)
  }
  return Object.assign(Object.create(driver) as Driver, {
    run,
    info: () => driver.info(),
    close: () => driver.close(),
    healthy: () => driver.healthy(),
    load: (script: Parameters<Driver['load']>[0]) => driver.load(script),
    subscribe: (...args: Parameters<Driver['subscribe']>) => driver.subscribe(...args),
  })
}

export function bodies<Body>(messages: readonly { body: Body }[]): Body[] {
  return messages.map(({ body }) => body)
}
