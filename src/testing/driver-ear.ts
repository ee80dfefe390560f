// A listener that remembers, and messages for it.

import type { Driver, Listener } from '../driver.ts'
import { callOf, scriptOf, until, untilAnswered } from './driver-calls.ts'
import { type DriverContext, withDriver } from './driver-context.ts'

export class DriverEar implements Listener {
  readonly heard: string[] = []
  gaps = 0
  /** How many gaps there had been when each loss was told. */
  readonly losses: number[] = []
  /** What the driver said of itself when each loss was told. */
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

/** Resolves to how many subscribers the server says that it has told. */
export async function publish(driver: Driver, channel: string, message: string): Promise<number> {
  const { shardedChannels } = await driver.info()
  return Number(
    await untilAnswered(driver, callOf(shardedChannels ? SPUBLISH : PUBLISH, [channel], [message])),
  )
}

/** Publishes until it is heard: after a fault, the first ones may be lost. */
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
 * Publishes by a client that has just connected, until the node of the commands has told a subscriber itself: what a replica
 * passes on to its own subscribers is heard, too, but scripts count nobody there.
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
