// The origin's case: ten thousand values end at the same time, while they are read. The database answers
// a limited number of queries at once, so a repeated query keeps others waiting.

import type { Bench } from '../harness/bench.ts'
import type { Row } from '../harness/print.ts'
import { largest, mean, median, percentile } from '../harness/statistics.ts'
import { PERILUNE, STALE } from './contender.ts'
import { ORIGINS } from './contenders.ts'
import type { Through, Work } from './job.ts'
import { keysLoaded, mostAtOnce } from './loads.ts'
import { naive } from './naive.ts'
import { type Outcome, Processes } from './processes.ts'
import { PROCESSES } from './stampede.ts'

const ROUNDS = 3
const LOAD_MS = 20
/** To the database, of each process. */
const CONNECTIONS = 5
const FRESH_MS = 60_000

const FULL: Through = {
  kind: 'through',
  keys: 10_000,
  fillMs: 6000,
  aheadMs: 1000,
  afterMs: 3000,
  readsPerSecond: 3000,
}
const QUICK: Through = {
  ...FULL,
  keys: 1000,
  fillMs: 3000,
  aheadMs: 300,
  afterMs: 1000,
  readsPerSecond: 1000,
}

export async function compareExpiry(bench: Bench, able: ReadonlySet<string>): Promise<void> {
  const task = bench.quick ? QUICK : FULL
  const work: Work = { freshMs: FRESH_MS, loadMs: LOAD_MS, connections: CONNECTIONS, task }
  const contenders = ORIGINS.filter(({ name }) => able.has(name))
  const rounds = new Map<string, Outcome[]>(contenders.map(({ name }) => [name, []]))
  const processes = new Processes(bench.port, PROCESSES)
  try {
    for (let round = 0; round < (bench.quick ? 1 : ROUNDS); round++) {
      for (const contender of contenders) {
        rounds.get(contender.name)?.push(await processes.run(contender, work))
      }
    }
  } finally {
    processes.close()
  }
  report(bench, task, rounds)
}

function report(bench: Bench, task: Through, rounds: ReadonlyMap<string, readonly Outcome[]>): void {
  const rows = [...rounds].map(([name, all]) => toRow(name, all, task))
  const { keys, readsPerSecond } = task
  bench.report(
    `${keys} values end at once, ${readsPerSecond} reads a second by Zipf's law from ${PROCESSES} processes; loads of ${LOAD_MS} ms, ${CONNECTIONS} at once in each`,
    rows,
  )
  const floor = rows.find(({ variant }) => variant === naive.name)
  const ours = rows.filter(({ variant }) => variant === PERILUNE || variant === STALE)
  if (floor === undefined) return
  const judge = (what: string, of: (row: ExpiryRow) => number): void => {
    const times = Object.fromEntries(ours.map((row) => [row.variant, of(floor) / of(row)]))
    bench.judge(`${keys} values end at once: ${what} of the naive cache against ours`, times, { atLeast: 3 })
  }
  judge('mean read', ({ meanMs }) => meanMs)
  judge('p99 of reads', ({ p99Ms }) => p99Ms)
}

interface ExpiryRow extends Row {
  readonly meanMs: number
  readonly p99Ms: number
}

/** Loads are medians of the rounds, at once the most; reads are those of all rounds, begun after the common end. */
function toRow(variant: string, rounds: readonly Outcome[], { fillMs }: Through): ExpiryRow {
  const tookMs = rounds.flatMap(({ readAtMs, readTookMs, fromMs }) =>
    readTookMs.filter((_, at) => (readAtMs[at] ?? 0) >= fromMs + fillMs),
  )
  return {
    variant,
    loads: median(rounds.map(({ loads }) => loads.length)),
    loadsPerKey: median(rounds.map(({ loads }) => loads.length / keysLoaded(loads))),
    loadsOfOneAtOnce: largest(rounds.map(({ loads }) => mostAtOnce(loads))),
    meanMs: mean(tookMs),
    p50Ms: median(tookMs),
    p99Ms: percentile(tookMs, 0.99),
    maxMs: largest(tookMs),
    errors: largest(rounds.map(({ errors }) => errors)),
  }
}
