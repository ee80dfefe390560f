// A hundred waiters of one process: throughput, and who gets how much of it.

import type { Bench } from '../harness/bench.ts'
import { bounded, TERMS } from './contender.ts'
import { LOCKS } from './contenders.ts'
import { originLua } from './origin-lua.ts'
import { commandsOf, fairnessRows, middle, ours, type Rounds, rateOf, runRounds, worst } from './rounds.ts'

const WAITERS = 100
const ROUNDS = 5
const MS = 3000
const HOLD_MS = 1
const QUICK_MS = 300

/**
 * All share a connection, but for those that cannot. Goals are judged where the holder does something:
 * where it does nothing, the one that releases and asks again is the next holder nearly always.
 */
export async function compareWaiters(bench: Bench): Promise<void> {
  const rounds = await measure(bench, HOLD_MS)
  bench.report(`${WAITERS} waiters of one process, held for ${HOLD_MS} ms`, fairnessRows(rounds))
  judge(bench, rounds)
  if (bench.quick) return
  bench.report(`${WAITERS} waiters of one process, released at once`, fairnessRows(await measure(bench, 0)))
}

function measure(bench: Bench, holdMs: number): Promise<Rounds> {
  return runRounds(bench, {
    contenders: LOCKS,
    terms: bounded(TERMS, bench.quick),
    clients: WAITERS,
    connections: 'shared',
    contention: { ms: bench.quick ? QUICK_MS : MS, holdMs },
    rounds: bench.quick ? 1 : ROUNDS,
  })
}

function judge(bench: Bench, rounds: Rounds): void {
  const rate = (name: string): number => middle(rounds, name, rateOf)
  const title = `${WAITERS} waiters`
  const throughput = ours(rounds, (name) => rate(name) / rate(originLua.name))
  bench.judge(`${title}: acquisitions against the origin's Lua`, throughput, { atLeast: 1.2 })
  const jain = ours(rounds, (name) => middle(rounds, name, ({ history }) => history.jain))
  bench.judge(`${title}: Jain's index`, jain, { atLeast: 0.99 })
  const cycles = ours(rounds, (name) => worst(rounds, name, ({ history }) => history.maxWaitCycles))
  bench.judge(`${title}: longest wait in cycles`, cycles, { atMost: 1.5 * WAITERS })
  const commands = ours(rounds, (name) => middle(rounds, name, commandsOf))
  bench.judge(`${title}: commands an acquisition`, commands, { atMost: 2.2 })
  const many = ours(rounds, (name) => worst(rounds, name, ({ history }) => history.overLimit))
  bench.judge(`${title}: times that two held at once`, many, { atMost: 0 })
}
