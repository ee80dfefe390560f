// Values as they are shown: from Redis, and from SQL if Redis lacks them.

import { get, type InspectAnswer, inspect } from '../generated/counters.ts'
import { UnknownCounterError } from './errors.ts'
import { loadMany, loadOne } from './load.ts'
import { byPartition, inPages, noteEpoch, type CountersPartition, type CountersSource } from './source.ts'
import { type CounterValue, toValue } from './value.ts'

interface Wanted {
  readonly id: string
  text: string | null
}

/** In the order of the ids; null for those that neither Redis nor the database has. */
export async function readValues(
  source: CountersSource,
  ids: readonly string[],
): Promise<(CounterValue | null)[]> {
  const wanted = ids.map((id): Wanted => ({ id, text: null }))
  const reads = [...byPartition(source, wanted)].flatMap(([partition, all]) =>
    inPages(all).map((page) => readPage(source, partition, page)),
  )
  await Promise.all(reads)
  return wanted.map(({ text }) => (text === null ? null : toValue(text)))
}

async function readPage(
  source: CountersSource,
  partition: CountersPartition,
  page: readonly Wanted[],
): Promise<void> {
  const known = partition.epoch
  const { epoch, values } = await partition.unit.run(get, { ids: page.map(({ id }) => id) })
  noteEpoch(source, partition, epoch, known)
  for (const [at, each] of page.entries()) each.text = values[at] ?? null
  await loadAbsent(source, partition, page)
}

async function loadAbsent(
  source: CountersSource,
  partition: CountersPartition,
  page: readonly Wanted[],
): Promise<void> {
  const absent = page.filter(({ text }) => text === null)
  await Promise.all(
    absent.map(async (each) => {
      each.text = await loadOne(source, partition, each.id).catch((error: unknown) => {
        if (error instanceof UnknownCounterError) return null
        throw error
      })
    }),
  )
}

/** Updates values in Redis from SQL and the increments that are not flushed. */
export async function reconcileValues(
  source: CountersSource,
  ids: readonly string[],
  by: number,
): Promise<void> {
  const groups = byPartition(
    source,
    ids.map((id): Wanted => ({ id, text: null })),
  )
  await Promise.all(
    [...groups].map(async ([partition, all]) => {
      for (const page of inPages(all)) {
        await loadMany(
          source,
          partition,
          page.map(({ id }) => id),
          by,
          true,
        )
      }
    }),
  )
}

export interface CountersInspection {
  /** Values that are in Redis now. */
  readonly values: number
  /** Counters with increments that are not in the database yet, each once. */
  readonly dirty: number
  /** Age of the oldest of those increments in milliseconds; null if there are none. */
  readonly lagMs: number | null
  readonly partitions: readonly CountersPartitionInspection[]
}

export interface CountersPartitionInspection {
  readonly epoch: number
  readonly seq: number
  /** The batch that is on its way into the database; null if there is none. */
  readonly batch: { readonly id: string; readonly counters: number; readonly ageMs: number } | null
  /** Counters with increments that are not sealed yet. */
  readonly pending: number
  readonly values: number
}

export async function inspectPartitions(source: CountersSource): Promise<CountersInspection> {
  const looking = Promise.all(source.partitions.map(({ unit }) => unit.run(inspect, {})))
  const [seen] = await Promise.all([looking, source.number.check()])
  const sum = (of: (each: InspectAnswer) => number): number =>
    seen.reduce((total, each) => total + of(each), 0)
  return {
    values: sum(({ values }) => values),
    dirty: sum(({ dirty }) => dirty),
    lagMs: longest(seen.map(lagOf)),
    partitions: seen.map(({ epoch, seq, batch, values, pending, rest, sealed, sealedMs, nowMs }) => ({
      epoch,
      seq,
      batch: batch === '' ? null : { id: batch, counters: sealed, ageMs: Math.max(0, nowMs - sealedMs) },
      pending: pending + rest,
      values,
    })),
  }
}

function lagOf({ nowMs, pendingMs, restMs, sealedMs }: InspectAnswer): number | null {
  const oldest = sealedMs || restMs || pendingMs
  return oldest > 0 ? Math.max(0, nowMs - oldest) : null
}

function longest(lags: readonly (number | null)[]): number | null {
  const known = lags.filter((lag) => lag !== null)
  return known.length === 0 ? null : Math.max(...known)
}
