// Votes per second, as many as get through, with all that a round leaves behind.

import type { Bench, Variant } from '../harness/bench.ts'
import { firstLine } from '../harness/first-line.ts'
import type { Row } from '../harness/print.ts'
import type { Round } from '../harness/round.ts'
import { median, percentile } from '../harness/statistics.ts'
import { zipf } from '../harness/zipf.ts'
import { NAIVE } from './contender.ts'
import { CONNECTIONS, type Kind, type Work } from './database.ts'
import { driftOf, empty, type Staged } from './stage.ts'
import { judgeRates, mostOf, ratioOf } from './verdicts.ts'
import { voterOf } from './voters.ts'

const ROUNDS = 9
const ROUND_MS: Readonly<Record<Kind, number>> = { PostgreSQL: 1000, MariaDB: 1000, SQLite: 600 }

/** What a round left behind. */
interface Left {
  readonly votes: number
  readonly drift: number
  readonly errors: number
  readonly complaint: string
  /** From the last vote until the database had all. */
  readonly settleMs: number
  readonly work: Work
}

export interface Mix {
  readonly name: string
  readonly items: number
}

export const MIXES: readonly Mix[] = [
  { name: 'one hot item', items: 1 },
  { name: "1000 items by Zipf's law", items: 1000 },
]

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

function voting({ contender, stage, voting: way }: Staged, items: number, left: Left[]): Variant {
  const next = zipf(items)
  let [votes, errors, complaint] = [0, 0, '']
  let before: Work = { statements: 0, rows: 0 }
  const self: Staged = { contender, stage, voting: way }
  return {
    async before() {
      const all = await empty(stage, items)
      await way.begin?.(all)
      ;[votes, errors, complaint] = [0, 0, '']
      before = await stage.database.work()
    },
    async call() {
      votes++
      try {
        await way.vote(voterOf(votes), next() + 1)
      } catch (error) {
        errors++
        complaint = `${contender.name}: ${firstLine(error)}`
      }
    },
    async after() {
      const from = performance.now()
      await way.settle?.()
      const settleMs = performance.now() - from
      const now = await stage.database.work()
      const work = { statements: now.statements - before.statements, rows: now.rows - before.rows }
      left.push({ votes, drift: await driftOf(self, votes - errors), errors, complaint, settleMs, work })
    },
  }
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
