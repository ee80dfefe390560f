// A process that asks to subscribe, and gets no answer: it still acquires what is free, a second later at most.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type Driver, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'

/** A second, half of one until it looks again, and time to spare. */
const SOON_MS = 2500

interface Scene {
  /** Of the process without an answer. */
  deaf: Perilune
  other: Perilune
  name: string
}

function setup(): Scene {
  const client = new Redis(inject('redisPort'))
  const driver = ioredis(client)
  const deafDriver: Driver = {
    name: 'deaf',
    run: (call) => driver.run(call),
    runMany: (calls) => driver.runMany(calls),
    read: (calls) => driver.read(calls),
    write: (call) => driver.write(call),
    load: (script) => driver.load(script),
    subscribe: () => new Promise(() => undefined),
    info: () => driver.info(),
    wait: (key, replicas, timeoutMs) => driver.wait(key, replicas, timeoutMs),
    healthy: () => driver.healthy(),
    close: async () => undefined,
  }
  const [deaf, other] = [perilune(deafDriver), perilune(driver)]
  onTestFinished(async () => {
    await Promise.all([deaf.close(), other.close()])
    client.disconnect()
  })
  return { deaf, other, name: randomUUID() }
}

/** Both resolve: the waiter, and the holder that releases. */
type Case = (scene: Scene) => Promise<readonly [wait: () => Promise<unknown>, give: () => Promise<unknown>]>

const cases: [string, Case][] = [
  [
    'a job',
    async ({ deaf, other, name }) => [
      () => deaf.queue(name).claim({ wait: '20s' }),
      () => other.queue(name).enqueue('mail', 1),
    ],
  ],
  [
    'a job in a partition',
    async ({ deaf, other, name }) => [
      () => deaf.queue(name, { partitions: 2 }).claim({ wait: '20s' }),
      () => other.queue(name, { partitions: 2 }).enqueue('mail', 1),
    ],
  ],
  [
    'the result of a job',
    async ({ deaf, other, name }) => {
      const { id } = await other.queue(name).enqueue('mail', 1, { resultTtl: '1h' })
      const [job] = await other.queue(name).claim()
      return [() => deaf.queue(name).jobs.waitForResult(id, { wait: '20s' }), async () => job?.ack('done')]
    },
  ],
  [
    'a message',
    async ({ deaf, other, name }) => {
      await other.feed(name).append('old')
      const { next } = await deaf.feed(name).read()
      return [() => deaf.feed(name).read({ after: next, wait: '20s' }), () => other.feed(name).append('new')]
    },
  ],
  [
    'a lock',
    async ({ deaf, other, name }) => {
      const held = await other.lock(name).acquire()
      return [() => deaf.lock(name).acquire({ wait: '20s' }), () => held.release()]
    },
  ],
]

test.each(cases)(
  '%s is acquired soon',
  async (_, of) => {
    const [wait, give] = await of(setup())
    const waiting = wait()
    await sleep(100)
    await give()
    const givenAt = performance.now()

    await waiting

    expect(performance.now() - givenAt).toBeLessThan(SOON_MS)
  },
  30_000,
)
