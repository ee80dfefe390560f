// What the numbers are held against.

import type { Bench } from '../harness/bench.ts'
import { largest, median } from '../harness/statistics.ts'
import { BY_HAND, DELTA, DERIVED, DERIVED_ASIDE, DERIVED_EACH_SECOND, NAIVE } from './contender.ts'
import type { Kind } from './database.ts'

export interface Where {
  readonly kind: Kind
  readonly where: string
  readonly hot: boolean
}

/** Of votes per second against the naive way; on SQLite nothing is expected. */
const GOALS: Readonly<Record<Kind, { readonly hot: number; readonly zipf: number } | null>> = {
  PostgreSQL: { hot: 6, zipf: 2.5 },
  MariaDB: { hot: 4, zipf: 2 },
  SQLite: null,
}

export function judgeRates(
  bench: Bench,
  { kind, where, hot }: Where,
  rates: ReadonlyMap<string, readonly number[]>,
  drifts: ReadonlyMap<string, number>,
): void {
  const against = (name: string, other: string): number =>
    ratioOf(rates.get(name) ?? [], rates.get(other) ?? [])
  const ours = [...drifts].filter(([name]) => name.startsWith('Perilune'))
  bench.judge(`${where}: drift`, Object.fromEntries(ours), { atMost: 0 })
  const goals = GOALS[kind]
  if (goals === null) return
  const ratios = [DERIVED, DERIVED_ASIDE, DELTA].map((name) => [name, against(name, NAIVE)] as const)
  bench.judge(`${where}: votes per second against ${NAIVE}`, Object.fromEntries(ratios), {
    atLeast: hot ? goals.hot : goals.zipf,
  })
}

/** In % of votes per second. By hand is the floor, where rows have to be marked. */
export function judgeCosts(bench: Bench, where: string, costs: ReadonlyMap<string, number>): void {
  const of = (...names: string[]): Record<string, number> =>
    Object.fromEntries([...costs].filter(([name]) => names.includes(name)))
  bench.judge(`${where}: what rolling up costs`, of(DERIVED, DERIVED_EACH_SECOND, BY_HAND), { atMost: 10 })
  bench.judge(`${where}: what flushing costs`, of(DELTA), { atMost: 25 })
}

/** Ratios are those of rounds beside each other, so that a disturbance of the machine meets both. */
export function ratioOf(rates: readonly number[], others: readonly number[]): number {
  return median(rates.map((rate, at) => rate / (others[at] ?? Number.NaN)))
}

/** NaN where there is nothing to tell. */
export function mostOf(values: readonly number[]): number {
  return values.some(Number.isNaN) ? Number.NaN : largest(values)
}
