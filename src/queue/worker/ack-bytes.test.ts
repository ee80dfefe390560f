import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Driver, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { until } from '../../../test/queue-fixture.ts'

const MIB = 2 ** 20
const JOBS = 30

/** The driver, recording the bytes that are sent to each script. */
function weighing(driver: Driver, calls: number[]): Driver {
  const run: Driver['run'] = (call) => {
    calls.push(call.args.reduce<number>((sum, arg) => sum + Buffer.byteLength(String(arg)), 0))
    return driver.run(call)
  }
  return Object.assign(Object.create(driver) as Driver, { ...bound(driver), run })
}

function bound(driver: Driver): Partial<Driver> {
  const names = ['read', 'write', 'info', 'close', 'healthy', 'load', 'subscribe'] as const
  return Object.fromEntries(names.map((name) => [name, (driver[name] as () => unknown).bind(driver)]))
}

test('acks of a worker with large results take several calls', async () => {
  const client = new Redis(inject('redisPort'))
  const calls: number[] = []
  const redis = perilune(weighing(ioredis(client), calls), { namespace: 'queue-test' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  const queue = redis.queue(randomUUID())
  await queue.enqueueMany(
    Array.from({ length: JOBS }, () => ({ name: 'j', payload: 0, resultTtl: '1m' as const })),
  )
  let begun = 0
  let end: () => void = () => undefined
  const together = new Promise<void>((resolve) => (end = resolve))
  await using _worker = queue.work(
    async () => {
      begun += 1
      if (begun === JOBS) end()
      await together
      return 'x'.repeat(MIB)
    },
    { concurrency: JOBS },
  )
  await until(async () => (await queue.inspect()).acked === JOBS)

  expect(Math.max(...calls)).toBeGreaterThan(MIB)
  expect(Math.max(...calls)).toBeLessThan(6 * MIB)
})
