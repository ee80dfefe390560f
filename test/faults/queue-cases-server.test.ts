// Cases about the server that no test of qless covers: large backlogs, changed clocks, a cluster, lost scripts, and no
// memory left.

import { randomUUID } from 'node:crypto'
import { Cluster, Redis } from 'ioredis'
import { type Driver, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import type { ScriptCall } from '../../src/driver.ts'
import { slotOf } from '../../src/drivers/wire/slot.ts'
import { START_US } from '../../src/testing/test-clock.ts'
import { LONG } from '../proof.ts'
import { setup, until } from '../queue-fixture.ts'
import { startRedis } from '../servers/redis.ts'
import { METER, type Metered, metering, parseMetered } from './metered-driver.ts'

const BACKLOG = LONG ? 1_000_000 : 100_000
const DAY = 24 * 3_600_000
const mail = { name: 'mail', payload: { to: 'ada' } } as const

function connect(client: Redis | Cluster, wrap = (driver: Driver): Driver => driver): Perilune {
  client.on('error', () => undefined)
  const redis = perilune(wrap(ioredis(client)), { deadline: '60s' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return redis
}

async function ownServer(): Promise<Redis> {
  const server = await startRedis({ args: ['--maxmemory-policy', 'noeviction'] })
  onTestFinished(() => server.stop())
  return new Redis(server.port)
}

/** The driver, which shows each call before it sends it. */
function watched(driver: Driver, see: (call: ScriptCall) => void): Driver {
  const run: Driver['run'] = (call) => {
    see(call)
    return driver.run(call)
  }
  return Object.assign(Object.create(driver) as Driver, {
    run,
    info: () => driver.info(),
    close: () => driver.close(),
    subscribe: (...args: Parameters<Driver['subscribe']>) => driver.subscribe(...args),
  })
}

/** The work of the scripts of some calls. */
/** Not of bytes: numbers that rise have more digits at times. */
async function metered(client: Redis, call: () => Promise<unknown>): Promise<Omit<Metered, 'bytes'>[]> {
  await client.del(METER)
  await call()
  const calls = (await client.lrange(METER, 0, -1)).map(parseMetered)
  return calls.map(({ script, commands, elements }) => ({ script, commands, elements }))
}

async function put(redis: Perilune, name: string, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1000) {
    await redis.queue(name).enqueueMany(Array.from({ length: Math.min(left, 1000) }, () => mail))
  }
}

// bull#1303, bull#1899, bullmq#2893
test('10^6 backlog: fetch/complete latency same as empty queue; retention never blocks > 5 ms', async () => {
  const client = await ownServer()
  const redis = connect(client, metering)

  const work = async (waiting: number): Promise<Omit<Metered, 'bytes'>[]> => {
    const name = randomUUID()
    await put(redis, name, waiting)
    // A new process: some of the numbered calls of one also drop records of old calls.
    const queue = connect(client, metering).queue(name)
    return metered(client, async () => {
      const [job] = await queue.claim()
      const [next] = await queue.claim({ acks: job === undefined ? [] : [job] })
      await next?.ack()
    })
  }
  expect(await work(BACKLOG)).toEqual(await work(10))

  /** The work of the ack that may drop the most of them. */
  const drop = async (kept: number): Promise<Pick<Metered, 'commands' | 'elements'>> => {
    const queue = redis.queue(randomUUID())
    await queue.settings.set({ retention: { count: kept } })
    await put(redis, queue.name, kept)
    let acks = await queue.claim({ limit: 200 })
    while (acks.length > 0) acks = await queue.claim({ limit: 200, acks })
    expect((await queue.inspect()).done).toBe(kept)
    await queue.settings.set({ retention: { count: 1 } })
    await queue.enqueue('mail', { to: 'ada' })
    const [job] = await queue.claim()
    const done = await metered(client, async () => job?.ack())
    const { done: left } = await queue.inspect()
    expect(left, 'some are dropped, and others left for later').toBeGreaterThan(kept / 2)
    expect(left).toBeLessThan(kept)
    return {
      commands: Math.max(...done.map(({ commands }) => commands)),
      elements: Math.max(...done.map(({ elements }) => elements)),
    }
  }
  const [many, few] = [await drop(10_000), await drop(1000)]
  // When notes are folded at that time, it is a few more.
  expect(many.commands).toBeLessThan(1.1 * few.commands)
  expect(many.elements).toBeLessThan(1.1 * few.elements)
})

// bullmq#422, bull#2764
test('very many jobs of one enqueue are all there, once and in their order', async () => {
  const { queue } = await setup({ clock: 'real', deadline: '60s' })
  const count = LONG ? 20_000 : 3000
  const enqueued = await queue.enqueueMany(
    Array.from({ length: count }, (_, at) => ({ name: 'mail', payload: { to: `${at}` } })),
  )
  expect(new Set(enqueued.map(({ id }) => id)).size).toBe(count)

  const places = new Map(enqueued.map(({ id }, at) => [id, `${at}`]))
  const begun: string[] = []
  for (let acks = await queue.claim({ limit: 200 }); acks.length > 0; ) {
    for (const { id, payload } of acks) {
      const { to } = payload as { to: string }
      begun.push(places.get(id) === to ? to : 'another')
    }
    acks = await queue.claim({ limit: 200, acks })
  }

  expect(begun).toEqual(Array.from({ length: count }, (_, at) => `${at}`))
  expect(await queue.inspect()).toMatchObject({ enqueued: count, acked: count, ready: 0 })
})

// bullmq#422: no worker ran for ten days
test.each([
  ['skip', [14_400]],
  ['one', [14_400]],
  [{ upTo: 3 }, [14_398, 14_399, 14_400]],
] as const)('a recurring job without a worker for ten days makes up for %j', async (missed, minutes) => {
  const { queue, clock } = await setup()
  await queue.recurring.set('minutely', { ...mail, every: '1m', missed })
  await clock.advance(10 * DAY)

  const jobs = await queue.claim({ limit: 100 })
  const runs = jobs.map(({ id }) => (Number(id.split('@')[1]) - START_US / 1000) / 60_000)
  expect(runs).toEqual(minutes)
  expect(await queue.claim({ limit: 100, acks: jobs })).toEqual([])

  await clock.advance(60_000)
  expect(await queue.claim({ limit: 100 })).toHaveLength(1)
})

test('DST: daily cron in a zone across both switches runs once per day', async () => {
  const timeZone = 'Europe/Berlin'
  for (const [switches, expected] of [
    ['2027-03-28', '03:00'],
    ['2027-10-31', '02:30'],
  ] as const) {
    const { queue, clock } = await setup()
    const began = Date.parse(switches) - 2 * DAY
    await clock.advance(began - START_US / 1000)
    await queue.recurring.set('daily', { ...mail, cron: '30 2 * * *', timeZone, missed: { upTo: 10 } })
    const times: string[] = []
    for (let hour = 0; hour < 24 * 5; hour++) {
      await clock.advance(DAY / 24)
      for (const job of await queue.claim({ limit: 10 })) {
        times.push(new Date(Number(job.id.split('@')[1])).toLocaleString('sv', { timeZone }).slice(0, 16))
        await job.ack()
      }
    }

    const days = [0, 1, 2, 3, 4].map((at) => new Date(began + at * DAY).toISOString().slice(0, 10))
    expect(times).toEqual(days.map((day) => `${day} ${day === switches ? expected : '02:30'}`))
  }
})

// bullmq#906, bullmq#2589, bull#1499
test('Cluster: every script touches one slot; queue names with braces', async () => {
  const cluster = new Cluster(inject('clusterPorts').map((port) => ({ host: '127.0.0.1', port })))
  const slots = new Map<string, number>()
  const lain = new Set<number>()
  const redis = connect(cluster, (driver) =>
    watched(driver, ({ script, keys }) => {
      const count = new Set(keys.map(slotOf)).size
      lain.add(slotOf(keys[0] ?? ''))
      slots.set(script.name, Math.max(count, slots.get(script.name) ?? 0))
    }),
  )

  const names = ['{a}', 'a{b}c', '}{', '{}', '{{a}}', 'a}', '{']
  for (const braces of names) {
    const queue = redis.queue(`${braces} of queue-cases`)
    await queue.recurring.set('tick', { ...mail, every: '365d' })
    await queue.settings.setGroup('g', { concurrency: 1 })
    await queue.enqueue('mail', { to: 'a' }, { id: 'a', group: 'g', priority: 1, tags: ['t'] })
    await queue.enqueue('mail', { to: 'b' }, { id: 'b', dependsOn: ['a'], unique: 'b' })
    const [a] = await queue.claim({ limit: 5, wait: '1s' })
    await a?.extend('1m')
    await a?.ackAndEnqueue({ queue: `${queue.name} next`, ...mail })
    const [b] = await queue.claim()
    expect([a?.id, b?.id]).toEqual(['a', 'b'])
    await b?.retry({ delay: '1h' })
    await queue.jobs.requeue(['b'])
    await (await queue.claim())[0]?.fail()
    expect(await queue.dead.requeue('failed')).toBe(1)
    expect(await queue.jobs.cancel(['b'])).toEqual(['cancelled'])
    await until(async () => (await redis.queue(`${queue.name} next`).inspect()).ready === 1)
    expect(await redis.queue(`${queue.name} next`).clear()).toBe(true)
    expect(await queue.clear()).toBe(true)
  }
  expect(lain.size, 'each name has a slot of its own').toBe(2 * names.length)

  expect(slots.size).toBeGreaterThan(15)
  expect([...slots].filter(([, count]) => count !== 1)).toEqual([])
})

// rate-limit-redis#71, upstash/ratelimit-js#122
test('script flush (NOSCRIPT) in the middle of a pipeline', async () => {
  const client = await ownServer()
  let [sent, unknown] = [0, 0]
  const redis = connect(client, (driver) =>
    watched(driver, ({ send }) => {
      if (send === 'source') unknown += 1
      // After the commands sent before, and before those sent now, on one connection.
      if (sent++ % 5 === 2) void client.script('FLUSH')
    }),
  )
  const queues = Array.from({ length: 20 }, () => redis.queue(randomUUID()))

  for (let round = 1; round <= 5; round++) {
    await Promise.all(
      queues.map((queue) => queue.enqueue('mail', { to: `${round}` }, { priority: round % 2 })),
    )
    const claims = await Promise.all(queues.map((queue) => queue.claim({ limit: 10 })))
    expect(claims.map((jobs) => jobs.map(({ payload }) => payload))).toEqual(
      queues.map(() => [{ to: `${round}` }]),
    )
    await Promise.all(claims.flat().map((job) => job.ack()))
  }

  expect(unknown).toBeGreaterThan(10)
  const ended = await Promise.all(queues.map((queue) => queue.inspect()))
  expect(ended.filter(({ enqueued, acked }) => enqueued !== 5 || acked !== 5)).toEqual([])
})

test('maxmemory reached: enqueue refused cleanly, complete still works', async () => {
  const client = await ownServer()
  const redis = connect(client)
  const queue = redis.queue(randomUUID())
  await put(redis, queue.name, 4)
  const [a, b, c] = await queue.claim({ limit: 3 })
  await client.config('SET', 'maxmemory', '1')

  await expect(queue.enqueue('mail', { to: 'ada' })).rejects.toMatchObject({ code: 'store-full' })
  await a?.extend('1m')
  await a?.ack('done')
  expect(await b?.retry({ delay: '1h' })).toBe('retried')
  await c?.fail()
  await (await queue.claim())[0]?.ack()

  await client.config('SET', 'maxmemory', '0')
  expect(await queue.inspect()).toMatchObject({ enqueued: 4, acked: 2, scheduled: 1, dead: 1, ready: 0 })
  expect(await queue.enqueue('mail', { to: 'ada' })).toMatchObject({ duplicate: false })
})
