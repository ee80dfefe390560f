// The bytes that one call reads and writes are bounded, for all data stored of jobs besides their payloads: their own
// results, progress and logs, results of their dependencies, payloads of recurring jobs. It reads nothing that it
// cannot use.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { perilune, type Queue } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import contract from '../../lua/contract.json' with { type: 'json' }
import { setTestClock, withTestClock } from '../../src/testing/test-clock.ts'
import { tell } from '../proof.ts'
import { ask } from '../servers/ask.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { METER, metering, parseMetered } from './metered-driver.ts'

const MIB = 2 ** 20
const JOBS = 30
/** 4 MiB and one element, which are read, written where they go elsewhere, and read there. */
const MOST_READ = 6 * MIB
const MOST_MOVED = 3 * MOST_READ

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
})

afterAll(() => server.stop())

async function prepared(fromMs?: number) {
  await ask(server.port, 'FLUSHALL')
  const client = new Redis(server.port)
  let counts = false
  const plain = ioredis(client)
  const setClock = (ms: number): Promise<void> => setTestClock(plain, 'bytes:{queue:q}', ms * 1000)
  if (fromMs !== undefined) await setClock(fromMs)
  const driver = fromMs === undefined ? plain : withTestClock(plain, contract.clock)
  const redis = perilune(
    metering(driver, () => counts),
    { namespace: 'bytes', deadline: '60s' },
  )
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  /** The most bytes that one call of a script took meanwhile, by scripts. */
  const weigh = async (action: () => Promise<void>): Promise<number> => {
    counts = true
    await action()
    counts = false
    const calls = (await client.lrange(METER, 0, -1)).map(parseMetered)
    const most = calls.reduce((before, call) => (call.bytes > before.bytes ? call : before))
    tell(`${most.script} took ${(most.bytes / MIB).toFixed(1)} MiB`)
    return most.bytes
  }
  return { redis, queue: redis.queue('q'), weigh, setClock }
}

/** Jobs with large results, done and kept. */
async function done(queue: Queue): Promise<string[]> {
  await queue.settings.set({ retention: { count: 1000 } })
  return doAll(queue, await enqueued(queue))
}

async function enqueued(queue: Queue): Promise<string[]> {
  const jobs = Array.from({ length: JOBS }, (_, at) => ({ name: 'dependency', payload: at }))
  return (await queue.enqueueMany(jobs)).map(({ id }) => id)
}

async function doAll(queue: Queue, ids: string[]): Promise<string[]> {
  const jobs = await queue.claim({ limit: ids.length })
  await Promise.all(jobs.map((job, at) => job.ack(resultOf(at))))
  return ids
}

function resultOf(at: number): string {
  return `${at}`.padEnd(MIB, '.')
}

function resultsOf(results: readonly { result: unknown }[]): unknown[] {
  return results.map(({ result }) => (result as string | null)?.replace(/\.+$/, ''))
}

const ALL = Array.from({ length: JOBS }, (_, at) => `${at}`)

/** Claims until there is a job of this name. */
async function claimed(queue: Queue, name: string) {
  for (;;) {
    const [job] = await queue.claim({ limit: 1 })
    if (job?.name === name) return job
    await sleep(10)
  }
}

test('the dependencies of a job are read in several calls when their results are large', async () => {
  const { queue, weigh } = await prepared()
  const ids = await enqueued(queue)
  const { id } = await queue.enqueue('dependent', 0, { dependsOn: ids })
  await doAll(queue, ids)

  let results: unknown[] = []
  const bytes = await weigh(async () => {
    results = resultsOf(await queue.jobs.dependencies(id))
  })

  expect(results).toEqual(ALL)
  expect(bytes).toBeLessThan(MOST_READ)
})

test('jobs that wait for done jobs copy no more of their results than a call may', async () => {
  const { queue, weigh } = await prepared()
  const ids = await done(queue)

  const bytes = await weigh(async () => {
    const { id } = await queue.enqueue('dependent', 0, { dependsOn: ids })
    const { id: other } = await queue.enqueue('other', 0)
    const { id: grandchild } = await queue.enqueue('grandchild', 0, { dependsOn: [other] })
    await queue.jobs.addDependencies(grandchild, ids)
    expect(resultsOf(await (await claimed(queue, 'dependent')).dependencies())).toEqual(ALL)
    expect(resultsOf(await queue.jobs.dependencies(id))).toEqual(ALL)
    expect(resultsOf(await queue.jobs.dependencies(grandchild)).slice(1)).toEqual(ALL)
  })

  expect(bytes).toBeLessThan(MOST_MOVED)
})

test.each([
  ['are dropped', (queue: Queue) => dropKept(queue)],
  ['are cancelled', async (queue: Queue, ids: string[]) => void (await queue.jobs.cancel(ids))],
  ['begin again', async (queue: Queue, ids: string[]) => void (await queue.jobs.requeue(ids))],
])('a job has the results of large dependencies even when these %s', async (_, end) => {
  const { queue, weigh } = await prepared()
  const ids = await done(queue)
  const { id } = await queue.enqueue('dependent', 0, { dependsOn: ids, priority: 1 })
  const job = await claimed(queue, 'dependent')

  const bytes = await weigh(() => end(queue, ids))

  expect(resultsOf(await queue.jobs.dependencies(id))).toEqual(ALL)
  expect(bytes).toBeLessThan(MOST_MOVED)
  await job.ack()
})

