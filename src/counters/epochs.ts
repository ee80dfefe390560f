// Epochs of a partition: a ledger in SQL numbers its batches within one. A process leaves an epoch for a new one if SQL or
// Redis came back with an old copy, or Redis has lost everything.

import { begin, inspect } from '../generated/counters.ts'
import { AmbiguousError } from '../runtime/errors/errors.ts'
import { elsewhere } from './place.ts'
import type { LedgerEnd } from './sink.ts'
import { sinkInTime } from './sink-calls.ts'
import { enterEpoch, type Loss, type CountersPartition, type CountersSource } from './source.ts'

/** The epoch of the partition; begins one if there is none. */
export async function epochOf(
  source: CountersSource,
  partition: CountersPartition,
  by: number,
): Promise<number> {
  while (partition.epoch === 0) {
    const { epoch } = await partition.unit.run(inspect, {})
    if (epoch > 0) enterEpoch(source, partition, epoch)
    else await beginEpoch(source, partition, 0, 'pending', by)
  }
  return partition.epoch
}

/**
 * Leaves the epoch `known` for a new one, unless another process has done so, or `batch` is no longer the sealed one.
 */
export async function beginEpoch(
  source: CountersSource,
  partition: CountersPartition,
  known: number,
  keep: 'all' | 'pending' | 'nothing',
  by: number,
  batch = '',
): Promise<void> {
  const { deadlines } = source.runtime.runner
  const { sink, ledgerName } = source
  if (known === 0) await source.number.agree(by)
  const ledger = await sinkInTime(Promise.resolve(sink.location?.() ?? ''), by, deadlines)
  // A batch of the old epoch that is still on its way must not be applied once Redis has counted it again.
  const end = await endOf(source, partition, known, by)
  const ended = { endedSeq: end?.seq ?? -1, endedBatch: end?.batch ?? '' }
  const epoch = await sinkInTime(sink.begin(ledgerName, partition.at, known), by, deadlines)
  const isLoss = known === 0 && !partition.isReported && (await hasBatches(source, partition, by))
  const loss = (lost: number): Loss | null => lossOf(partition, lost > 0 ? lost : isLoss ? null : 0, keep)
  try {
    // If it were sent twice, the second send could reach a restarted Redis without memory of the first, and reuse an
    // epoch that has batches in the ledger.
    const answer = await partition.unit.run(
      begin,
      { epoch, known, batch, keep, ledger, ...ended },
      { runsOnce: true },
    )
    if (answer.status === 'elsewhere') throw elsewhere(source.name, answer.ledger, ledger)
    if (answer.status === 'begun') partition.doubt = { epoch, loss: loss(answer.lost) }
    enterEpoch(source, partition, answer.epoch)
  } catch (error) {
    if (!(error instanceof AmbiguousError)) throw error
    // The epoch of the partition is looked up again; an epoch without users does no harm.
    partition.epoch = 0
    partition.doubt = { epoch, loss: loss(0) }
  }
}

async function endOf(
  { sink, ledgerName, runtime }: CountersSource,
  { at }: CountersPartition,
  epoch: number,
  by: number,
): Promise<LedgerEnd | null> {
  if (epoch === 0) return null
  return sinkInTime(sink.close({ counters: ledgerName, partition: at, epoch }), by, runtime.runner.deadlines)
}

/**
 * Whether SQL has batches of earlier epochs. A partition that was in an epoch, and is in none now, has lost its
 * keyspace.
 */
async function hasBatches(
  { sink, ledgerName, runtime }: CountersSource,
  partition: CountersPartition,
  by: number,
): Promise<boolean> {
  if (sink.hasBatches === undefined) return false
  return sinkInTime(sink.hasBatches(ledgerName, partition.at), by, runtime.runner.deadlines)
}

/** `counters: null` means that the number is unknown. */
function lossOf({ at }: CountersPartition, counters: number | null, keep: string): Loss | null {
  if (counters === 0) return null
  return { partition: at, counters, why: keep === 'pending' ? 'keyspace lost' : 'old copy of Redis' }
}
