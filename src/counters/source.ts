// The state shared by all calls on counters: their partitions, their sink, and how long values stay.

import { checkText } from '../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { rest } from '../runtime/time/in-time.ts'
import { notifying } from '../runtime/errors/notify.ts'
import { partitionOf } from '../runtime/partitions/partition-hash.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { Unit } from '../runtime/connection/unit.ts'
import { CountersPlace, PlacedBatches, PlacedNumber } from './place.ts'
import type { OneAtATime } from './sink-calls.ts'
import type { Sink } from './sink.ts'

export interface CountersTerms {
  readonly partitions: number
  /** How long a value stays after its last increment was flushed, in milliseconds; 0: forever. */
  readonly retainMs: number
  /** How long idempotency keys are remembered, in milliseconds. */
  readonly idempotencyTtlMs: number
  /** Per partition; 0: no limit. */
  readonly mostDirty: number
  /** Largest number of counters in a batch. */
  readonly batchSize: number
  /** How long a sealed batch waits until Redis cannot lose it any more, in milliseconds; 0: it is safe at once. */
  readonly settleMs: number
}

/** Increments that are lost, or of which it is unknown whether they are in SQL. */
export interface Loss {
  readonly partition: number
  /** How many counters have lost increments; null if unknown. */
  readonly counters: number | null
  readonly why: 'keyspace lost' | 'old copy of Redis'
}

/** One partition: its counters share a slot and a line in the ledger. */
export interface CountersPartition {
  readonly at: number
  readonly unit: Unit
  /** The epoch that this process saw last; 0 if none. */
  epoch: number
  /** The epoch in which the partition count was checked. A clear, which allows another count, ends it. */
  agreedEpoch: number
  /** Whether the absence of an epoch was reported, or is intended. */
  isReported: boolean
  /** The epoch that this process tried to begin last, if it got no answer, and the loss that this would cause. */
  doubt: { readonly epoch: number; readonly loss: Loss | null } | null
  /** Serialises the batches of this process. */
  readonly applying: OneAtATime
}

export interface CountersSource {
  readonly runtime: Runtime
  readonly name: string
  /** Name of the counters in the ledger. */
  readonly ledgerName: string
  readonly sink: Sink
  readonly terms: CountersTerms
  readonly partitions: readonly CountersPartition[]
  /** The partition count and the place in SQL, which all processes must agree on. */
  readonly number: PlacedNumber
  /** Resolves once a restart of Redis keeps the data that it had at the call. Null: Redis keeps everything at once. */
  readonly settle: ((signal?: AbortSignal) => Promise<void>) | null
  readonly onLoss: (loss: Loss) => void
}

export const MAX_A_CALL = 1000
const MAX_ID_BYTES = 255

export function openSource(
  runtime: Runtime,
  name: string,
  sink: Sink,
  terms: CountersTerms,
  onLoss: ((loss: Loss) => void) | undefined,
): CountersSource {
  const { deadlines } = runtime.runner
  const units = Array.from({ length: terms.partitions }, (_, at) => {
    return new Unit(runtime, { structure: 'counters', name, unit: String(at), since: '6.2.0' })
  })
  const alone = new Unit(runtime, { structure: 'counters', name, since: '6.2.0' })
  const place = new CountersPlace(name, alone, units, sink)
  const partitions = units.map((unit, at): CountersPartition => {
    const applying = new PlacedBatches(place, () => partitions[at]?.epoch ?? 0, deadlines)
    return { at, unit, epoch: 0, agreedEpoch: 0, isReported: false, doubt: null, applying }
  })
  const { settleMs } = terms
  const settle: CountersSource['settle'] =
    settleMs === 0 ? null : (signal) => rest(settleMs, deadlines, signal)
  return {
    runtime,
    name,
    ledgerName: `${runtime.namespace}:${name}`,
    sink,
    terms,
    partitions,
    number: new PlacedNumber(alone, terms.partitions, place),
    settle,
    onLoss: notifying('onLoss', onLoss),
  }
}

export function partitionFor<Each>(
  { partitions }: { readonly partitions: readonly Each[] },
  id: string,
): Each {
  if (partitions.length === 1) return partitions[0] as Each
  return partitions[partitionOf(id, partitions.length, 'id')] as Each
}

/** Throws InvalidArgumentError. */
export function checkId(argument: string, id: unknown): string {
  return checkText(
    argument,
    typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : id,
    MAX_ID_BYTES,
  )
}

/** Throws InvalidArgumentError. */
export function checkIds(ids: readonly (string | number)[]): string[] {
  if (!Array.isArray(ids)) throw new InvalidArgumentError('ids', 'must be an array')
  return ids.map((id, at) => checkId(`ids[${at}]`, id))
}

export function checkSink(sink: unknown): Sink {
  if (typeof (sink as Sink | undefined)?.apply !== 'function') {
    throw new InvalidArgumentError('sink', "must be a sink, such as sqlite(database, { table: 'items' })")
  }
  return sink as Sink
}

/** The items by partition, each with its original position. */
export function byPartition<Each, Item extends { readonly id: string }>(
  source: { readonly partitions: readonly Each[] },
  items: readonly Item[],
): Map<Each, Item[]> {
  const groups = new Map<Each, Item[]>()
  for (const item of items) {
    const partition = partitionFor(source, item.id)
    const group = groups.get(partition)
    if (group === undefined) groups.set(partition, [item])
    else group.push(item)
  }
  return groups
}

/** Pages of as many items as one script call accepts. */
export function inPages<Item>(items: readonly Item[]): Item[][] {
  const pages = Math.ceil(items.length / MAX_A_CALL)
  return Array.from({ length: pages }, (_, at) => items.slice(at * MAX_A_CALL, (at + 1) * MAX_A_CALL))
}

/** Runs work on these ids. An id that the column cannot hold fails alone; the others stay together. */
export async function apartFromInvalid<Result>(
  ids: readonly string[],
  work: (ids: readonly string[]) => Promise<Result[]>,
): Promise<(Result | InvalidArgumentError)[]> {
  try {
    return await work(ids)
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    if (ids.length === 1) return [error]
  }
  const half = Math.ceil(ids.length / 2)
  const halves = [ids.slice(0, half), ids.slice(half)]
  return (await Promise.all(halves.map((some) => apartFromInvalid(some, work)))).flat()
}

/** An epoch that had begun before the call (`asked`) and is missing in its answer was lost with all its data. */
export function noteEpoch(
  source: CountersSource,
  partition: CountersPartition,
  epoch: number,
  asked: number,
): void {
  // Another answer has brought a newer epoch.
  if (partition.epoch !== asked || epoch === asked) return
  if (epoch > 0) return enterEpoch(source, partition, epoch)
  partition.epoch = 0
  partition.isReported = true
  source.onLoss({ partition: partition.at, counters: null, why: 'keyspace lost' })
}

/** Enters another epoch than before. The process that began it reports the loss, even if it learns late that it did. */
export function enterEpoch(source: CountersSource, partition: CountersPartition, epoch: number): void {
  const { doubt } = partition
  // It may have begun after a clear: what was compared before that says nothing about it.
  source.number.place.forget()
  partition.epoch = epoch
  partition.isReported = false
  partition.doubt = null
  if (doubt?.epoch === epoch && doubt.loss !== null) source.onLoss(doubt.loss)
}

/** The partition was cleared: its data is lost on purpose, and not reported. */
export function forgetEpoch(partition: CountersPartition): void {
  partition.epoch = 0
  partition.isReported = true
}
