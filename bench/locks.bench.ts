// Question: what does a lock cost beside its origin and its peers, alone and with many who want it?
// Expectation: uncontended within a tenth of SET NX PX; with ten clients three times the origin's first
// lock; with a hundred waiters everyone gets a turn in order, for two commands an acquisition.

import type { Bench } from './harness/bench.ts'
import { reportSettings } from './locks/about.ts'
import { TERMS } from './locks/contender.ts'
import { LOCKS } from './locks/contenders.ts'
import { tellOrigin } from './locks/origin-table.ts'
import { comparePairs } from './locks/pairs.ts'
import { compareProcesses } from './locks/ten-processes.ts'
import { compareWaiters } from './locks/waiters.ts'

export async function run(bench: Bench): Promise<void> {
  await reportSettings(bench, LOCKS, TERMS)
  await tellOrigin(bench)
  await comparePairs(bench)
  await compareProcesses(bench)
  await compareWaiters(bench)
}
