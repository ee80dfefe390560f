// How long jobs waited or ran: how many in each bucket, eight buckets to a doubling. See shared/queue/statistics.

/** Of some jobs, how long they waited or ran, in milliseconds. A percentile is at most 6.25 % off, or half a millisecond. */
export interface Spread {
  readonly count: number
  /** Exact, as is `maxMs`; 0 where there was none. */
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
