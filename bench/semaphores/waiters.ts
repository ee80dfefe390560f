// A hundred waiters of one process for five permits: throughput, and who gets how much of it.

import type { Bench } from '../harness/bench.ts'
import type { Terms } from '../locks/contender.ts'
import { semaphore } from '../locks/redis-semaphore.ts'
import { fairnessRows, middle, ours, type Rounds, rateOf, runRounds, worst } from '../locks/rounds.ts'
import { SEMAPHORES } from './contenders.ts'

const WAITERS = 100
const ROUNDS = 5
const MS = 3000
const HOLD_MS = 1
const QUICK_MS = 300

/**
 * All share a connection, but for those that cannot. Goals are judged where the holders do something: where
 * they do nothing, hardly two permits are ever out at once.
 */
export async function compareWaiters(bench: Bench, terms: Terms): Promise<void> {
  const crowd = `${terms.limit} permits, ${WAITERS} waiters of one process`
  const rounds = await measure(bench, terms, HOLD_MS)
  bench.report(`${crowd}, held for ${HOLD_MS} ms`, fairnessRows(rounds))
  judge(bench, rounds)
  if (bench.quick) return
  bench.report(`${crowd}, released at once`, fairnessRows(await measure(bench, terms, 0)))
}

function measure(bench: Bench, terms: Terms, holdMs: number): Promise<Rounds> {
  return runRounds(bench, {
    contenders: SEMAPHORES,
    terms,
    clients: WAITERS,
    connections: 'shared',
    contention: { ms: bench.quick ? QUICK_MS : MS, holdMs },
    rounds: bench.quick ? 1 : ROUNDS,
  })
}

function judge(bench: Bench, rounds: Rounds): void {
  const title = `semaphore, ${WAITERS} waiters`
  const rate = (name: string): number => middle(rounds, name, rateOf)
  const wait = (name: string): number => worst(rounds, name, ({ history }) => history.maxWaitMs)
  const throughput = ours(rounds, (name) => rate(name) / rate(semaphore.name))
  bench.judge(`${title}: acquisitions against redis-semaphore`, throughput, { atLeast: 1.1 })
  const jain = ours(rounds, (name) => middle(rounds, name, ({ history }) => history.jain))
  bench.judge(`${title}: Jain's index`, jain, { atLeast: 0.99 })
  const waits = ours(rounds, (name) => wait(name) / wait(semaphore.name))
  bench.judge(`${title}: longest wait against redis-semaphore`, waits, { atMost: 1 / 20 })
  const over = ours(rounds, (name) => worst(rounds, name, ({ history }) => history.overLimit))
  bench.judge(`${title}: times over the limit`, over, { atMost: 0 })
}
