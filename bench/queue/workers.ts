// A worker on jobs that wait already and whose handler does nothing.

import type { Bench } from '../harness/bench.ts'
import type { Job } from './contender.ts'
import { fill, type Kind } from './jobs.ts'
import { judgeHeardOrNot } from './judges.ts'
import { openShift, type Shift } from './shift.ts'
import { type Stands, type With, withStands } from './stands.ts'
import { compareTurns, type Results, type Turn } from './turns.ts'

const CONCURRENCIES = [1, 50, 200]
export const CROWD = 50
export const JOBS = 10_000
/** Of many at once, so many that the engine has compiled all that runs: its first ten thousand cost twice as much. */
const STEADY_JOBS = 50_000
/** Of the row that is judged: on a machine with neighbours the median of five moves by a tenth. */
const JUDGED_ROUNDS = 11
const GROUPS = 100
const PRIORITIES = 10
const FAILING = 10
const FAILURE = new Error('failed on purpose')

export async function compareWorkers(bench: Bench): Promise<void> {
  await withStands(bench, async (stands) => {
    for (const concurrency of CONCURRENCIES) {
      const results = await compareCrowd(bench, stands, concurrency, '')
      if (concurrency === CROWD) judge(bench, results)
    }
    const more = (what: string): string => `worker, ${CROWD} in flight, ${what}`
    await compareOn(bench, stands, more('one job in ten fails once'), {
      fails: true,
      fields: ['attempts'],
      kind: () => ({ attempts: 2 }),
    })
    await compareOn(bench, stands, more(`${PRIORITIES} priorities`), {
      fields: ['priority'],
      kind: (at) => ({ priority: 1 + (at % PRIORITIES) }),
    })
    await compareOn(bench, stands, more(`${GROUPS} groups`), {
      fields: ['group'],
      kind: (at) => ({ group: `group-${at % GROUPS}` }),
    })
  })
}

/** The same on a server that writes to a disk. */
export async function compareWorkersOnDisk(bench: Bench, where: string): Promise<void> {
  await withStands(bench, async (stands) => {
    for (const concurrency of CONCURRENCIES) await compareCrowd(bench, stands, concurrency, where)
  })
}

function compareCrowd(bench: Bench, stands: Stands, concurrency: number, where: string): Promise<Results> {
  return compareOn(bench, stands, `worker, ${concurrency} in flight${where}`, {
    concurrency,
    ...(concurrency >= CROWD ? { jobs: STEADY_JOBS } : {}),
    ...(concurrency === CROWD ? { rounds: JUDGED_ROUNDS } : {}),
  })
}

interface Plan extends Terms {
  /** Of a round; default 10,000. */
  readonly jobs?: number
  /** Default 5. */
  readonly rounds?: number
  /** What a contender must heed to take part. */
  readonly fields?: readonly (keyof Job)[]
}

interface Terms {
  readonly concurrency?: number
  readonly kind?: Kind
  /** Each tenth job fails the first time. */
  readonly fails?: boolean
}

function compareOn(bench: Bench, stands: Stands, title: string, plan: Plan): Promise<Results> {
  const sources = [...stands.offering('work', ...(plan.fields ?? []))]
  const turns = new Map(sources.map(([name, source]) => [name, working(source, plan, stands.empty)]))
  return compareTurns(bench, title, turns, {
    jobs: plan.jobs ?? JOBS,
    ...(plan.rounds === undefined ? {} : { rounds: plan.rounds }),
  })
}

/** Fills the queue, and works on as many jobs as were added now; then `empty`, or as many wait as before. */
export function working(source: With<'work'>, terms: Terms, empty?: () => Promise<unknown>): Turn {
  let shift: Shift | undefined
  return {
    sends: source.sends,
    before: async (jobs) => {
      await fill(source, jobs, terms.kind)
      const handle = terms.fails === true ? { handle: failingOnce() } : {}
      shift = await openShift(source, { concurrency: terms.concurrency ?? CROWD, ...handle })
    },
    run: async (jobs) => shift?.run(jobs),
    after: async () => {
      const tooMany = (await shift?.end()) ?? 0
      await (empty?.() ?? fill(source, tooMany))
    },
  }
}

function failingOnce(): (payload: string) => Promise<void> {
  const failed = new Set<string>()
  return async (payload) => {
    if (Number(payload) % FAILING !== 0 || failed.has(payload)) return
    failed.add(payload)
    throw FAILURE
  }
}

function judge(bench: Bench, results: Results): void {
  const who = `worker, ${CROWD} in flight`
  const perSecond = `${who}: jobs per second against BullMQ`
  judgeHeardOrNot(bench, perSecond, results, (result) => result.perSecond, { atLeast: 5 })
  const cpu = `${who}: Redis CPU a job, how many times less than BullMQ`
  judgeHeardOrNot(bench, cpu, results, ({ cpuUs }) => 1 / cpuUs, { atLeast: 5 })
}
