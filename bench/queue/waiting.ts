// What jobs cost beside others that wait. Each contender has a queue of few and one of many, which all have their
// turns together; a round leaves as many as it has found.

import type { Bench, Variant } from '../harness/bench.ts'
import { ALONE, TOGETHER } from './adds.ts'
import type { Contender } from './contender.ts'
import { CROWDED } from './contenders.ts'
import { fill, toJob } from './jobs.ts'
import { workOff } from './shift.ts'
import { offers, type Stands, type With, withStands } from './stands.ts'
import { compareTurns } from './turns.ts'
import { CROWD, JOBS, working } from './workers.ts'

const WAITING = [1000, 1_000_000]
const QUICK_WAITING = [100, 10_000]

export async function compareWaiting(bench: Bench): Promise<void> {
  const waiting = bench.quick ? QUICK_WAITING : WAITING
  const depths = CROWDED.flatMap((contender) => waiting.map((count) => toDepth(contender, count)))
  await withStands(
    bench,
    async (stands) => {
      const sources = workersOf(stands)
      for (const { name, count } of depths) {
        const source = sources.get(name)
        if (source !== undefined) await fill(source, count)
      }
      await compareAll(bench, sources)
    },
    depths,
  )
}

interface Depth extends Contender {
  readonly count: number
}

function toDepth(contender: Contender, count: number): Depth {
  return { ...contender, count, name: `${contender.name}, ${count.toLocaleString('en')} waiting` }
}

type Workers = ReadonlyMap<string, With<'work'>>

/** Without a worker of its own nothing takes away what a round has added. */
function workersOf({ sources }: Stands): Workers {
  const found = new Map<string, With<'work'>>()
  for (const [name, source] of sources) if (offers(source, 'work')) found.set(name, source)
  return found
}

async function compareAll(bench: Bench, sources: Workers): Promise<void> {
  // Workers first: each that closes leaves a few jobs in bee-queue's list of active ones, which the next has to search.
  const turns = new Map([...sources].map(([name, source]) => [name, working(source, {})]))
  await compareTurns(bench, `worker, ${CROWD} in flight, beside jobs that wait`, turns, { jobs: JOBS })
  const adds = Object.fromEntries([...sources].map(([name, source]) => [name, adding(source)]))
  await bench.compare('add, one at a time, beside jobs that wait', adds, ALONE)
  await bench.compare('add, 100 in flight, beside jobs that wait', adds, TOGETHER)
}

function adding(source: With<'work'>): Variant {
  let added = 0
  return {
    call: () => source.add(toJob(added++)),
    after: async () => {
      await workOff(source, added, CROWD)
      added = 0
    },
  }
}
