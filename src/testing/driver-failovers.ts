// Subscriptions when their server fails, or no longer accepts commands.

import assert from 'node:assert/strict'
import { until } from './driver-calls.ts'
import { type DriverCase, withDriver } from './driver-context.ts'
import { DriverEar, publishUntilCounted, publishUntilHeard } from './driver-ear.ts'

export const failoverCases: DriverCase[] = [
  {
    title: 'a subscription is restored after a failover',
    needs: 'failover',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const channel = `wake:{${context.uniqueTag()}}`
        const ear = new DriverEar()
        await driver.subscribe(channel, ear)

        await context.failover?.()
        await until(() => ear.gaps > 0, 'the gap was reported')
        await publishUntilHeard(driver, channel, 'after', ear)
      }),
  },
  {
    title: 'a subscription on a demoted server is placed again, and its listener is notified',
    needs: 'switchover',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const channel = `wake:{${context.uniqueTag()}}`
        const ear = new DriverEar(driver)
        await driver.subscribe(channel, ear)

        await context.switchover?.(channel)
        await until(() => ear.gaps > 0, 'the gap was reported')
        await publishUntilCounted(context, channel, ear)

        assert.equal(ear.losses[0], 0)
        assert.deepEqual(new Set(ear.healthyWhenLost), new Set([false]))
        await until(() => driver.healthy(), 'the driver was healthy again')
      }),
  },
  {
    title: 'a subscription whose connection falls silent is placed again, and its listener is notified',
    needs: 'halfOpenSubscribers',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const channel = `wake:{${context.uniqueTag()}}`
        const ear = new DriverEar(driver)
        await driver.subscribe(channel, ear)

        await context.halfOpenSubscribers?.()
        await until(() => ear.gaps > 0, 'the gap was reported')
        await publishUntilHeard(driver, channel, 'after', ear)

        assert.equal(ear.losses[0], 0)
        assert.deepEqual(new Set(ear.healthyWhenLost), new Set([false]))
        await until(() => driver.healthy(), 'the driver was healthy again')
      }),
  },
]
