// The cost of a job beside many others: a million that wait, ten thousand that are active. Each contender has
// its turn once, alone.

import { Redis } from 'ioredis'
import { usedBytes } from '../feed-layout/memory.ts'
import type { Bench } from '../harness/bench.ts'
import type { Row } from '../harness/print.ts'
import { bullmq } from './bullmq.ts'
import type { Source } from './contender.ts'
import { CROWDED } from './contenders.ts'
import { floor } from './floor.ts'
import { fill, toJob } from './jobs.ts'
import { judgeTimes } from './judges.ts'
import { offers, type With, withStands } from './stands.ts'
import { takeTurns, toColumns } from './turns.ts'
import { CROWD, working } from './workers.ts'

const WAITING = [1000, 1_000_000]
const QUICK_WAITING = [100, 10_000]
/** Of those that have no call for many, a tenth. */
const WITHOUT_BULK = 10
/** Among fewer jobs what the server does beside them shows in the memory of one. */
const ENOUGH = 10_000
const ACTIVE = 10_000
const QUICK_ACTIVE = 1000
const JOBS = 10_000
const ROUNDS = 3

/** The memory of a waiting job, and what working costs on top of many. */
export async function compareWaiting(bench: Bench): Promise<void> {
  const rows: Row[] = []
  const memory = new Map<string, number>()
  for (const contender of CROWDED) {
    for (const waiting of bench.quick ? QUICK_WAITING : WAITING) {
      await withStands(
        bench,
        async ({ sources }) => {
          const source = sources.get(contender.name)
          if (source === undefined) return
          const row = await measureWaiting(bench, contender.name, source, waiting)
          rows.push(row)
          memory.set(contender.name, Number(row['bytesPerJob']))
        },
        [contender],
      )
    }
  }
  bench.report(`beside jobs that wait: memory of one, worker of ${CROWD}`, rows)
  judgeTimes(bench, 'memory of a waiting job against BullMQ', memory, bullmq.name, (bytes) => bytes, {
    atMost: 0.5,
  })
}

async function measureWaiting(bench: Bench, variant: string, source: Source, most: number): Promise<Row> {
  const waiting = source.addBulk === undefined && most > JOBS ? most / WITHOUT_BULK : most
  const client = new Redis(bench.port)
  await warmUp(source, client)
  const before = await usedBytes(client)
  await fill(source, waiting)
  const bytes = (await usedBytes(client)) - before
  client.disconnect()
  const bytesPerJob = waiting < ENOUGH ? Number.NaN : bytes / waiting
  return { variant, waiting, bytesPerJob, ...(await workOn(bench, source)) }
}

/** One job and what comes with the first, which is not of each. */
async function warmUp(source: Source, client: Redis): Promise<void> {
  await source.add(toJob(0))
  await client.flushall('SYNC')
}

/** As many jobs as each round adds, so that as many go on to wait; nothing of a source without a worker. */
async function workOn(bench: Bench, source: Source): Promise<Omit<Row, 'variant'>> {
  if (!offers(source, 'work')) return {}
  const turns = new Map([['', working(source, {})]])
  const [result] = (await takeTurns(bench, turns, { jobs: JOBS, rounds: ROUNDS })).values()
  return result === undefined ? {} : toColumns(result)
}

/** A worker beside another that holds ten thousand jobs and finishes none. */
export async function compareActive(bench: Bench): Promise<void> {
  const rows: Row[] = []
  // The floor takes all it wants in one call, and a script cannot hold so many.
  for (const contender of CROWDED.filter((each) => each !== floor)) {
    for (const active of [0, bench.quick ? QUICK_ACTIVE : ACTIVE]) {
      await withStands(
        bench,
        async (stands) => {
          const source = stands.offering('work').get(contender.name)
          if (source === undefined) return
          const release = await hold(source, active)
          rows.push({ variant: contender.name, active, ...(await workOn(bench, source)) })
          await release()
        },
        [contender],
      )
    }
  }
  bench.report(`beside jobs that are active: worker of ${CROWD}`, rows)
}

/** Takes so many jobs; they end when the function that comes back is called. */
async function hold(source: With<'work'>, count: number): Promise<() => Promise<void>> {
  if (count === 0) return async () => {}
  await fill(source, count)
  let open = (): void => {}
  const gate = new Promise<void>((resolve) => (open = resolve))
  let [held, allHeld] = [0, (): void => {}]
  const all = new Promise<void>((resolve) => (allHeld = resolve))
  const handle = (): Promise<void> => {
    if (++held === count) allHeld()
    return gate
  }
  const worker = await source.work({ concurrency: count, handle, done: () => {} })
  worker.start()
  await all
  return async () => {
    open()
    await worker.close()
  }
}
