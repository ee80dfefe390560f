// A listener that records events, and messages for it.

import type { Driver, Listener } from '../driver.ts'
import { callOf, scriptOf, until, untilAnswered } from './driver-calls.ts'
import { type DriverContext, withDriver } from './driver-context.ts'

export class DriverEar implements Listener {
  readonly heard: string[] = []
  gaps = 0
  /** The number of gaps at the time of each loss. */
  readonly losses: number[] = []
  /** The health reported by the driver at the time of each loss. */
  readonly healthyWhenLost: (boolean | undefined)[] = []
  readonly #driver: Driver | undefined

  constructor(driver?: Driver) {
    this.#driver = driver
  }

  onMessage(message: string): void {
    this.heard.push(message)
  }

  onLost(): void {
    this.losses.push(this.gaps)
    this.healthyWhenLost.push(this.#driver?.healthy())
  }

  onGap(): void {
    this.gaps++
  }
}

const PUBLISH = scriptOf("return redis.call('PUBLISH', KEYS[1], ARGV[1])")
const SPUBLISH = scriptOf("return redis.call('SPUBLISH', KEYS[1], ARGV[1])")

/** Resolves to the number of receivers that the server reports. */
export async function publish(driver: Driver, channel: string, message: string): Promise<number> {
  const { shardedChannels } = await driver.info()
  return Number(
    await untilAnswered(driver, callOf(shardedChannels ? SPUBLISH : PUBLISH, [channel], [message])),
  )
}

/** Publishes until the message is received: after a fault, the first ones may be lost. */
export async function publishUntilHeard(
  driver: Driver,
  channel: string,
  message: string,
  ear: DriverEar,
): Promise<void> {
  await until(async () => {
    await publish(driver, channel, message)
    return ear.heard.includes(message)
  }, `${message} was heard`)
}

/**
 * Publishes from a newly connected client until the node that runs commands itself counts a subscriber. Subscribers of
 * a replica also receive the message, but scripts on that node do not count them.
 */
export async function publishUntilCounted(
  context: DriverContext,
  channel: string,
  ear: DriverEar,
): Promise<void> {
  await withDriver(context, async ({ driver }) => {
    await until(async () => (await publish(driver, channel, 'counted')) > 0, 'a subscriber was counted')
    await until(() => ear.heard.includes('counted'), 'it was heard')
  })
}
