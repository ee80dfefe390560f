// A process whose connection that listens takes long to come up, or is refused at first, waits like any other once it has
// come.

import { Redis } from 'ioredis'
import { type Driver, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, onTestFinished, test } from 'vitest'
import { ConnectionLostError } from '../../src/driver.ts'
import { until } from '../servers/ask.ts'

/** Before each attempt to listen, from 1. */
type Hindrance = (attempt: number) => Promise<unknown>

const HINDRANCES: Readonly<Record<string, Hindrance>> = {
  'takes long': () => sleep(1300),
  'is refused at first': async (attempt) => {
    if (attempt <= 2) throw new ConnectionLostError('max number of clients reached', false)
  },
}

interface Scene {
  readonly redis: Perilune
  /** On a driver of its own. */
  readonly other: Perilune
  readonly name: string
  /** Scripts that were called. */
  readonly calls: string[]
  listens(): boolean
}

function scene(hinder: Hindrance): Scene {
  const calls: string[] = []
  let isListening = false
  let attempts = 0
  const open = (wrap: (plain: Driver) => Partial<Driver>): Perilune => {
    const client = new Redis(inject('redisPort'))
    const plain = ioredis(client)
    const driver: Driver = Object.assign(Object.create(plain) as Driver, wrap(plain))
    const redis = perilune(driver, { namespace: 'late-listening' })
    onTestFinished(async () => {
      await redis.close()
      client.disconnect()
    })
    return redis
  }
  const late = (plain: Driver): Partial<Driver> => ({
    run: (call) => {
      calls.push(call.script.name)
      return plain.run(call)
    },
    info: () => plain.info(),
    load: (script) => plain.load(script),
    close: () => plain.close(),
    subscribe: async (channel, listener) => {
      await hinder((attempts += 1))
      const subscription = await plain.subscribe(channel, listener)
      isListening = true
      return subscription
    },
  })
  const same = (plain: Driver): Partial<Driver> => ({
    run: (call) => plain.run(call),
    info: () => plain.info(),
    load: (script) => plain.load(script),
    close: () => plain.close(),
    subscribe: (channel, listener) => plain.subscribe(channel, listener),
  })
  return { redis: open(late), other: open(same), name: randomUUID(), calls, listens: () => isListening }
}

interface Case {
  /** What is waited for is not there. */
  prepare?(scene: Scene): Promise<unknown>
  wait(scene: Scene): Promise<unknown>
  /** Until it is. */
  serve(scene: Scene): Promise<unknown>
  readonly script: string
}

const CASES: Readonly<Record<string, Case>> = {
  'a lock': {
    prepare: ({ other, name }) => other.lock(name).acquire(),
    wait: ({ redis, name }) => redis.lock(name).acquire({ wait: '1m' }),
    serve: ({ other, name }) => other.lock(name).clear(),
    script: 'lock/acquire',
  },
  'a message': {
    wait: ({ redis, name }) => redis.feed<number>(name).read({ wait: '1m' }),
    serve: ({ other, name }) => other.feed<number>(name).append(1),
    script: 'feed/read',
  },
  'a job': {
    wait: ({ redis, name }) => redis.queue(name).claim({ wait: '1m' }),
    serve: ({ other, name }) => other.queue(name).enqueue('job', 1),
    script: 'queue/ack-and-claim',
  },
  'a job of partitions': {
    wait: ({ redis, name }) => redis.queue(name, { partitions: 2 }).claim({ wait: '1m' }),
    serve: ({ other, name }) => other.queue(name, { partitions: 2 }).enqueue('job', 1),
    script: 'queue/ack-and-claim',
  },
  'the end of a job': {
    prepare: ({ other, name }) => other.queue(name).enqueue('job', 1, { id: 'job' }),
    wait: ({ redis, name }) => redis.queue(name).jobs.waitForResult('job', { wait: '1m' }),
    async serve({ other, name }) {
      const [job] = await other.queue(name).claim()
      await job?.ack()
    },
    script: 'queue/await-end',
  },
}

/** How often it asks again in a while in which it listens. */
async function asksOf(hinder: Hindrance, { prepare, wait, serve, script }: Case): Promise<number> {
  const made = scene(hinder)
  await prepare?.(made)
  const waiting = wait(made)
  await until('it listens', async () => made.listens())
  // It finds that out when it asks the next time, and once more looks soon after the first time.
  await sleep(1600)
  made.calls.length = 0
  await sleep(1500)
  const asks = made.calls.filter((name) => name === script).length
  await serve(made)
  await waiting
  return asks
}

test.each(Object.entries(HINDRANCES))(
  'a waiter stops polling once it listens, which %s',
  async (_, hinder) => {
    // At once: they take long.
    const asks = await Promise.all(
      Object.entries(CASES).map(async ([what, each]) => [what, await asksOf(hinder, each)] as const),
    )

    expect(asks.filter(([, times]) => times > 1)).toEqual([])
  },
)
