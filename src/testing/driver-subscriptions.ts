import assert from 'node:assert/strict'
import type { Driver, Listener } from '../driver.ts'
import { callOf, scriptOf, until, untilAnswered } from './driver-calls.ts'
import { type DriverCase, type DriverContext, withDriver } from './driver-context.ts'

class Ear implements Listener {
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
async function publish(driver: Driver, channel: string, message: string): Promise<number> {
  const { shardedChannels } = await driver.info()
  return Number(
    await untilAnswered(driver, callOf(shardedChannels ? SPUBLISH : PUBLISH, [channel], [message])),
  )
}

/** Publishes until it is heard: after a fault, the first ones may be lost. */
async function publishUntilHeard(driver: Driver, channel: string, message: string, ear: Ear): Promise<void> {
  await until(async () => {
    await publish(driver, channel, message)
    return ear.heard.includes(message)
  }, `${message} was heard`)
}

/**
 * Publishes by a client that has just connected, until the node of the commands has told a subscriber itself: what a replica
 * passes on to its own subscribers is heard, too, but scripts count nobody there.
 */
async function publishUntilCounted(context: DriverContext, channel: string, ear: Ear): Promise<void> {
  await withDriver(context, async ({ driver }) => {
    await until(async () => (await publish(driver, channel, 'counted')) > 0, 'a subscriber was counted')
    await until(() => ear.heard.includes('counted'), 'it was heard')
  })
}

export const subscriptionCases: DriverCase[] = [
  {
    title: 'a subscriber hears what is published once subscribe has resolved, and nothing after close',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const channel = `wake:{${context.uniqueTag()}}`
        const [closed, open] = [new Ear(), new Ear()]
        const subscription = await driver.subscribe(channel, closed)
        await publish(driver, channel, 'first €')
        await until(() => closed.heard.length === 1, 'the message arrived')

        await subscription.close()
        await driver.subscribe(channel, open)
        await publish(driver, channel, 'second')
        await until(() => open.heard.length === 1, 'the message arrived')

        assert.deepEqual([closed.heard, open.heard], [['first €'], ['second']])
        assert.equal(closed.gaps + open.gaps, 0)
      }),
  },
  {
    title: 'two listeners of one channel share one subscription, and the last to leave ends it',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const channel = `wake:{${context.uniqueTag()}}`
        const ear = new Ear()
        const [one, other] = await Promise.all([
          driver.subscribe(channel, ear),
          driver.subscribe(channel, ear),
        ])
        await publish(driver, channel, 'twice')
        await until(() => ear.heard.length === 2, 'both were told')

        await one.close()
        await publish(driver, channel, 'once')
        await until(() => ear.heard.length === 3, 'the one that stayed was told')
        await other.close()

        const { shardedChannels } = await driver.info()
        const counts = await context.command('PUBSUB', shardedChannels ? 'SHARDNUMSUB' : 'NUMSUB', channel)
        for (const count of counts) assert.deepEqual(count, [channel, 0])
      }),
  },
  {
    title: 'channels of many slots are heard by their own listeners only',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const tags = Array.from({ length: 12 }, () => context.uniqueTag())
        const ears = tags.map(() => new Ear())
        await Promise.all(tags.map((tag, n) => driver.subscribe(`wake:{${tag}}`, ears[n] ?? new Ear())))

        await Promise.all(tags.map((tag) => publish(driver, `wake:{${tag}}`, tag)))
        await until(() => ears.every((ear) => ear.heard.length > 0), 'everybody was told')

        assert.deepEqual(
          ears.map((ear) => ear.heard),
          tags.map((tag) => [tag]),
        )
      }),
  },
  {
    title: 'a killed subscriber connection comes back by itself and tells every listener of the gap',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const channel = `wake:{${context.uniqueTag()}}`
        const ears = [new Ear(), new Ear()]
        await Promise.all(ears.map((ear) => driver.subscribe(channel, ear)))
        assert.equal(driver.healthy(), true)

        await context.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
        await until(() => ears.every((ear) => ear.gaps > 0), 'both knew of the gap')
        await publish(driver, channel, 'after')
        await until(() => ears.every((ear) => ear.heard.length > 0), 'both were told')

        assert.deepEqual(
          ears.map((ear) => ear.heard),
          [['after'], ['after']],
        )
        assert.equal(driver.healthy(), true)
      }),
  },
  {
    title: 'a listener is told that its subscription is lost, before it is told of the gap',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const ear = new Ear()
        await driver.subscribe(`wake:{${context.uniqueTag()}}`, ear)

        await context.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
        await until(() => ear.gaps > 0, 'it knew of the gap')

        assert.equal(ear.losses[0], 0)
      }),
  },
  {
    title: 'a subscription follows its slot to another primary and tells of the gap',
    needs: 'moveSlot',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const channel = `wake:{${context.uniqueTag()}}`
        const ear = new Ear()
        await driver.subscribe(channel, ear)

        await context.moveSlot?.(channel)
        // A plain channel belongs to no slot.
        if ((await driver.info()).shardedChannels) await until(() => ear.gaps > 0, 'it knew of the gap')
        await publishUntilHeard(driver, channel, 'after', ear)

        assert.equal(driver.healthy(), true)
      }),
  },
  {
    title: 'a subscription comes back after a failover',
    needs: 'failover',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const channel = `wake:{${context.uniqueTag()}}`
        const ear = new Ear()
        await driver.subscribe(channel, ear)

        await context.failover?.()
        await until(() => ear.gaps > 0, 'it knew of the gap')
        await publishUntilHeard(driver, channel, 'after', ear)
      }),
  },
  {
    title: 'a subscription on a server that was demoted is placed again, and its listener learns of it',
    needs: 'switchover',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const channel = `wake:{${context.uniqueTag()}}`
        const ear = new Ear(driver)
        await driver.subscribe(channel, ear)

        await context.switchover?.(channel)
        await until(() => ear.gaps > 0, 'it knew of the gap')
        await publishUntilCounted(context, channel, ear)

        assert.equal(ear.losses[0], 0)
        assert.deepEqual(new Set(ear.healthyWhenLost), new Set([false]))
        await until(() => driver.healthy(), 'the driver was healthy again')
      }),
  },
  {
    title: 'a subscription whose connection falls silent is placed again, and its listener learns of it',
    needs: 'halfOpenSubscribers',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const channel = `wake:{${context.uniqueTag()}}`
        const ear = new Ear(driver)
        await driver.subscribe(channel, ear)

        await context.halfOpenSubscribers?.()
        await until(() => ear.gaps > 0, 'it knew of the gap')
        await publishUntilHeard(driver, channel, 'after', ear)

        assert.equal(ear.losses[0], 0)
        assert.deepEqual(new Set(ear.healthyWhenLost), new Set([false]))
        await until(() => driver.healthy(), 'the driver was healthy again')
      }),
  },
]
