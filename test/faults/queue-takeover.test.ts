// A process dies, or stands still with its connections open, while another one waits for work: the other one gets every
// job that the first one held, was to watch, or was woken for. It looks for jobs only when it is woken or an answer
// asked it to.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { perilune, type Queue } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { inject, onTestFinished, test } from 'vitest'
import { until } from '../queue-fixture.ts'
import { ObedientWorker } from './obedient-worker.ts'
import type { HoarderOrder } from './queue-hoarder.ts'
import { startWorker } from './worker-process.ts'

const NAMESPACE = 'perilune'
const LEASE_MS = 1000
const ENDS = ['SIGKILL', 'SIGSTOP'] as const

interface Scene {
  queue: Queue
  /** Another process begins to work; it keeps its jobs until it is ended in this way. */
  startOther(): Promise<{ end(signal: (typeof ENDS)[number]): void }>
  /** Who waits now waits as well. */
  startWaiting(): Promise<ObedientWorker>
}

function setup(): Scene {
  const port = inject('redisPort')
  const client = new Redis(port)
  const redis = perilune(ioredis(client), { namespace: NAMESPACE })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  const queue: Queue = redis.queue(randomUUID())
  const order: HoarderOrder = { port, name: queue.name, concurrency: 10, leaseMs: LEASE_MS }
  const startOther: Scene['startOther'] = async () => {
    const other = startWorker('queue-hoarder.ts', JSON.stringify(order))
    await until(async () => (await queue.inspect()).idle === 1)
    return { end: (signal) => void other.kill(signal) }
  }
  return { queue, startOther, startWaiting: () => ObedientWorker.start(port, NAMESPACE, queue.name) }
}

test.each(ENDS)('after %s of its worker a job is taken by one that waited before', async (signal) => {
  const { queue, startOther, startWaiting } = setup()
  await queue.enqueue('n', 1)
  const other = await startOther()
  await until(async () => (await queue.inspect()).claimed === 1)
  const waiting = await startWaiting()

  other.end(signal)

  await until(() => waiting.took.includes(1))
})

test.each(ENDS)('after %s of its worker a job is taken by one that starts then', async (signal) => {
  const { queue, startOther, startWaiting } = setup()
  await queue.enqueue('n', 1)
  const other = await startOther()
  await until(async () => (await queue.inspect()).claimed === 1)
  other.end(signal)

  const waiting = await startWaiting()

  await until(() => waiting.took.includes(1))
})

test.each(ENDS)('after %s of the worker that watched the time a delayed job is taken', async (signal) => {
  const { queue, startOther, startWaiting } = setup()
  await queue.enqueue('n', 1, { delay: '2s' })
  const other = await startOther()
  const waiting = await startWaiting()

  other.end(signal)

  await until(() => waiting.took.includes(1))
})

test.each(ENDS)('after %s of the worker that was woken a job is taken by another', async (signal) => {
  const { queue, startOther, startWaiting } = setup()
  const other = await startOther()
  const waiting = await startWaiting()
  other.end(signal)

  await queue.enqueue('n', 1, { priority: 1 })

  await until(() => waiting.took.includes(1))
})
