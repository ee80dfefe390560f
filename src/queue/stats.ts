// Statistics of a queue for each minute, hour and day.

import { stats, type StatsAnswer } from '../generated/queue.ts'
import { checkInteger, checkOneOf, checkOptions } from '../runtime/values/arguments.ts'
import { checkJobName } from './jobs/job-options.ts'
import type { QueueSource } from './source/source.ts'

export interface StatsOptions {
  /** Only jobs of this name; default all. The first 100 names of a queue have statistics of their own. */
  name?: string
  /** The length of the periods; default `minute`. Days begin in UTC. 120 minutes, 72 hours and 90 days are kept. */
  by?: 'minute' | 'hour' | 'day'
  /** The most periods, up to `to`; default: all that are kept. */
  last?: number
  /** A time in the first period, in milliseconds since 1970. */
  from?: number
  /** A time in the last period; default: now. */
  to?: number
}

/** The counts of a period. */
export interface StatsCounts {
  readonly enqueued: number
  readonly acked: number
  readonly retried: number
  readonly failed: number
  readonly reclaimed: number
  readonly cancelled: number
  /** For each claim, how long the job had been ready. */
  readonly wait: Spread
  /** For each ack, retry and failure, how long ago the job had been claimed. */
  readonly run: Spread
}

export interface StatsPeriod extends StatsCounts {
  /** When it began. */
  readonly atMs: number
}

export interface Stats {
  /** All requested periods that are kept, the oldest first, including empty ones. */
  readonly periods: StatsPeriod[]
  readonly total: StatsCounts
}

type RawPeriod = StatsAnswer['periods'][number]

const OPTIONS = ['name', 'by', 'last', 'from', 'to'] as const
const KEPT = { minute: 120, hour: 72, day: 90 } as const

/** Adds up all partitions, in the periods of the first one's clock. Throws InvalidArgumentError. */
export async function readStats(sources: readonly QueueSource[], options: StatsOptions): Promise<Stats> {
  checkOptions('options', options, OPTIONS)
  const { name, last, from, to } = options
  const by = checkOneOf('by', options.by ?? 'minute', ['minute', 'hour', 'day'] as const)
  const common = { name: name === undefined ? '' : checkJobName(name), by }
  const [first, ...others] = sources as [QueueSource, ...QueueSource[]]
  const answer = await first.unit.run(stats, {
    ...common,
    fromMs: from === undefined ? 0 : checkInteger('from', from, 1, Number.MAX_SAFE_INTEGER),
    toMs: to === undefined ? 0 : checkInteger('to', to, 1, Number.MAX_SAFE_INTEGER),
    count: last === undefined ? 0 : checkInteger('last', last, 1, KEPT[by]),
  })
  const { firstMs, lastMs } = answer
  // If the first partition keeps none of the requested periods, neither do the others.
  const asked = firstMs > lastMs ? [] : others
  const more = asked.map(({ unit }) =>
    unit.run(stats, { ...common, fromMs: firstMs, toMs: lastMs, count: 0 }),
  )
  const raw = [...answer.periods, ...(await Promise.all(more)).flatMap(({ periods }) => periods)]
  return { periods: toPeriods(answer, raw), total: toCounts(raw) }
}

/** The names of jobs that have statistics of their own. */
export async function readNames(sources: readonly QueueSource[]): Promise<string[]> {
  const asked = { name: '', by: 'minute', fromMs: 0, toMs: 0, count: 1 }
  const answers = await Promise.all(sources.map(({ unit }) => unit.run(stats, asked)))
  return [...new Set(answers.flatMap(({ names }) => names))]
}

function toPeriods({ firstMs, lastMs, lengthMs }: StatsAnswer, periods: readonly RawPeriod[]): StatsPeriod[] {
  const byTime = new Map<number, RawPeriod[]>()
  for (const period of periods) byTime.set(period.atMs, [...(byTime.get(period.atMs) ?? []), period])
  const all: StatsPeriod[] = []
  for (let atMs = firstMs; atMs <= lastMs; atMs += lengthMs) {
    all.push({ atMs, ...toCounts(byTime.get(atMs) ?? []) })
  }
  return all
}

function toCounts(periods: readonly RawPeriod[]): StatsCounts {
  const sum = (of: (period: RawPeriod) => number): number =>
    periods.reduce((total, period) => total + of(period), 0)
  return {
    enqueued: sum(({ enqueued }) => enqueued),
    acked: sum(({ acked }) => acked),
    retried: sum(({ retried }) => retried),
    failed: sum(({ failed }) => failed),
    reclaimed: sum(({ reclaimed }) => reclaimed),
    cancelled: sum(({ cancelled }) => cancelled),
    wait: spreadOf(periods, (spans, period) =>
      addSpans(spans, period.waitSumUs, period.waitMaxUs, period.waits),
    ),
    run: spreadOf(periods, (spans, period) => addSpans(spans, period.runSumUs, period.runMaxUs, period.runs)),
  }
}

function spreadOf(periods: readonly RawPeriod[], add: (spans: Spans, periods: RawPeriod) => void): Spread {
  const spans = newSpans()
  for (const period of periods) add(spans, period)
  return toSpread(spans)
}

// Histograms of how long jobs waited or ran, with eight buckets for each doubling. See shared/queue/statistics.

/** How long jobs waited or ran, in milliseconds. Percentiles are off by at most 6.25 %, or half a millisecond. */
export interface Spread {
  readonly count: number
  /** Exact, as is `maxMs`; 0 when there was no job. */
  readonly meanMs: number
  readonly p50Ms: number
  readonly p90Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

export interface Spans {
  sumUs: number
  maxUs: number
  readonly buckets: Map<number, number>
}

const BUCKET_BYTES = 6

export function newSpans(): Spans {
  return { sumUs: 0, maxUs: 0, buckets: new Map() }
}

/** Of each bucket its number in a byte, and how many in five. */
export function addSpans(spans: Spans, sumUs: number, maxUs: number, packed: Buffer): void {
  spans.sumUs += sumUs
  spans.maxUs = Math.max(spans.maxUs, maxUs)
  for (let at = 0; at < packed.length; at += BUCKET_BYTES) {
    const bucket = packed.readUInt8(at)
    spans.buckets.set(bucket, (spans.buckets.get(bucket) ?? 0) + packed.readUIntBE(at + 1, 5))
  }
}

export function toSpread({ sumUs, maxUs, buckets }: Spans): Spread {
  const maxMs = maxUs / 1000
  const sorted = [...buckets].toSorted(([one], [other]) => one - other)
  const count = sorted.reduce((sum, [, jobs]) => sum + jobs, 0)
  const percentile = (share: number): number => Math.min(maxMs, spanAt(sorted, Math.ceil(share * count)))
  const [p50Ms, p90Ms, p99Ms] = [percentile(0.5), percentile(0.9), percentile(0.99)]
  return { count, meanMs: count === 0 ? 0 : sumUs / count / 1000, p50Ms, p90Ms, p99Ms, maxMs }
}

/** The middle of the bucket that holds the job of this rank, counted from 1. */
function spanAt(sorted: readonly (readonly [number, number])[], rank: number): number {
  let passed = 0
  for (const [bucket, jobs] of sorted) {
    passed += jobs
    if (passed >= rank) return middleOf(bucket)
  }
  return 0
}

function middleOf(bucket: number): number {
  if (bucket === 0) return 0.5
  const eighths = 8 + ((bucket - 1) % 8)
  return (eighths + 0.5) * 2 ** (Math.floor((bucket - 1) / 8) - 3)
}
