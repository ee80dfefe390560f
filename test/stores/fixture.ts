// What the tests of stores share: an instance on the tests' server, and one without a server.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { inject, onTestFinished } from 'vitest'

export interface Store {
  readonly redis: Perilune
  readonly client: Redis
  readonly name: string
}

export function setup(): Store {
  const client = new Redis(inject('redisPort'))
  const redis = perilune(ioredis(client), { namespace: 'stores-test' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { redis, client, name: randomUUID() }
}

/** A Redis address without a server. */
export function unreachable(): Perilune {
  const client = new Redis({ port: 1, lazyConnect: true, retryStrategy: () => 50 })
  client.on('error', () => undefined)
  const redis = perilune(ioredis(client), { deadline: '100ms' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return redis
}
