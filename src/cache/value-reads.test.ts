import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import type { Shares } from '../runtime/calls/answers-due.ts'
import { Runtime } from '../runtime/connection/runtime.ts'
import { Reads } from './reads.ts'

/** The setting of the service: tenants share the process. */
const SHARES: Shares = {
  of: (key) => key,
  mostWaiting: Infinity,
  hasRoom: () => true,
  onRoom: () => undefined,
  came: () => undefined,
}

test('an absent value is a small answer: each one lets more reads be sent, also after a large one', async () => {
  const { reads, client, prefix, most } = setup()
  await client.set(`${prefix}large`, Buffer.alloc(1_500_000))
  expect((await reads.getValue(`${prefix}large`, 5000))?.length).toBe(1_500_000)

  const absent = Array.from({ length: 300 }, (_, n) => reads.getValue(`${prefix}${n}`, 5000))
  expect(new Set(await Promise.all(absent))).toEqual(new Set([null]))
  expect(most()).toBeGreaterThan(16)
})

function setup() {
  const client = new Redis(inject('redisPort'), { lazyConnect: false })
  const runtime = new Runtime(ioredis(client), `t-${randomUUID()}`, 5000, SHARES)
  onTestFinished(async () => {
    await runtime.close()
    client.disconnect()
  })
  let [due, most] = [0, 0]
  const { driver } = runtime.runner
  const read = driver.read.bind(driver)
  driver.read = (calls) => {
    const keys = calls.flatMap(({ args }) => args).length
    due += keys
    most = Math.max(most, due)
    const replies = read(calls)
    void Promise.allSettled(replies).then(() => (due -= keys))
    return replies
  }
  const prefix = runtime.prefix('cache', 'values')
  return { reads: new Reads(runtime, prefix), client, prefix: `${prefix}:`, most: () => most }
}