async function dropKept(queue: Queue): Promise<void> {
  await queue.settings.set({ retention: { count: 1 } })
  do {
    await queue.enqueue('other', 0)
    await (await claimed(queue, 'other')).ack()
  } while ((await queue.inspect()).done > 1)
}

test('notifications of large dependencies go to another queue in several calls', async () => {
  const { redis, queue, weigh } = await prepared()
  const ids = await done(queue)
  const other = redis.queue('other')

  const bytes = await weigh(async () => {
    await other.enqueue('dependent', 0, { dependsOn: ids.map((id) => ({ queue: 'q', id })) })
    expect(resultsOf(await (await claimed(other, 'dependent')).dependencies())).toEqual(ALL)
  })

  expect(bytes).toBeLessThan(MOST_MOVED)
})

test('a search reads fewer jobs when their results are large', async () => {
  const { queue, weigh } = await prepared()
  const ids = await done(queue)
  const found = new Set<string>()

  const bytes = await weigh(async () => {
    for (let after: string | null = '0'; after !== null; ) {
      const page = await queue.jobs.search({ limit: 1000, after })
      for (const { id } of page.jobs) found.add(id)
      after = page.next
    }
  })

  expect([...found].toSorted()).toEqual(ids.toSorted())
  // Also of those that it does not look for the server reads all that is stored, and it reads some at once.
  expect(bytes).toBeLessThan(4 * MOST_READ)
})

test('a search for jobs takes several calls when their logs are long', async () => {
  const { queue, weigh } = await prepared()
  const jobs = Array.from({ length: 150 }, (_, at) => ({ name: 'j', payload: at }))
  const ids = (await queue.enqueueMany(jobs)).map(({ id }) => id)
  const lines = ids.flatMap((id) => Array.from({ length: 100 }, () => queue.jobs.log(id, 'l'.repeat(1024))))
  await Promise.all(lines)

  const bytes = await weigh(async () => {
    const found = await queue.jobs.getMany(ids)
    expect(found.map(({ log }) => log.length)).toEqual(ids.map(() => 100))
  })

  expect(bytes).toBeLessThan(MOST_READ)
})

test('recurring jobs are listed in pages that end after large payloads', async () => {
  const { queue, weigh } = await prepared()
  for (let at = 0; at < JOBS; at += 1) {
    await queue.recurring.set(`r${at}`, { name: 'j', payload: resultOf(at), cron: '0 0 * * *' })
  }
  const found: string[] = []

  const bytes = await weigh(async () => {
    for (let after: string | null = '0'; after !== null; ) {
      const page = await queue.recurring.list({ limit: 1000, after })
      found.push(...page.recurring.map(({ id }) => id))
      after = page.next
    }
  })

  expect(found.toSorted()).toEqual(ALL.map((at) => `r${at}`).toSorted())
  expect(bytes).toBeLessThan(MOST_READ)
})

test('recurring jobs with large payloads advance in steps after the clock has stepped back', async () => {
  const DAY = 86_400_000
  const { queue, weigh, setClock } = await prepared(400 * DAY)
  for (let at = 0; at < JOBS; at += 1) {
    await queue.recurring.set(`r${at}`, { name: 'j', payload: resultOf(at), every: '1h' })
  }
  await queue.enqueue('j', 0)
  await setClock(300 * DAY)

  const bytes = await weigh(async () => {
    for (let at = 0; at < JOBS; at += 1) {
      await queue.claim({ limit: 1 })
      await setClock(300 * DAY + 1001 * (at + 1))
    }
  })

  const next: (number | null)[] = []
  for (let at = 0; at < JOBS; at += 1) next.push((await queue.recurring.get(`r${at}`))?.nextAtMs ?? null)
  expect(new Set(next)).toEqual(new Set([300 * DAY + 3_600_000]))
  expect(bytes).toBeLessThan(MOST_READ)
})

test('jobs that each fill their record are given a priority in several calls', async () => {
  const { queue, weigh } = await prepared()
  const payload = 'x'.repeat(16_000)
  const ids: string[] = []
  for (let at = 0; at < 4; at += 1) {
    const jobs = Array.from({ length: 250 }, () => ({ name: 'j', payload }))
    ids.push(...(await queue.enqueueMany(jobs)).map(({ id }) => id))
  }

  const bytes = await weigh(async () => {
    expect(await queue.jobs.reprioritize(ids, 3)).toEqual(ids.map(() => 'changed'))
  })

  expect((await queue.jobs.get(ids[999] as string))?.priority).toBe(3)
  expect(bytes).toBeLessThan(MOST_MOVED)
})

test.each([
  ['a number', { retention: { count: 100 } }],
  ['bytes', { retention: { bytes: 1_000_000 } }],
  ['an age', { retention: { age: '1ms' } }],
] as const)(
  'an append reads no messages that a subscriber protects from retention by %s',
  async (_, options) => {
    const { redis, weigh } = await prepared()
    const feed = redis.feed('f', options)
    await feed.append(0)
    await feed.subscriber('s', { protect: true }).cursor()
    const bodies = Array.from({ length: 300 }, () => ({ body: 'x'.repeat(12_000) }))
    await feed.appendMany(bodies)
    await sleep(5)

    const bytes = await weigh(async () => {
      for (let at = 0; at < 10; at += 1) await feed.append(at)
    })

    expect((await feed.inspect()).total).toBe(311)
    expect(bytes).toBeLessThan(65_536)
  },
)
