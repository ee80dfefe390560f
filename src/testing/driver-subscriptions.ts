import assert from 'node:assert/strict'
import { until } from './driver-calls.ts'
import { type DriverCase, withDriver } from './driver-context.ts'
import { DriverEar, publish, publishUntilHeard } from './driver-ear.ts'

export const subscriptionCases: DriverCase[] = [
  {
    title: 'a subscriber receives messages once subscribe has resolved, and none after close',
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
    title: 'two listeners of one channel share one subscription, which ends with the last of them',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const channel = `wake:{${context.uniqueTag()}}`
        const ear = new DriverEar()
        const [one, other] = await Promise.all([
          driver.subscribe(channel, ear),
          driver.subscribe(channel, ear),
        ])
        await publish(driver, channel, 'twice')
        await until(() => ear.heard.length === 2, 'both received the message')

        await one.close()
        await publish(driver, channel, 'once')
        await until(() => ear.heard.length === 3, 'the remaining one received the message')
        await other.close()

        const { shardedChannels } = await driver.info()
        const counts = await context.command('PUBSUB', shardedChannels ? 'SHARDNUMSUB' : 'NUMSUB', channel)
        for (const count of counts) assert.deepEqual(count, [channel, 0])
      }),
  },
  {
    title: 'listeners receive only the messages of their own channels, over many slots',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const tags = Array.from({ length: 12 }, () => context.uniqueTag())
        const ears = tags.map(() => new DriverEar())
        await Promise.all(tags.map((tag, n) => driver.subscribe(`wake:{${tag}}`, ears[n] ?? new DriverEar())))

        await Promise.all(tags.map((tag) => publish(driver, `wake:{${tag}}`, tag)))
        await until(() => ears.every((ear) => ear.heard.length > 0), 'all received the message')

        assert.deepEqual(
          ears.map((ear) => ear.heard),
          tags.map((tag) => [tag]),
        )
      }),
  },
  {
    title: 'a killed subscriber connection is restored and reports the gap to every listener',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const channel = `wake:{${context.uniqueTag()}}`
        const ears = [new DriverEar(), new DriverEar()]
        await Promise.all(ears.map((ear) => driver.subscribe(channel, ear)))
        assert.equal(driver.healthy(), true)

        await context.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
        await until(() => ears.every((ear) => ear.gaps > 0), 'the gap was reported to both')
        await publish(driver, channel, 'after')
        await until(() => ears.every((ear) => ear.heard.length > 0), 'both received the message')

        assert.deepEqual(
          ears.map((ear) => ear.heard),
          [['after'], ['after']],
        )
        assert.equal(driver.healthy(), true)
      }),
  },
  {
    title: 'a listener is notified of the lost subscription before the gap',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const ear = new DriverEar()
        await driver.subscribe(`wake:{${context.uniqueTag()}}`, ear)

        await context.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
        await until(() => ear.gaps > 0, 'the gap was reported')

        assert.equal(ear.losses[0], 0)
      }),
  },
  {
    title: 'a subscription follows its slot to another primary and reports the gap',
    needs: 'moveSlot',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const channel = `wake:{${context.uniqueTag()}}`
        const ear = new DriverEar()
        await driver.subscribe(channel, ear)

        await context.moveSlot?.(channel)
        // A plain channel has no slot.
        if ((await driver.info()).shardedChannels) await until(() => ear.gaps > 0, 'the gap was reported')
        await publishUntilHeard(driver, channel, 'after', ear)

        assert.equal(driver.healthy(), true)
      }),
  },
]
