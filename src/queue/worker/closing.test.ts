// Waiting calls of an instance that closes while the queue does not answer any more.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Driver, type PartitionedQueue, perilune, type Queue } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'

const CLOSED = expect.objectContaining({ name: 'DriverError', code: 'closed' })

interface Gate {
  readonly driver: Driver
  /** True once a subscription exists, a later call was answered, and no calls follow. */
  waits(): boolean
  /** From now on no script of a queue is answered. */
  fallSilent(): void
}

function gated(driver: Driver): Gate {
  let [isSilent, isHeard, isAnswered, underWay] = [false, false, false, 0]
  const run: Driver['run'] = (call) => {
    if (!call.script.name.startsWith('queue/')) return driver.run(call)
    if (isSilent) return new Promise(() => undefined)
    underWay += 1
    return driver.run(call).finally(() => {
      underWay -= 1
      isAnswered = isHeard
    })
  }
  const subscribe: Driver['subscribe'] = async (...args) => {
    const subscription = await driver.subscribe(...args)
    isHeard = true
    return subscription
  }
  const bound: Partial<Driver> = { run, subscribe, info: () => driver.info(), close: () => driver.close() }
  return {
    driver: Object.assign(Object.create(driver) as Driver, bound),
    waits: () => isAnswered && underWay === 0,
    fallSilent: () => void (isSilent = true),
  }
}

const MINUTE = { wait: '1m' } as const
const waitings: [what: string, wait: (queue: Queue, partitioned: PartitionedQueue) => Promise<unknown>][] = [
  ['a claim', (queue) => queue.claim(MINUTE)],
  ['a claim of all partitions', (_, partitioned) => partitioned.claim(MINUTE)],
  ['a detached claim', (queue) => queue.claimDetached(MINUTE)],
  [
    'a waiter for the end of a job',
    async (queue) => {
      const { id } = await queue.enqueue('mail', {}, { delay: '1h' })
      return queue.jobs.waitForResult(id, MINUTE)
    },
  ],
  ['a listener to events', (queue) => queue.events().next()],
]

test.each(waitings)(
  '%s ends at once when the instance closes, before the work under leases',
  async (_, wait) => {
    const client = new Redis(inject('redisPort'))
    const gate = gated(ioredis(client))
    const redis = perilune(gate.driver, { namespace: 'queue-closing-test', deadline: '9m' })
    onTestFinished(async () => {
      await redis.close()
      client.disconnect()
    })
    const name = randomUUID()
    const ending = wait(redis.queue(name), redis.queue(name, { partitions: 2 })).then(
      () => null,
      (error: unknown) => error,
    )
    let atWork: Promise<string> | undefined
    await new Promise<void>((begun) => {
      atWork = redis.lock(name).run(async () => {
        begun()
        await ending
        return 'done'
      })
    })
    await expect.poll(() => gate.waits()).toBe(true)
    gate.fallSilent()

    const closing = redis.close()

    expect(await ending).toEqual(CLOSED)
    expect(await atWork).toBe('done')
    await closing
  },
)
