// The cost of a job beside ten thousand that are active. Each contender has its turns alone: who holds jobs says so
// again and again, which would count as the work of others.

import type { Bench } from '../harness/bench.ts'
import type { Row } from '../harness/print.ts'
import { CROWDED } from './contenders.ts'
import { floor } from './floor.ts'
import { fill } from './jobs.ts'
import { type With, withStands } from './stands.ts'
import { takeTurns, toColumns } from './turns.ts'
import { CROWD, JOBS, working } from './workers.ts'

const ACTIVE = 10_000
const QUICK_ACTIVE = 1000

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

async function workOn(bench: Bench, source: With<'work'>): Promise<Omit<Row, 'variant'>> {
  const turns = new Map([['', working(source, {})]])
  const [result] = (await takeTurns(bench, turns, { jobs: JOBS })).values()
  return result === undefined ? {} : toColumns(result)
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
