// The table of Redis in Action, chapter 11: tries and acquisitions of 1, 2, 5 and 10 clients.

import type { Bench } from '../harness/bench.ts'
import type { Row } from '../harness/print.ts'
import { BARGING, PERILUNE, TERMS } from './contender.ts'
import { ORIGINS } from './contenders.ts'
import { floor, promising } from './floor.ts'
import { originLua } from './origin-lua.ts'
import { originWatch } from './origin-watch.ts'
import { middle, ours, type Round, type Rounds, rateOf, runRounds } from './rounds.ts'

const CLIENTS = [1, 2, 5, 10]
const SECONDS = 10 // of each row, as in the book
const ROUNDS = 5
const QUICK_MS = 300

/** Each client has a connection of its own; all are loops of one process. Nothing happens while it is held. */
export async function tellOrigin(bench: Bench): Promise<void> {
  const rounds = bench.quick ? 1 : ROUNDS
  const contention = { ms: bench.quick ? QUICK_MS : (SECONDS * 1000) / ROUNDS, holdMs: 0 }
  const results = new Map<number, Rounds>()
  for (const clients of CLIENTS) {
    const plan = {
      contenders: ORIGINS,
      terms: TERMS,
      clients,
      connections: 'own',
      contention,
      rounds,
    } as const
    const result = await runRounds(bench, plan)
    results.set(clients, result)
    const seconds = (contention.ms * rounds) / 1000
    bench.report(
      `${clients} clients, tries and acquisitions in ${seconds} s`,
      [...result].map(([variant, all]) => toRow(variant, all, result)),
    )
  }
  judge(bench, results)
}

function toRow(variant: string, all: readonly Round[], rounds: Rounds): Row {
  const sum = (of: (round: Round) => number): number => all.reduce((total, round) => total + of(round), 0)
  return {
    variant,
    tries: sum(({ crowd }) => crowd.tries),
    acquisitions: sum(({ history }) => history.acquisitions),
    acquisitionsPerSecond: middle(rounds, variant, rateOf),
    errors: sum(({ crowd }) => crowd.errors.length),
  }
}

// The floors are listed next to ours: no lock with a clock and tokens can pass them.
function judge(bench: Bench, results: ReadonlyMap<number, Rounds>): void {
  for (const [clients, rounds] of results) {
    const against = (name: string, origin: string): number =>
      middle(rounds, name, rateOf) / middle(rounds, origin, rateOf)
    const lua = ours(rounds, (name) => against(name, originLua.name), [BARGING, promising.name])
    bench.judge(`${clients} clients: acquisitions against the origin's Lua`, lua, { atLeast: 1 })
    if (clients !== CLIENTS.at(-1)) continue
    const watch = ours(rounds, (name) => against(name, originWatch.name), [
      PERILUNE,
      BARGING,
      floor.name,
      promising.name,
    ])
    bench.judge(`${clients} clients: acquisitions against the origin`, watch, { atLeast: 3 })
  }
}
