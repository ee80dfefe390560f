// Batches on their way into SQL: sealed, settled, applied with their line in the ledger, acknowledged. Any process may
// repeat any step, so a worker that dies, stalls or runs next to others does no harm.

import { randomUUID } from 'node:crypto'
import { ack, type SealAnswer, seal } from '../generated/counters.ts'
import { ExponentialBackoff } from '../runtime/time/backoff.ts'
import { AmbiguousError } from '../runtime/errors/errors.ts'
import { rest } from '../runtime/time/in-time.ts'
import { beginEpoch } from './load.ts'
import { patiently } from './sink-calls.ts'
import type { KeptRefusals, NoteRefused } from './refusals.ts'
import type { Applied, Batch, Refusal } from './sink.ts'
import { sinkInTime } from './sink-calls.ts'
import { PendingAtStart, type Sealed } from './pending-at-start.ts'
import { enterEpoch, noteEpoch, type CountersPartition, type CountersSource } from './source.ts'

/** What a flush has written to the database. */
export interface Flushed {
  readonly batches: number
  /** Changes of counters in these batches; a counter in two batches counts twice. */
  readonly counters: number
}

export interface FlushLimits {
  /** How long it tries to write one batch to the database, in milliseconds. */
  readonly patienceMs: number
  readonly signal?: AbortSignal | undefined
}

const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 500

/** Flushes all partitions. Throws the first error once all have finished; RefusedError if nothing else failed. */
export async function flushAll(
  source: CountersSource,
  refusals: KeptRefusals,
  signal?: AbortSignal,
): Promise<Flushed> {
  return refusals.reporting(source.sink.name, (note) => flushEach(source, refusals, note, signal))
}

async function flushEach(
  source: CountersSource,
  refusals: KeptRefusals,
  note: NoteRefused,
  signal?: AbortSignal,
): Promise<Flushed> {
  const limits = { patienceMs: source.runtime.runner.deadlineMs, signal }
  // Parallel to the flush: a server that is away then costs one deadline instead of two. Sealed batches are written
  // even if the partition count is wrong.
  const [number, ...all] = await Promise.allSettled([
    source.number.check(),
    ...source.partitions.map((partition) => flushPartition(source, partition, limits, note)),
  ] as const)
  const failed = [number, ...all].find((each) => each.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  const flushed = all.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const batches = flushed.reduce((sum, each) => sum + each.batches, 0)
  if (batches > 0 || refusals.areKept) {
    await refusals.retry(source.sink, source.ledgerName, limits)
  }
  // After an abort the refusals are kept for the next flush to report.
  signal?.throwIfAborted()
  return { batches, counters: flushed.reduce((sum, { counters }) => sum + counters, 0) }
}

/**
 * Flushes the increments pending at its start, and notes the changes that the database refused. Throws SinkError,
 * DriverError, or the reason of the signal.
 */
export async function flushPartition(
  source: CountersSource,
  partition: CountersPartition,
  limits: FlushLimits,
  note: NoteRefused,
): Promise<Flushed> {
  let [batches, counters] = [0, 0]
  const pending = new PendingAtStart(partition)
  for (;;) {
    const sealed = await sealSettled(source, partition, limits, pending)
    if (sealed === null) return { batches, counters }
    const left = await commit(source, partition, sealed, limits)
    if (left === null) continue
    note(left)
    batches += 1
    counters += sealed.counters.length - left.length
  }
}

/** A sealed batch that Redis cannot lose any more; null if nothing is pending, or only what is later. */
async function sealSettled(
  source: CountersSource,
  partition: CountersPartition,
  limits: FlushLimits,
  pending: PendingAtStart,
): Promise<Sealed | null> {
  const { settle, terms } = source
  for (let known = ''; ; ) {
    limits.signal?.throwIfAborted()
    const before = partition.epoch
    const answer = await sealOnce(partition, terms.batchSize, limits)
    if (answer.status === 'nothing') return null
    if (answer.status === 'unknown') {
      noteEpoch(source, partition, 0, before)
      await beginEpoch(source, partition, 0, 'pending', performance.now() + limits.patienceMs)
      continue
    }
    if (answer.epoch !== partition.epoch) enterEpoch(source, partition, answer.epoch)
    // If the batch is still there after two fsync periods, it was written to disk, even if Redis restarted in between.
    if (answer.batch === known) return answer
    if (!(await pending.includes(answer))) return null
    if (settle === null) return answer
    known = answer.batch
    await settle(limits.signal)
  }
}

/** The sealed batch. A batch id is never sent twice: after a restart a second send could name another batch. */
async function sealOnce(
  partition: CountersPartition,
  limit: number,
  { patienceMs, signal }: FlushLimits,
): Promise<SealAnswer> {
  const by = performance.now() + patienceMs
  const backoff = new ExponentialBackoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS)
  for (;;) {
    try {
      return await partition.unit.run(seal, { batch: randomUUID(), limit }, { runsOnce: true })
    } catch (error) {
      if (!(error instanceof AmbiguousError) || performance.now() > by) throw error
    }
    await rest(backoff.next(), partition.unit.runtime.runner.deadlines, signal)
  }
}

/**
 * The changes of the batch that the database refused; null if the batch belonged to a ledger that is no longer in use.
 */
async function commit(
  source: CountersSource,
  partition: CountersPartition,
  sealed: Sealed,
  limits: FlushLimits,
): Promise<readonly Refusal[] | null> {
  const { epoch, seq, batch } = sealed
  const changes = sealed.counters
    .map(({ id, delta }) => ({ id, delta: BigInt(delta) }))
    // Sorted by key: other writers that use the same order then wait and do not deadlock.
    .toSorted((left, right) => (left.id < right.id ? -1 : 1))
  const place = { counters: source.ledgerName, partition: partition.at, epoch }
  const asked = { ...place, seq, batch, changes }
  const { sink, runtime } = source
  const applied = await patiently(
    (by) => partition.applying.run(() => sink.apply(asked), by),
    limits.patienceMs,
    runtime.runner.deadlines,
    limits.signal,
  )
  if (applied === 'ahead' || applied === 'behind') {
    const keep = applied === 'ahead' ? 'nothing' : 'all'
    await beginEpoch(source, partition, epoch, keep, performance.now() + limits.patienceMs, batch)
    return null
  }
  // The worker that applied the batch did not report what was refused.
  const left = typeof applied === 'string' ? await keptOf(source, asked, applied) : applied.refused
  await partition.unit.run(ack, { epoch, seq, batch, retainMs: source.terms.retainMs })
  return left
}

async function keptOf(
  { sink, ledgerName, runtime }: CountersSource,
  { changes }: Batch,
  applied: Applied,
): Promise<readonly Refusal[]> {
  if (applied !== 'known' || sink.refused === undefined) return []
  const by = performance.now() + runtime.runner.deadlineMs
  const kept = await sinkInTime(sink.refused(ledgerName), by, runtime.runner.deadlines)
  const ids = new Set(changes.map(({ id }) => id))
  return kept.filter(({ id }) => ids.has(id))
}
