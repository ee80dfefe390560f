// Many readers of one key in several processes, whose value ends again and again.

import type { Bench } from '../harness/bench.ts'
import type { Row } from '../harness/print.ts'
import { largest, median, percentile } from '../harness/statistics.ts'
import { PERILUNE } from './contender.ts'
import { LOADERS } from './contenders.ts'
import type { Work } from './job.ts'
import { mostAtOnce, toCycles } from './loads.ts'
import { type Outcome, Processes } from './processes.ts'
import { PROCESSES } from './stampede.ts'

const READERS = 500
const THINK_MS = 50
// Loads are counted, so few rounds tell them; reads are many in each.
const ROUNDS = 3

interface Times {
  readonly freshMs: number
  readonly loadMs: number
  readonly ms: number
}

const FULL: Times = { freshMs: 2000, loadMs: 200, ms: 8000 }
const QUICK: Times = { freshMs: 1000, loadMs: 100, ms: 2500 }

export async function compareCycles(bench: Bench, able: ReadonlySet<string>): Promise<void> {
  const times = bench.quick ? QUICK : FULL
  const contenders = LOADERS.filter(({ name }) => able.has(name))
  const rounds = new Map<string, Outcome[]>(contenders.map(({ name }) => [name, []]))
  const processes = new Processes(bench.port, PROCESSES)
  const task = { kind: 'again', key: 'hot', readers: READERS, ms: times.ms, thinkMs: THINK_MS } as const
  const work: Work = { ...times, connections: Infinity, task }
  try {
    for (let round = 0; round < (bench.quick ? 1 : ROUNDS); round++) {
      for (const contender of contenders) {
        rounds.get(contender.name)?.push(await processes.run(contender, work))
      }
    }
  } finally {
    processes.close()
  }
  report(bench, times, rounds)
}

type Rounds = ReadonlyMap<string, readonly Outcome[]>

function report(bench: Bench, times: Times, rounds: Rounds): void {
  const { freshMs, loadMs } = times
  const where = `${READERS} readers in ${PROCESSES} processes, a value for ${freshMs} ms, a load of ${loadMs} ms`
  const rows = [...rounds].map(([name, all]) => toRow(name, all, times))
  bench.report(where, rows)
  const ours = rows.find(({ variant }) => variant === PERILUNE)
  if (ours === undefined) return
  const judge = (what: string, value: number, atMost: number): void =>
    bench.judge(`${READERS} readers: ${what}`, { [PERILUNE]: value }, { atMost })
  judge('loads a cycle', ours.perCycle, 1.1)
  judge('loads while it is cold', ours.cold, 1)
  judge('loads at once', ours.loadsAtOnce, 1)
  judge('p99.9 of warm reads against the load', ours.warmP999Ms / loadMs, 0.1)
}

interface CycleRow extends Row {
  readonly cold: number
  readonly perCycle: number
  readonly loadsAtOnce: number
  readonly warmP999Ms: number
}

/** Loads are medians of the rounds, at once the most; reads are those of all rounds, begun when a value was there. */
function toRow(variant: string, rounds: readonly Outcome[], { freshMs, loadMs }: Times): CycleRow {
  const cycles = rounds.map(({ loads }) => toCycles(loads, freshMs))
  const warmMs = rounds.flatMap(({ readAtMs, readTookMs, fromMs }) =>
    readTookMs.filter((_, at) => (readAtMs[at] ?? 0) > fromMs + 3 * loadMs),
  )
  return {
    variant,
    loads: median(rounds.map(({ loads }) => loads.length)),
    cold: median(cycles.map(({ cold }) => cold)),
    perCycle: median(cycles.map(({ perCycle }) => perCycle)),
    loadsAtOnce: largest(rounds.map(({ loads }) => mostAtOnce(loads))),
    warmP50Ms: median(warmMs),
    warmP99Ms: percentile(warmMs, 0.99),
    warmP999Ms: percentile(warmMs, 0.999),
    warmMaxMs: largest(warmMs),
    errors: largest(rounds.map(({ errors }) => errors)),
  }
}
