// Shared by the tests across structures: an instance, a name, and the errors of a call.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { InvalidArgumentError, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { inject, onTestFinished } from 'vitest'

export const PLACES = { algorithm: 'concurrency', limit: 1 } as const

export function setup(): { redis: Perilune; name: string } {
  const client = new Redis(inject('redisPort'))
  const redis = perilune(ioredis(client), { namespace: 'side-by-side' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { redis, name: randomUUID() }
}

/** The argument that a call refuses, whether it throws at once or later; null when it refuses none. */
export async function refusedBy(call: () => unknown): Promise<string | null> {
  try {
    await call()
    return null
  } catch (error) {
    if (error instanceof InvalidArgumentError) return error.argument
    throw error
  }
}

/** The error of a call; null when it succeeds. */
export async function errorOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call
    return null
  } catch (error) {
    return error
  }
}
