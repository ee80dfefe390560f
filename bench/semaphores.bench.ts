// Question: what does a semaphore cost beside its origin and its peer, and does it keep its limit when the
// clocks of its clients disagree?
// Expectation: a tenth more acquisitions than redis-semaphore, each waiter its turn, and never a permit too
// many, whatever the clocks say; those that trust clocks let more in as soon as these are a lease apart.

import type { Bench } from './harness/bench.ts'
import { reportSettings } from './locks/about.ts'
import { bounded, TERMS } from './locks/contender.ts'
import { SEMAPHORES } from './semaphores/contenders.ts'
import { compareSkews } from './semaphores/skew.ts'
import { compareWaiters } from './semaphores/waiters.ts'

const PERMITS = 5

export async function run(bench: Bench): Promise<void> {
  const terms = { ...bounded(TERMS, bench.quick), limit: PERMITS }
  await reportSettings(bench, SEMAPHORES, terms)
  await compareWaiters(bench, terms)
  await compareSkews(bench, terms)
}
