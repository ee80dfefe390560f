// Cases about waiting workers that no test of qless covers: how they are woken, and what happens when a wake-up is
// lost.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { setup, until } from '../queue-fixture.ts'
import { startRedis } from '../servers/redis.ts'
import { startSentinels } from '../servers/sentinels.ts'

const idle =
  ({ queue }: { queue: { inspect(): Promise<{ idle: number }> } }, count: number) =>
  async (): Promise<boolean> =>
    (await queue.inspect()).idle === count

/** Workers listen for wake-ups: until they do they poll more often, then every ten seconds. */
async function waits(areIdle: () => Promise<boolean>): Promise<void> {
  await until(areIdle)
  await new Promise((resolve) => setTimeout(resolve, 700))
  await until(areIdle)
}

// Before an idle worker looks by itself.
const CALLED = { timeout: 9000 }

describe('wake-up', () => {
  test(
    'an idle worker gets a job in < 5 ms p99 with no polling: it sends nothing, and is woken',
    CALLED,
    async () => {
      const place = await setup({ clock: 'real' })
      const { queue, calls } = place
      /** How many calls had been made when each job began. */
      const begun = new Map<string, number>()
      await using _worker = queue.work({ mail: ({ payload }) => void begun.set(payload.to, calls.length) })
      await waits(idle(place, 1))
      let before = calls.length
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(calls.slice(before)).toEqual([])

      for (const to of ['one', 'two', 'three']) {
        before = calls.length
        await queue.enqueue('mail', { to })
        await until(() => begun.has(to))

        // The job came with the call itself, or with the first answer to it.
        const [put, ...asked] = calls.slice(before, begun.get(to))
        expect([put, asked.length <= 1]).toEqual(['queue/enqueue-alike', true])
        await until(idle(place, 1))
        const [, claim, ...others] = calls.slice(before).filter((name) => name !== 'queue/inspect')
        expect(claim).toMatch(/^queue\/ack-and-claim/)
        expect(others.length).toBeLessThanOrEqual(1)
      }
    },
  )

  test('no lost wake-up when two producers add at once', CALLED, async () => {
    const place = await setup({ clock: 'real' })
    const producers = await Promise.all([setup({ clock: 'real' }), setup({ clock: 'real' })])
    const [one, other] = producers.map(({ redis }) => redis.queue(place.name))
    let done = 0
    await using _first = place.queue.work({ mail: () => void done++ }, { concurrency: 1 })
    await using _second = place.queue.work({ mail: () => void done++ }, { concurrency: 1 })

    await waits(idle(place, 2))
    for (let round = 1; round <= 50; round++) {
      if (round % 2 === 0) await until(idle(place, 2))
      await Promise.all([one?.enqueue('mail', { to: 'a' }), other?.enqueue('mail', { to: 'b' })])
      await until(() => done === 2 * round)
    }
  })

  test('no thundering herd with 100 idle workers: one job wakes one of them', async () => {
    const place = await setup({ clock: 'real' })
    const { queue, calls } = place
    let done = 0
    const workers = Array.from({ length: 100 }, () => queue.work({ mail: () => void done++ }))
    await waits(idle(place, 100))
    const before = calls.length

    await queue.enqueue('mail', { to: 'ada' })
    await until(() => done === 1)
    await until(idle(place, 100))

    const claims = calls.slice(before).filter((name) => name.startsWith('queue/ack-and-claim'))
    expect(claims.length).toBeLessThanOrEqual(3)
    await Promise.all(workers.map((worker) => worker.close()))
  })
})

