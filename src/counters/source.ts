// What every call on counters needs: their partitions, the sink behind them, and how long values stay.

import { agree, disband } from '../generated/counters.ts'
import { checkText } from '../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { rest } from '../runtime/time/in-time.ts'
import { notifying } from '../runtime/errors/notify.ts'
import { partitionOf } from '../runtime/partitions/partition-hash.ts'
import { PartitionNumber } from '../runtime/partitions/partition-number.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { Unit } from '../runtime/connection/unit.ts'
import { OneAtATime } from './sink-calls.ts'
import { KeptRefusals } from './refusals.ts'
import type { Sink } from './sink.ts'

export interface CountersTerms {
  readonly partitions: number
  /** How long a value stays after its last increment was flushed; 0: for ever. */
  readonly retainMs: number
  /** How long idempotency keys are remembered. */
  readonly idempotencyTtlMs: number
  /** Of a partition; 0: any number. */
  readonly mostDirty: number
  /** Counters of a batch. */
  readonly batchSize: number
  /** How long a sealed batch is left alone until Redis cannot lose it any more; 0: it cannot at once. */
  readonly settleMs: number
}

/** Increments that are gone, and nobody can tell whether they are in SQL. */
export interface Loss {
  readonly partition: number
  /** How many counters have lost some; null: nobody can tell any more. */
  readonly counters: number | null
  readonly why: 'keyspace lost' | 'old copy of Redis'
}

/** One partition: what shares a slot, and a line in the ledger. */
export interface CountersPartition {
  readonly at: number
  readonly unit: Unit
  /** The epoch that this process saw last; 0: none. */
  epoch: number
  /** The epoch in which the number of partitions was asked after. Whoever clears them and takes another number ends it. */
  agreedEpoch: number
  /** That it is in no epoch was told, or is wanted. */
  isTold: boolean
  /** The epoch that this process tried to begin last, if it got no answer, and what would be lost by that. */
  doubt: { readonly epoch: number; readonly loss: Loss | null } | null
  /** Batches of this process. */
  readonly applying: OneAtATime
}

export interface CountersSource {
  readonly runtime: Runtime
  readonly name: string
  /** What the ledger calls them. */
  readonly ledgerName: string
  readonly sink: Sink
  readonly terms: CountersTerms
  readonly partitions: readonly CountersPartition[]
  /** How many there are, as all have to say it. */
  readonly number: PartitionNumber
  /** Resolves once a restart of Redis keeps what it had at the call. Null: it keeps everything at once. */
  readonly settle: ((signal?: AbortSignal) => Promise<void>) | null
  readonly onLoss: (loss: Loss) => void
  readonly refusals: KeptRefusals
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
  const partitions = Array.from({ length: terms.partitions }, (_, at): CountersPartition => {
    const place = { structure: 'counters', name, unit: String(at), since: '6.2.0' }
    const unit = new Unit(runtime, place)
    const applying = new OneAtATime(runtime.runner.deadlines)
    return { at, unit, epoch: 0, agreedEpoch: 0, isTold: false, doubt: null, applying }
  })
  const alone = new Unit(runtime, { structure: 'counters', name, since: '6.2.0' })
  const { settleMs } = terms
  const settle: CountersSource['settle'] =
    settleMs === 0 ? null : (signal) => rest(settleMs, runtime.runner.deadlines, signal)
  return {
    runtime,
    name,
    ledgerName: `${runtime.namespace}:${name}`,
    sink,
    terms,
    partitions,
    number: new PartitionNumber(alone, terms.partitions, { agree, disband }),
    settle,
    onLoss: notifying('onLoss', onLoss),
    refusals: new KeptRefusals(runtime),
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

/** By partition, with the place that each had. */
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

/** As many a call as a script takes. */
export function inPages<Item>(items: readonly Item[]): Item[][] {
  const pages = Math.ceil(items.length / MAX_A_CALL)
  return Array.from({ length: pages }, (_, at) => items.slice(at * MAX_A_CALL, (at + 1) * MAX_A_CALL))
}

/** What work on these ids brings; an id that the database cannot have fails alone, and those beside it stay together. */
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

/**
 * Notes which epoch the partition is in, as a call was told. One that had begun and is not there any more was lost with all that it
 * had, if the call was sent when it was known (`asked`): an answer may come late, of a time before it began.
 */
export function noteEpoch(
  source: CountersSource,
  partition: CountersPartition,
  epoch: number,
  asked: number,
): void {
  // Another answer has said something newer.
  if (partition.epoch !== asked || epoch === asked) return
  if (epoch > 0) return enterEpoch(source, partition, epoch)
  partition.epoch = 0
  partition.isTold = true
  source.onLoss({ partition: partition.at, counters: null, why: 'keyspace lost' })
}

/** Another one than before. Whoever began it tells what was lost by that, be it when it learns that it did. */
export function enterEpoch({ onLoss }: CountersSource, partition: CountersPartition, epoch: number): void {
  const { doubt } = partition
  partition.epoch = epoch
  partition.isTold = false
  partition.doubt = null
  if (doubt?.epoch === epoch && doubt.loss !== null) onLoss(doubt.loss)
}

/** The partition was cleared: what it had is lost, and nobody need be told. */
export function forgetEpoch(partition: CountersPartition): void {
  partition.epoch = 0
  partition.isTold = true
}
