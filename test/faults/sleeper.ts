// A process that freezes, within this one: it listens and does not read, and asks nothing any more.

import { Redis } from 'ioredis'
import { type Driver, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { onTestFinished } from 'vitest'

export interface Sleeper {
  redis: Perilune
  fallAsleep(): void
}

/** It ends with the test. */
export function sleeper(port: number): Sleeper {
  const client = new Redis(port)
  const driver = ioredis(client)
  let asleep = false
  const never = new Promise<never>(() => undefined)
  const sleeping = Object.assign(Object.create(driver) as Driver, {
    run: (call: Parameters<Driver['run']>[0]) => (asleep ? never : driver.run(call)),
    info: () => driver.info(),
    load: (script: Parameters<Driver['load']>[0]) => driver.load(script),
    close: () => driver.close(),
    subscribe: (...[channel, listener]: Parameters<Driver['subscribe']>) =>
      driver.subscribe(channel, {
        ...listener,
        onMessage: (message) => asleep || listener.onMessage(message),
      }),
  })
  // It never learns that it is not answered.
  const redis = perilune(sleeping, { deadline: '5m' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { redis, fallAsleep: () => (asleep = true) }
}
