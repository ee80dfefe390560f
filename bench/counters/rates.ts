// Votes per second of all ways to count.

import type { Bench } from '../harness/bench.ts'
import type { Row } from '../harness/print.ts'
import type { Round } from '../harness/round.ts'
import { median, percentile } from '../harness/statistics.ts'
import { NAIVE } from './contender.ts'
import { CONNECTIONS, type Kind } from './database.ts'
import { type Left, type Mix, voting } from './rounds.ts'
import type { Staged } from './stage.ts'
import { judgeRates, mostOf, ratioOf } from './verdicts.ts'

const ROUNDS = 9
const ROUND_MS: Readonly<Record<Kind, number>> = { PostgreSQL: 1000, MariaDB: 1000, SQLite: 600 }

export async function compareRates(
  bench: Bench,
  kind: Kind,
  staged: readonly Staged[],
  mix: Mix,
): Promise<void> {
  const left: Left[][] = staged.map(() => [])
  const variants = staged.map((each, at) => voting(each, mix.items, left[at] ?? []))
  const options = { rounds: ROUNDS, perRound: Infinity, inFlight: CONNECTIONS, limitMs: ROUND_MS[kind] }
  const rounds = await bench.rounds(variants, options)
  const names = staged.map(({ contender }) => contender.name)
  const rates = new Map(names.map((name, at) => [name, ratesOf(rounds[at] ?? [])]))
  const naive = rates.get(NAIVE) ?? []
  // The first round of each does not count, but for its drift and its errors.
  const rows = names.map((name, at) => toRow(name, rounds[at] ?? [], left[at] ?? [], naive))
  const where = `${kind}, ${mix.name}`
  bench.report(`${where}: votes, ${CONNECTIONS} under way`, rows)
  complain(bench, where, left.flat())
  const drifts = new Map(names.map((name, at) => [name, mostOf((left[at] ?? []).map(({ drift }) => drift))]))
  judgeRates(bench, { kind, where, hot: mix.items === 1 }, rates, drifts)
}

function complain(bench: Bench, where: string, left: readonly Left[]): void {
  const rows = left.flatMap(({ complaint }) => (complaint === '' ? [] : [{ variant: complaint }]))
  if (rows.length > 0) bench.report(`${where}: errors`, rows)
}

function ratesOf(rounds: readonly Round[]): number[] {
  return rounds.map(({ callsPerSecond }) => callsPerSecond)
}

function toRow(
  variant: string,
  rounds: readonly Round[],
  all: readonly Left[],
  naive: readonly number[],
): Row {
  const latenciesMs = rounds.flatMap((round) => round.latenciesMs)
  const left = all.slice(1)
  const rates = ratesOf(rounds)
  return {
    variant,
    votesPerSecond: median(rates),
    againstNaive: ratioOf(rates, naive),
    p50Ms: median(latenciesMs),
    p99Ms: percentile(latenciesMs, 0.99),
    statements: median(left.map(({ work, votes }) => (work.statements / votes) * 1000)),
    rowsWritten: median(left.map(({ work, votes }) => (work.rows / votes) * 1000)),
    settleMs: median(left.map(({ settleMs }) => settleMs)),
    drift: mostOf(all.map(({ drift }) => drift)),
    errors: mostOf(all.map(({ errors }) => errors)),
  }
}
