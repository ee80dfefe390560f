import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type ConnectionOptions, type Driver, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { onTestFinished } from 'vitest'
import type { Place } from './use.ts'

interface PlaceOptions extends ConnectionOptions {
  /** The address to which the library connects. */
  readonly driver?: Driver
  /** The address to which `client` connects, and the library when it has no driver of its own. */
  readonly port: number
  readonly namespace?: string
}

/** A place of its own, whose scripts the server knows: each call is one request from here on. */
export async function placeOn({
  port,
  namespace = 'uses',
  driver,
  ...options
}: PlaceOptions): Promise<Place> {
  const client = new Redis(port)
  const own = driver ?? ioredis(client)
  const redis = perilune(own, { namespace, ...options })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  await redis.preload()
  return { redis, driver: own, client, namespace, name: randomUUID() }
}
