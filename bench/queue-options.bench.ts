// Question: how long does the server work on one call, where a thousand jobs with options are enqueued, and cancelled?
// Expectation: less than 10 ms, whatever the options are, for no call carries more work than that.

import { Redis } from 'ioredis'
import type { Queue } from 'perilune'
import type { Bench } from './harness/bench.ts'
import { builtLibrary } from './harness/built.ts'
import type { Row } from './harness/print.ts'
import { median } from './harness/statistics.ts'
import { KINDS, type Kind } from './queue/kinds.ts'

const ROUNDS = 9
const QUICK_ROUNDS = 2
const JOBS = 1000
const DEPENDENCIES = 100
const MOST_MS = 10

export async function run(bench: Bench): Promise<void> {
  const client = new Redis(bench.port)
  const { perilune, ioredis } = await builtLibrary()
  const redis = perilune(ioredis(client), { namespace: 'options', deadline: '60s' })
  const rows: (Row & { slowestMs: number })[] = []
  try {
    // Commands that scripts run are noted as well, where they take so long.
    await client.config('SET', 'slowlog-log-slower-than', '200')
    for (const [variant, kind] of Object.entries(KINDS)) {
      const rounds = bench.quick ? QUICK_ROUNDS : ROUNDS
      rows.push({ variant, ...(await measure(client, redis.queue(variant), kind, rounds)) })
    }
  } finally {
    await redis.close()
    client.disconnect()
  }
  bench.report(`enqueueMany and cancel of ${JOBS}: script calls, and the slowest`, rows)
  for (const { variant, slowestMs } of rows) {
    bench.judge(
      `${JOBS} jobs with ${variant}: slowest call, ms`,
      { Perilune: slowestMs },
      { atMost: MOST_MS },
    )
  }
}

interface Measured {
  readonly enqueueCalls: number
  readonly cancelCalls: number
  /** Of each round the slowest, of these the median. */
  readonly slowestMs: number
  readonly slowestCancelMs: number
}

async function measure(client: Redis, queue: Queue, kind: Kind, rounds: number): Promise<Measured> {
  const named = (at: number) => ({ name: 'dependency', payload: at, id: `dependency ${at}` })
  const dependencies = await queue.enqueueMany(Array.from({ length: DEPENDENCIES }, (_, at) => named(at)))
  const ids = dependencies.map(({ id }) => id)
  const adds: Round[] = []
  const cancels: Round[] = []
  for (let round = 0; round < rounds; round++) {
    const jobs = Array.from({ length: JOBS }, (_, at) => ({ name: 'job', payload: at, ...kind(at, ids) }))
    let added: string[] = []
    adds.push(await watch(client, async () => (added = (await queue.enqueueMany(jobs)).map(({ id }) => id))))
    cancels.push(await watch(client, () => queue.jobs.cancel(added)))
  }
  return {
    enqueueCalls: median(adds.map(({ calls }) => calls)),
    cancelCalls: median(cancels.map(({ calls }) => calls)),
    slowestMs: median(adds.map(({ slowestMs }) => slowestMs)),
    slowestCancelMs: median(cancels.map(({ slowestMs }) => slowestMs)),
  }
}

interface Round {
  readonly calls: number
  readonly slowestMs: number
}

async function watch(client: Redis, work: () => Promise<unknown>): Promise<Round> {
  await client.call('SLOWLOG', 'RESET')
  const before = await scriptCalls(client)
  await work()
  const calls = (await scriptCalls(client)) - before
  const entries = (await client.call('SLOWLOG', 'GET', '128')) as [number, number, number][]
  return { calls, slowestMs: Math.max(0, ...entries.map(([, , us]) => us)) / 1000 }
}

async function scriptCalls(client: Redis): Promise<number> {
  const found = /cmdstat_evalsha:calls=(\d+)/.exec(await client.info('commandstats'))
  return Number(found?.[1] ?? 0)
}
