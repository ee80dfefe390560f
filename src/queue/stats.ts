// What happened in a queue, minute by minute, hour by hour and day by day.

import { type StatsAnswer, stats } from '../generated/queue.ts'
import { checkInteger, checkOneOf, checkOptions } from '../runtime/values/arguments.ts'
import { checkJobName } from './jobs/job-options.ts'
import type { Source } from './source/source.ts'
import { addSpans, newSpans, type Spans, type Spread, toSpread } from './spread.ts'

export interface StatsOptions {
  /** Only jobs of this name; default all. The first hundred names of a queue are told apart. */
  name?: string
  /** Default minute. Days and hours are those of UTC. 120 minutes, 72 hours and 90 days are kept. */
  by?: 'minute' | 'hour' | 'day'
  /** How many periods at most, up to `to`; default as many as are kept. */
  last?: number
  /** When the first period is, in milliseconds since 1970. */
  from?: number
  /** When the last period is; default now. */
  to?: number
}

/** What happened in a time. */
export interface StatsCounts {
  readonly enqueued: number
  readonly acked: number
  readonly retried: number
  readonly buried: number
  readonly reclaimed: number
  readonly cancelled: number
  /** Of each claim, how long the job had been ready. */
  readonly wait: Spread
  /** Of each ack, retry and burial, how long ago the job had been claimed. */
  readonly run: Spread
}

export interface StatsPeriod extends StatsCounts {
  /** When it began. */
  readonly atMs: number
}

export interface Stats {
  /** All periods asked for that are kept, the oldest first, also those in which nothing happened. */
  readonly periods: StatsPeriod[]
  readonly total: StatsCounts
}

type Told = StatsAnswer['periods'][number]

const OPTIONS = ['name', 'by', 'last', 'from', 'to'] as const
const KEPT = { minute: 120, hour: 72, day: 90 } as const

/** Of one source, or of all partitions: then in the periods of the first one's clock. Throws InvalidArgumentError. */
export async function readStats(sources: readonly Source[], options: StatsOptions): Promise<Stats> {
  checkOptions('options', options, OPTIONS)
  const { name, last, from, to } = options
  const by = checkOneOf('by', options.by ?? 'minute', ['minute', 'hour', 'day'] as const)
  const common = { name: name === undefined ? '' : checkJobName(name), by }
  const [first, ...others] = sources as [Source, ...Source[]]
  const answer = await first.unit.run(stats, {
    ...common,
    fromMs: from === undefined ? 0 : checkInteger('from', from, 1, Number.MAX_SAFE_INTEGER),
    toMs: to === undefined ? 0 : checkInteger('to', to, 1, Number.MAX_SAFE_INTEGER),
    count: last === undefined ? 0 : checkInteger('last', last, 1, KEPT[by]),
  })
  const { firstMs, lastMs } = answer
  // Where the first has kept none of what is asked for, neither have the others.
  const asked = firstMs > lastMs ? [] : others
  const more = asked.map(({ unit }) =>
    unit.run(stats, { ...common, fromMs: firstMs, toMs: lastMs, count: 0 }),
  )
  const told = [...answer.periods, ...(await Promise.all(more)).flatMap(({ periods }) => periods)]
  return { periods: toPeriods(answer, told), total: toCounts(told) }
}

/** The names of jobs of which statistics are kept. */
export async function readNames(sources: readonly Source[]): Promise<string[]> {
  const asked = { name: '', by: 'minute', fromMs: 0, toMs: 0, count: 1 }
  const answers = await Promise.all(sources.map(({ unit }) => unit.run(stats, asked)))
  return [...new Set(answers.flatMap(({ names }) => names))]
}

function toPeriods({ firstMs, lastMs, lengthMs }: StatsAnswer, told: readonly Told[]): StatsPeriod[] {
  const byTime = new Map<number, Told[]>()
  for (const period of told) byTime.set(period.atMs, [...(byTime.get(period.atMs) ?? []), period])
  const all: StatsPeriod[] = []
  for (let atMs = firstMs; atMs <= lastMs; atMs += lengthMs) {
    all.push({ atMs, ...toCounts(byTime.get(atMs) ?? []) })
  }
  return all
}

function toCounts(periods: readonly Told[]): StatsCounts {
  const sum = (of: (period: Told) => number): number =>
    periods.reduce((total, period) => total + of(period), 0)
  return {
    enqueued: sum(({ enqueued }) => enqueued),
    acked: sum(({ acked }) => acked),
    retried: sum(({ retried }) => retried),
    buried: sum(({ buried }) => buried),
    reclaimed: sum(({ reclaimed }) => reclaimed),
    cancelled: sum(({ cancelled }) => cancelled),
    wait: spreadOf(periods, (spans, told) => addSpans(spans, told.waitSumUs, told.waitMaxUs, told.waits)),
    run: spreadOf(periods, (spans, told) => addSpans(spans, told.runSumUs, told.runMaxUs, told.runs)),
  }
}

function spreadOf(periods: readonly Told[], add: (spans: Spans, told: Told) => void): Spread {
  const spans = newSpans()
  for (const period of periods) add(spans, period)
  return toSpread(spans)
}