// bullmq#4378, bullmq#648, bull#1873
describe('missing wake key / FLUSHALL / failover: worker recovers within its fallback poll', () => {
  test('missing wake key, FLUSHALL', async () => {
    const [one, other] = await Promise.all([ownServer(), ownServer()])

    await Promise.all([
      recovers(one.redis, async (name) => void (await one.client.del(`perilune:{queue:${name}}:idle`))),
      recovers(other.redis, async () => void (await other.client.flushall())),
    ])
  })

  test('failover', { timeout: 60_000 }, async () => {
    const group = await startSentinels()
    onTestFinished(() => group.stop())
    const sentinels = group.sentinelPorts.map((port) => ({ host: '127.0.0.1', port }))
    const { redis } = connect(new Redis({ sentinels, name: group.masterName }))

    await recovers(redis, () => group.failover())
  })
})

async function ownServer(): Promise<{ client: Redis; redis: Perilune }> {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  return connect(new Redis(server.port))
}

function connect(client: Redis): { client: Redis; redis: Perilune } {
  client.on('error', () => undefined)
  const redis = perilune(ioredis(client), { deadline: '15s' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { client, redis }
}

/** A worker that waits does the jobs that come after a trouble. */
async function recovers(redis: Perilune, trouble: (name: string) => Promise<void>): Promise<void> {
  const queue = redis.queue<{ mail: { to: string } }>(randomUUID())
  const done: string[] = []
  await using _worker = queue.work({ mail: ({ payload }) => void done.push(payload.to) })
  await waits(idle({ queue }, 1))

  await trouble(queue.name)
  await queue.enqueue('mail', { to: 'after it' })

  await until(() => done.length === 1)
}

// bullmq#1658, bullmq#2151
test('delayed job due while all workers idle and blocked: runs on time', async () => {
  const place = await setup({ clock: 'real' })
  const { queue, calls, client } = place
  const begun: { atMs: number; dueMs: number }[] = []
  const serverNow = async (): Promise<number> => {
    const [seconds, micros] = await client.time()
    return Number(seconds) * 1000 + Number(micros) / 1000
  }
  const handlers = {
    mail: async ({ payload, enqueuedAtMs }: { payload: { to: string }; enqueuedAtMs: number }) => {
      begun.push({ atMs: await serverNow(), dueMs: enqueuedAtMs + Number(payload.to) })
    },
  }
  await using _one = queue.work(handlers)
  await using _other = queue.work(handlers)
  await waits(idle(place, 2))
  const before = calls.length

  for (const delay of [300, 100, 200])
    await queue.enqueue('mail', { to: `${delay}` }, { delay: `${delay}ms` })
  await until(() => begun.length === 3)

  expect(begun.filter(({ atMs, dueMs }) => atMs < dueMs)).toEqual([])
  // No worker polled repeatedly: one worker watches for each job, and comes back when it is due.
  const claims = calls.slice(before).filter((name) => name.startsWith('queue/ack-and-claim'))
  expect(claims.length).toBeLessThanOrEqual(12)
})

test('delayed job due while a worker is idle: the worker plans its return for the due time, and gets the job', async () => {
  const place = await setup()
  const { queue, clock, calls } = place
  let begun = 0
  await using _worker = queue.work({ mail: () => void begun++ })
  await waits(idle(place, 1))
  const timers = vi.spyOn(globalThis, 'setTimeout')
  onTestFinished(() => void vi.restoreAllMocks())
  const planned = (ms: number) => timers.mock.calls.findLast(([, after]) => after === ms)

  // The later one first: the sooner one takes its place.
  await queue.enqueue('mail', { to: 'later' }, { delay: '9s' })
  await until(() => planned(9000) !== undefined)
  await queue.enqueue('mail', { to: 'sooner' }, { delay: '8s' })
  await until(() => planned(8000) !== undefined)
  await until(idle(place, 1))
  expect(begun).toBe(0)

  await clock.advance(8000)
  const before = calls.length
  const [comeBack] = planned(8000) ?? []
  ;(comeBack as () => void)()
  await until(() => begun === 1)

  const claims = calls.slice(before).filter((name) => name.startsWith('queue/ack-and-claim'))
  expect(claims.length).toBeLessThanOrEqual(3)
  await until(() => planned(1000) !== undefined)
})
