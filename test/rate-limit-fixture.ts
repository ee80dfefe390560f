// Shared by the tests of the rate limit: a limiter of its own for each, on a clock that stands still.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { inject, onTestFinished } from 'vitest'
import contract from '../lua/contract.json' with { type: 'json' }
import { START_US, setTestClock, withTestClock } from '../src/testing/test-clock.ts'
import { counting } from './counting-driver.ts'

export interface Setup {
  redis: Perilune
  client: Redis
  /** The name of the limiter. */
  name: string
  clock: { advance(ms: number): Promise<void> }
  /** Names of the scripts that ran. */
  calls: string[]
  /** The key of a subject. */
  keyOf(subject: string): string
}

/** A namespace in which the clock of the subject `ada` stands still until it is advanced. */
export async function setup(): Promise<Setup> {
  const client = new Redis(inject('redisPort'))
  const plain = ioredis(client)
  const calls: string[] = []
  const driver = counting(withTestClock(plain, contract.clock), calls)
  const redis = perilune(driver, { namespace: 'limit-test' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  const name = randomUUID()
  const prefixOf = (subject: string): string => `limit-test:{rate-limit:${name}:${subject}}`
  let us = START_US
  const advance = async (ms: number): Promise<void> => {
    us += ms * 1000
    await setTestClock(plain, prefixOf('ada'), us)
  }
  await advance(0)
  return { redis, client, name, clock: { advance }, calls, keyOf: (subject) => `${prefixOf(subject)}:state` }
}
