import assert from 'node:assert/strict'
import { until } from './driver-calls.ts'
import { type DriverCase, withDriver } from './driver-context.ts'
import { DriverEar, publish, publishUntilHeard } from './driver-ear.ts'

export const subscriptionCases: DriverCase[] = [
  {
    title: 'a subscriber hears what is published once subscribe has resolved, and nothing after close',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const channel = `wake:{${context.uniqueTag()}}`
        const [closed, open] = [new DriverEar(), new DriverEar()]
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
        const ear = new DriverEar()
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
        const ears = tags.map(() => new DriverEar())
        await Promise.all(tags.map((tag, n) => driver.subscribe(`wake:{${tag}}`, ears[n] ?? new DriverEar())))

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
        const ears = [new DriverEar(), new DriverEar()]
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
        const ear = new DriverEar()
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
        const ear = new DriverEar()
        await driver.subscribe(channel, ear)

        await context.moveSlot?.(channel)
        // A plain channel belongs to no slot.
        if ((await driver.info()).shardedChannels) await until(() => ear.gaps > 0, 'it knew of the gap')
        await publishUntilHeard(driver, channel, 'after', ear)

        assert.equal(driver.healthy(), true)
      }),
  },
]
