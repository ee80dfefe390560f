// Adding jobs: one at a time, a hundred in flight, a thousand in a call.

import type { Bench, CompareOptions, Measured, Variant } from '../harness/bench.ts'
import { bullmq, bullmqPipelined } from './bullmq.ts'
import type { Source } from './contender.ts'
import { ADDERS } from './contenders.ts'
import { BULK, jobsFrom, toJob } from './jobs.ts'
import { judgeTimes } from './judges.ts'
import { type Stands, type With, withStands } from './stands.ts'
import { compareTurns, type Results, type Turn } from './turns.ts'

export const ALONE: CompareOptions = { rounds: 5, perRound: 2000 }
export const TOGETHER: CompareOptions = { rounds: 5, perRound: 30_000, inFlight: 100 }
const BULK_JOBS = 20 * BULK

export async function compareAdds(bench: Bench): Promise<void> {
  await withStands(
    bench,
    async (stands) => {
      await bench.compare('add, one at a time', adding(stands), ALONE)
      judgeCrowded(bench, await bench.compare('add, 100 in flight', adding(stands), TOGETHER))
      judgeBulk(bench, await compareBulk(bench, stands, ''))
    },
    ADDERS,
  )
}

/** The same on a server that writes to a disk. */
export async function compareAddsOnDisk(bench: Bench, where: string): Promise<void> {
  await withStands(
    bench,
    async (stands) => {
      await bench.compare(`add, one at a time${where}`, adding(stands), ALONE)
      await bench.compare(`add, 100 in flight${where}`, adding(stands), TOGETHER)
      await compareBulk(bench, stands, where)
    },
    ADDERS,
  )
}

/** Each job has a payload of its own, for qless keeps one job of a name. */
function adding({ sources, empty }: Stands): Record<string, Variant> {
  const toVariant = (source: Source): Variant => {
    let at = 0
    return { call: () => source.add(toJob(at++)), after: empty }
  }
  return Object.fromEntries([...sources].map(([name, source]) => [name, toVariant(source)]))
}

function compareBulk(bench: Bench, { offering, empty }: Stands, where: string): Promise<Results> {
  const toTurn = ({ sends, addBulk }: With<'addBulk'>): Turn => ({
    sends,
    run: async (jobs) => {
      for (let at = 0; at < jobs; at += BULK) await addBulk(jobsFrom(at, BULK))
    },
    after: empty,
  })
  const turns = new Map([...offering('addBulk')].map(([name, source]) => [name, toTurn(source)]))
  return compareTurns(bench, `add in bulk, ${BULK} a call${where}`, turns, { jobs: BULK_JOBS })
}

function judgeCrowded(bench: Bench, results: ReadonlyMap<string, Measured>): void {
  for (const { name } of [bullmq, bullmqPipelined]) {
    const target = `add, 100 in flight: jobs per second against ${name}`
    judgeTimes(bench, target, results, name, ({ callsPerSecond }) => callsPerSecond, { atLeast: 6 })
  }
}

function judgeBulk(bench: Bench, results: Results): void {
  const target = 'add in bulk: jobs per second against BullMQ'
  judgeTimes(bench, target, results, bullmq.name, ({ perSecond }) => perSecond, { atLeast: 10 })
}
