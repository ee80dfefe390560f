// Very many jobs at work, and all who work on them are killed at once.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type ClaimedJob, type Perilune, perilune, type Queue } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { LONG, tell } from '../proof.ts'
import { forkProgram } from '../programs/fork.ts'
import { until } from '../queue-fixture.ts'
import { startRedis } from '../servers/redis.ts'
import { METER, type Metered, metering, parseMetered } from './metered-driver.ts'
import type { HoarderOrder } from './queue-hoarder.ts'

const HOARDER = new URL('queue-hoarder.ts', import.meta.url)

const JOBS = LONG ? 20_000 : 2000
const HOARDERS = LONG ? 4 : 2
// As many as a call takes back.
const STEP = 100
const LEASE_MS = LONG ? 10_000 : 3000

async function ownServer(): Promise<{ port: number; client: Redis; redis: Perilune }> {
  const server = await startRedis()
  const client = new Redis(server.port)
  const redis = perilune(metering(ioredis(client)), { deadline: '20s' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
    await server.stop()
  })
  return { port: server.port, client, redis }
}

async function enqueueAll(queue: Queue): Promise<void> {
  for (let at = 0; at < JOBS; at += 1000) {
    await queue.enqueueMany(Array.from({ length: 1000 }, (_, n) => ({ name: 'mail', payload: at + n })))
  }
}

/** Processes take all jobs, extend them, and are killed with kill -9. */
async function takeAllAndDie(port: number, queue: Queue): Promise<void> {
  const concurrency = JOBS / HOARDERS
  const order: HoarderOrder = { port, name: queue.name, concurrency, leaseMs: LEASE_MS }
  const hoarders = Array.from({ length: HOARDERS }, () =>
    forkProgram(HOARDER, [JSON.stringify(order)], { stdio: 'inherit' }),
  )
  onTestFinished(() => hoarders.forEach((hoarder) => hoarder.kill('SIGKILL')))
  await until(async () => (await queue.inspect()).claimed === JOBS)
  await sleep(LEASE_MS / 2)
  const ended = hoarders.map((hoarder) => once(hoarder, 'exit'))
  for (const hoarder of hoarders) hoarder.kill('SIGKILL')
  await Promise.all(ended)
}

async function metered(client: Redis): Promise<Metered[]> {
  return (await client.lrange(METER, 0, -1)).map(parseMetered)
}

// bullmq#422, bull#2709, bee-queue#170
test('jobs of workers that were all killed return in bounded steps, and one new worker does them', {
  timeout: LONG ? 300_000 : 60_000,
}, async () => {
  const { port, client, redis } = await ownServer()
  const queue: Queue = redis.queue(randomUUID())
  await enqueueAll(queue)
  await takeAllAndDie(port, queue)
  expect(await queue.inspect()).toMatchObject({ claimed: JOBS, reclaimed: 0, acked: 0 })
  await sleep(LEASE_MS)

  const [job] = await queue.claim()
  expect(await queue.inspect()).toMatchObject({ reclaimed: STEP, ready: STEP - 1, claimed: JOBS - STEP + 1 })
  await job?.release()
  await client.del(METER)
  const attempts = new Map<unknown, number[]>()
  const worker = queue.work(
    ({ payload, attempt }: ClaimedJob) =>
      void attempts.set(payload, [...(attempts.get(payload) ?? []), attempt]),
    { concurrency: 200 },
  )
  await until(async () => (await queue.inspect()).acked === JOBS)
  await worker.close()

  const claims = (await metered(client)).filter(({ script }) => script.startsWith('queue/ack-and-claim'))
  const most = Math.max(...claims.map(({ elements }) => elements))
  tell(
    `queue, ${JOBS} jobs of killed workers: ${claims.length} calls took them back, the largest of ${most} elements`,
  )
  expect(new Set([...attempts.values()].map(String))).toEqual(new Set(['2']))
  expect(attempts.size).toBe(JOBS)
  expect(claims.length).toBeGreaterThanOrEqual((JOBS - STEP) / STEP)
  expect(await queue.inspect()).toMatchObject({ reclaimed: JOBS, ready: 0, claimed: 0, dead: 0 })
})
