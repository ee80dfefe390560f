// An instance of Perilune of its own for a test, on the real clock, closed when the test is over.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { inject, onTestFinished } from 'vitest'
import { counting } from './counting-driver.ts'

export interface Instance {
  readonly redis: Perilune
  readonly client: Redis
  /** Names of the scripts run so far. */
  readonly calls: string[]
  /** Names nothing else in this server. */
  readonly name: string
}

export function instance(): Instance {
  const client = new Redis(inject('redisPort'))
  const calls: string[] = []
  const redis = perilune(counting(ioredis(client), calls), { namespace: 'instance-test' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { redis, client, calls, name: randomUUID() }
}
