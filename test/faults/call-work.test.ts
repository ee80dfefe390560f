// The work of one call is bounded for any jobs: each call on many jobs executes no more than a few thousand commands,
// and the library sends the rest in the next one.

import { Redis } from 'ioredis'
import { type NewJob, type Perilune, perilune, type Queue } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { KINDS } from '../../bench/queue/kinds.ts'
import { tell } from '../proof.ts'
import { ask } from '../servers/ask.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { METER, type Metered, metering, parseMetered } from './metered-driver.ts'

// A command takes a microsecond or two, and an element half of one.
const MOST_COMMANDS = 6000
const MOST_ELEMENTS = 30_000
const JOBS = 1000

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
})

afterAll(() => server.stop())

test.each(Object.entries(KINDS))(
  'a thousand jobs with %s are enqueued, reprioritized, made ready and cancelled by bounded calls',
  { timeout: 120_000 },
  async (name, kind) => {
    const { redis, calls } = await metered()
    const queue = redis.queue('work')
    const dependencies = await queue.enqueueMany(
      Array.from({ length: 100 }, (_, at) => ({ name: 'dependency', payload: at, id: `dependency ${at}` })),
    )
    const ids = dependencies.map(({ id }) => id)
    const jobs = Array.from({ length: JOBS }, (_, at) => ({ name: 'job', payload: at, ...kind(at, ids) }))

    const enqueued = (await queue.enqueueMany(jobs)).map(({ id }) => id)
    expect(new Set(enqueued).size).toBe(JOBS)
    expect(new Set(await queue.jobs.reprioritize(enqueued, 7))).toEqual(new Set(['changed']))
    const half = enqueued.slice(JOBS / 2)
    expect(new Set(await queue.jobs.requeue(half)).size).toBe(1)
    expect(await queue.jobs.cancel(enqueued)).toEqual(enqueued.map(() => 'cancelled'))

    for (const script of ['queue/enqueue', 'queue/reprioritize', 'queue/requeue', 'queue/cancel']) {
      const those = (await calls()).filter((each) => each.script === script)
      const [commands, elements] = [most(those, 'commands'), most(those, 'elements')]
      tell(`${name}: ${those.length} calls of ${script}, ${commands} commands, ${elements} elements at most`)
      expect(commands, `commands of ${script}`).toBeLessThanOrEqual(MOST_COMMANDS)
      expect(elements, `elements of ${script}`).toBeLessThanOrEqual(MOST_ELEMENTS)
    }
  },
)

test.each(Object.entries(KINDS))(
  'jobs with %s that arrive from another queue are accepted in bounded calls',
  { timeout: 120_000 },
  async (name, kind) => {
    const { redis, calls } = await metered()
    const [queue, other] = [redis.queue('work'), redis.queue('other')]
    const dependencies = await other.enqueueMany(
      Array.from({ length: 100 }, (_, at) => ({ name: 'dependency', payload: at, id: `dependency ${at}` })),
    )
    const ids = dependencies.map(({ id }) => id)
    await queue.enqueueMany(Array.from({ length: 200 }, (_, at) => ({ name: 'job', payload: at })))
    const jobs = await queue.claim({ limit: 200 })

    await Promise.all(
      jobs.map((job, at) =>
        job.ackAndEnqueue({ queue: 'other', name: 'next', payload: at, ...kind(at, ids) }),
      ),
    )
    while ((await queue.inspect()).outbox > 0) await new Promise((resolve) => setTimeout(resolve, 5))

    const { enqueued } = await other.inspect()
    expect(enqueued).toBe(300)
    const those = (await calls()).filter((each) => each.script === 'queue/receive')
    const [commands, elements] = [most(those, 'commands'), most(those, 'elements')]
    tell(
      `${name}: ${those.length} calls of queue/receive, ${commands} commands, ${elements} elements at most`,
    )
    expect(commands, 'commands').toBeLessThanOrEqual(MOST_COMMANDS)
    expect(elements, 'elements').toBeLessThanOrEqual(MOST_ELEMENTS)
  },
)

const LARGE = 'x'.repeat(17_000)

type Job = NewJob<{ job: string }>

test.each<[string, Left]>([
  [
    'places in the list of jobs that are cancelled, beside a group',
    {
      before: jobsWith(50),
      cancelled: jobsWith(4000),
      behind: [...jobsWith(50), ...jobsWith(150, () => ({ group: 'g' }))],
    },
  ],
  [
    'groups whose jobs are cancelled, beside large jobs',
    {
      before: [],
      cancelled: jobsWith(3000, (at) => ({ group: `g${at}` })),
      behind: jobsWith(250, () => ({}), LARGE),
    },
  ],
])('a claim passes many %s in bounded calls', { timeout: 120_000 }, async (what, left) => {
  const { redis, calls } = await metered()
  const queue = redis.queue<{ job: string }>('work')
  await leave(queue, left)

  const claimed: string[] = []
  while (claimed.length < 250) claimed.push(...(await queue.claim({ limit: 200 })).map(({ id }) => id))

  expect(new Set(claimed).size).toBe(250)
  expect(await queue.claim({ limit: 200 })).toEqual([])
  const those = (await calls()).filter((each) => each.script === 'queue/ack-and-claim')
  const commands = most(those, 'commands')
  tell(`${what}: ${those.length} calls of queue/ack-and-claim, ${commands} commands at most`)
  expect(commands, 'commands').toBeLessThanOrEqual(MOST_COMMANDS)
})

/** An instance of which each call of a script is counted, on an empty server. */
async function metered(): Promise<{ redis: Perilune; calls: () => Promise<Metered[]> }> {
  await ask(server.port, 'FLUSHALL')
  const client = new Redis(server.port)
  const redis = perilune(metering(ioredis(client)), { namespace: 'work', deadline: '60s' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { redis, calls: async () => (await client.lrange(METER, 0, -1)).map(parseMetered) }
}

interface Left {
  readonly before: Job[]
  readonly cancelled: Job[]
  readonly behind: Job[]
}

function jobsWith(count: number, options: (at: number) => object = () => ({}), payload = ''): Job[] {
  return Array.from({ length: count }, (_, at) => ({ name: 'job', payload, ...options(at) }))
}

async function leave(queue: Queue<{ job: string }>, { before, cancelled, behind }: Left): Promise<void> {
  if (before.length > 0) await queue.enqueueMany(before)
  const ids = (await queue.enqueueMany(cancelled)).map(({ id }) => id)
  await queue.enqueueMany(behind)
  for (let at = 0; at < ids.length; at += 1000) await queue.jobs.cancel(ids.slice(at, at + 1000))
}

function most(calls: readonly Metered[], what: 'commands' | 'elements'): number {
  expect(calls, 'calls of the script').not.toEqual([])
  return Math.max(...calls.map((each) => each[what]))
}
