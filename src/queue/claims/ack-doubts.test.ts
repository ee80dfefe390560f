// Acks whose answers are lost until their deadline, and which are retried.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import {
  AmbiguousError,
  type ClaimedJob,
  type Driver,
  LeaseLostError,
  type Perilune,
  perilune,
  type Queue,
} from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { until } from '../../../test/queue-fixture.ts'

// The acks follow them.
const ARGUMENTS_BEFORE_ACKS = 10

/** Executes the first call that acks, and drops its answer. */
function losingAnAnswer(driver: Driver): Driver {
  let lost = false
  const run: Driver['run'] = async (call) => {
    const acks =
      call.script.name.startsWith('queue/ack-and-claim') && call.args.length > ARGUMENTS_BEFORE_ACKS
    const reply = await driver.run(call)
    if (!acks || lost) return reply
    lost = true
    return new Promise(() => undefined)
  }
  return Object.assign(Object.create(driver) as Driver, {
    run,
    info: () => driver.info(),
    close: () => driver.close(),
    subscribe: (...args: Parameters<Driver['subscribe']>) => driver.subscribe(...args),
  })
}

function connect(): Perilune {
  const client = new Redis(inject('redisPort'))
  const redis = perilune(losingAnAnswer(ioredis(client)), { namespace: 'ack-doubts', deadline: '1s' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return redis
}

function setup(): Queue {
  return connect().queue(randomUUID())
}

test.each([0, 5])('a retried ack of a worker that took effect succeeds, with %i jobs kept', async (count) => {
  const queue = setup()
  if (count > 0) await queue.settings.set({ retention: { count } })
  const errors: unknown[] = []
  const settled: unknown[] = []
  await using _worker = queue.work(() => undefined, {
    onError: (error) => errors.push(error),
    onSettled: ({ outcome }: ClaimedJob) => settled.push(outcome),
  })

  await queue.enqueue('mail', 1)
  await until(() => settled.length + errors.length > 1)

  expect(settled).toEqual(['acked'])
  expect(errors).toEqual([expect.any(AmbiguousError)])
  expect(await queue.inspect()).toMatchObject({ acked: 1, done: count === 0 ? 0 : 1 })
})

test.each([0, 5])('a repeated ack of a job succeeds, with %i jobs kept', async (count) => {
  const queue = setup()
  if (count > 0) await queue.settings.set({ retention: { count } })
  await queue.enqueue('mail', 1)
  const [job] = await queue.claim()
  await expect(job?.ack()).rejects.toThrow(AmbiguousError)

  await job?.ack()

  expect(job?.outcome).toBe('acked')
})

test('an ack in doubt counts as lost when the lease is over and the job no longer exists', async () => {
  const queue = setup()
  await queue.enqueue('mail', 1)
  const [job] = await queue.claim({ lease: '500ms' })
  await expect(job?.ack()).rejects.toThrow(AmbiguousError)
  await until(() => job?.remainingMs === 0)

  await expect(job?.ack()).rejects.toThrow(LeaseLostError)
})

test('a repeated fail of a dead job succeeds', async () => {
  const queue = setup()
  const { id } = await queue.enqueue('mail', 1)
  const [job] = await queue.claim()
  await queue.byToken.fail([{ id, token: job?.token ?? 0 }])

  await job?.fail()

  expect(job?.outcome).toBe('dead')
})

test('a repeated ack by token succeeds while the job is kept', async () => {
  const queue = setup()
  await queue.settings.set({ retention: { count: 5 } })
  const { id } = await queue.enqueue('mail', 1)
  const [job] = await queue.claim()
  await queue.byToken.ack([{ id, token: job?.token ?? 0 }]).catch(() => undefined)

  await job?.ack()

  expect(job?.outcome).toBe('acked')
})

test.each([
  ['a queue', (redis: Perilune) => redis.queue(randomUUID())],
  ['partitions', (redis: Perilune) => redis.queue(randomUUID(), { partitions: 2 })],
])('a repeated ack along with a claim succeeds, for %s', async (_, open) => {
  const queue = open(connect())
  await queue.enqueue('mail', 1)
  const [job] = (await queue.claim()) as [ClaimedJob]
  await expect(queue.claim({ acks: [job] })).rejects.toThrow(AmbiguousError)

  await queue.claim({ acks: [job] })

  expect(job.outcome).toBe('acked')
  expect(job.signal.aborted).toBe(false)
})
