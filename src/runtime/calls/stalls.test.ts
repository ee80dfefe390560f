// A process that is blocked for longer than a deadline, by work of the user or by the garbage collector.

import { Redis } from 'ioredis'
import { AmbiguousError, type Driver, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { nodeRedis } from 'perilune/node-redis'
import { createClient } from 'redis'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { ConnectionLostError } from '../../driver.ts'

const DEADLINE_MS = 2000

function openIoredis(): Driver {
  const client = new Redis(inject('redisPort'))
  onTestFinished(() => client.disconnect())
  return ioredis(client)
}

async function openNodeRedis(): Promise<Driver> {
  const client = await createClient({ url: `redis://127.0.0.1:${inject('redisPort')}` }).connect()
  onTestFinished(() => client.destroy())
  return nodeRedis(client)
}

function standStill(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

const drivers = [
  ['ioredis', openIoredis],
  ['node-redis', openNodeRedis],
] as const

test.each(drivers)('%s: an answer that arrives during a stall is no outage', async (client, open) => {
  const redis = perilune(await open(), { namespace: 'stalls', deadline: `${DEADLINE_MS}ms` })
  const limit = redis.rateLimit(client, { limit: 1, window: '1h', onOutage: 'fail-open' })
  await limit.clear('ada')
  expect((await limit.take('ada')).allowed).toBe(true)

  const taking = limit.take('ada')
  // Until it is sent: node-redis collects the calls of one turn.
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  standStill(DEADLINE_MS + 500)

  expect((await taking).allowed).toBe(false)
  await redis.close()
})

test.each(drivers)('%s: a call that was not sent before a stall is no outage', async (client, open) => {
  const redis = perilune(await open(), { namespace: 'stalls', deadline: `${DEADLINE_MS}ms` })
  const limit = redis.rateLimit(`${client} unsent`, { limit: 1, window: '1h', onOutage: 'fail-open' })
  for (const subject of ['ada', 'bob']) {
    await limit.clear(subject)
    await limit.take(subject)
  }

  const taking = ['ada', 'bob'].map((subject) => limit.take(subject))
  standStill(DEADLINE_MS + 500)

  expect((await Promise.all(taking)).map(({ allowed }) => allowed)).toEqual([false, false])
  await redis.close()
})

test.each(drivers)('%s: a large answer that has partly arrived is no outage', async (client, open) => {
  const redis = perilune(await open(), { namespace: 'stalls', deadline: `${DEADLINE_MS}ms` })
  const feed = redis.feed(client)
  await feed.clear()
  for (let at = 0; at < 7; at += 1) await feed.append('x'.repeat(500_000))
  await feed.read()

  const reading = feed.read()
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  standStill(DEADLINE_MS + 500)

  expect((await reading).messages).toHaveLength(7)
  await redis.close()
})

test.each(drivers)(
  '%s: a call of several steps is no outage when the process stalls during its first step',
  async (client, open) => {
    const driver = await open()
    const well = perilune(driver, { namespace: 'stalls' })
    const { id } = await well.queue(client).enqueue('mail', {})
    const redis = perilune(driver, { namespace: 'stalls', deadline: `${DEADLINE_MS}ms` })

    const claiming = redis.queue(client).claim()
    standStill(DEADLINE_MS + 500)

    expect((await claiming).map((job) => job.id)).toEqual([id])
    await redis.close()
    await well.queue(client).clear()
    await well.close()
  },
)

// The server forgets calls after ten minutes.
test('a call whose answer was lost is not repeated after a stall of ten minutes', async () => {
  const driver = openIoredis()
  const redis = perilune(driver, { namespace: 'stalls' })
  const queue = redis.queue('stalled')
  await queue.clear()
  const run = driver.run.bind(driver)
  let calls = 0
  driver.run = async (call) => {
    if (!call.script.name.startsWith('queue/enqueue')) return run(call)
    const reply = await run(call)
    calls += 1
    if (calls > 1) return reply
    const monotonic = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => monotonic() + 600_000)
    throw new ConnectionLostError('the connection was lost', true)
  }
  onTestFinished(() => void vi.restoreAllMocks())

  await expect(queue.enqueue('job', 1)).rejects.toBeInstanceOf(AmbiguousError)

  expect(calls).toBe(1)
})
