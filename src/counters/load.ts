// Values that are not in Redis are read from SQL together with the ledger, in one snapshot, and added to the increments
// that are not flushed. So they are right even while a flush is half done. The ledger numbers batches within an epoch,
// which a process leaves for a new one if SQL or Redis came back with an old copy, or Redis has lost everything.

import { batchNameOf } from './batch-name.ts'
import { begin, inspect, load } from '../generated/counters.ts'
import type { BatchTerms } from '../runtime/calls/batcher.ts'
import { AmbiguousError, DriverError, type InvalidArgumentError } from '../runtime/errors/errors.ts'
import { rest } from '../runtime/time/in-time.ts'
import { OverflowError, SinkError, UnknownCounterError } from './errors.ts'
import { elsewhere } from './place.ts'
import type { LedgerEnd, LedgerPlace, LedgerStanding } from './sink.ts'
import { sinkInTime } from './sink-calls.ts'
import {
  apartFromInvalid,
  enterEpoch,
  type Loss,
  MAX_A_CALL,
  noteEpoch,
  type CountersPartition,
  type CountersSource,
} from './source.ts'

const BATCHES: BatchTerms = {
  name: 'a load of counters',
  items: MAX_A_CALL,
  bytes: 1024 * 1024,
  underWay: 1,
  waiting: 100_000,
}

const FIRST_PAUSE_MS = 2
const LONGEST_PAUSE_MS = 200

/** The newest batch of an epoch that must be in SQL. */
interface Flushed {
  readonly epoch: number
  readonly seq: number
}

type Loaded = string | UnknownCounterError | OverflowError | InvalidArgumentError

/**
 * Loads a counter into Redis and returns its value as text. Throws UnknownCounterError, OverflowError, SinkError,
 * DriverError.
 */
export async function loadOne(
  source: CountersSource,
  partition: CountersPartition,
  id: string,
): Promise<string> {
  const { runtime } = source
  const batcher = runtime.batcher<string, Loaded>(
    batchNameOf(`${partition.unit.prefix} load`, source.sink),
    BATCHES,
    (ids, by) => apartFromInvalid(ids, (some) => loadMany(source, partition, some, by)),
  )
  const value = await batcher.addOne(id, id.length)
  if (typeof value !== 'string') throw value
  return value
}

/** Loads counters, in the order of the ids. With `isRefresh` values that are already in Redis are updated, too. */
export async function loadMany(
  source: CountersSource,
  partition: CountersPartition,
  ids: readonly string[],
  by: number,
  isRefresh = false,
): Promise<Loaded[]> {
  const { sink, terms, runtime } = source
  const { deadlines } = runtime.runner
  let flushed: Flushed = { epoch: 0, seq: 0 }
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const epoch = await epochOf(source, partition, by)
    // A value is in Redis only after a load that checked this partition count: so a wrong count is rejected here.
    if (partition.agreedEpoch !== epoch) {
      await source.number.ensure(by)
      partition.agreedEpoch = epoch
    }
    const place = { counters: source.ledgerName, partition: partition.at, epoch }
    const { seq, values, isPast = false } = await sinkInTime(sink.read(place, ids), by, deadlines)
    // A batch that Redis knew as flushed before SQL was read must be in the ledger; if not, SQL came back with an old
    // copy.
    const isOld = (at: number | null): boolean => at === null || (epoch === flushed.epoch && at < flushed.seq)
    if (seq === null || isOld(seq)) {
      const stands = await standingOf(source, place, { seq, isPast }, by)
      if (isOld(stands.seq)) await beginEpoch(source, partition, epoch, stands.isPast ? 'nothing' : 'all', by)
      // The next attempt after the pause takes time, too, and would end as a timeout instead.
      else if (performance.now() + 2 * pauseMs > by) throw lagging(source)
      else await rest(pauseMs, deadlines)
      continue
    }
    const known = ids.filter((id) => values.has(id) || sink.missing === 'create')
    const counters = known.map((id) => ({ id, value: String(values.get(id) ?? 0n) }))
    const answer = await partition.unit.run(load, {
      epoch,
      seq,
      retainMs: terms.retainMs,
      anew: isRefresh,
      counters,
    })
    if (answer.status === 'loaded') return inOrder(ids, known, answer.values)
    // Redis has come back with an old copy: its increments may already be in SQL.
    if (answer.status === 'behind') await beginEpoch(source, partition, epoch, 'nothing', by)
    else {
      noteEpoch(source, partition, answer.epoch, epoch)
      flushed = answer
    }
    if (performance.now() + pauseMs > by)
      throw new DriverError('busy', 'flushes changed the counters during each attempt to load them')
    await rest(pauseMs, deadlines)
  }
}

/** The read may be from a lagging replica. Leaving an epoch for that would count a sealed and committed batch twice. */
async function standingOf(
  { sink, runtime }: CountersSource,
  place: LedgerPlace,
  read: LedgerStanding,
  by: number,
): Promise<LedgerStanding> {
  if (sink.standing === undefined) return read
  return sinkInTime(sink.standing(place), by, runtime.runner.deadlines)
}

function lagging({ sink }: CountersSource): SinkError {
  return new SinkError('sink-busy', `${sink.name}: reads lag behind writes`)
}

function inOrder(
  ids: readonly string[],
  known: readonly string[],
  values: readonly (string | null)[],
): Loaded[] {
  const found = new Map(known.map((id, at) => [id, values[at] ?? new OverflowError(id)]))
  return ids.map((id) => found.get(id) ?? new UnknownCounterError(id))
}

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
  else if (await isOver(source, partition, known, batch)) return
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

/**
 * Whether Redis has left the epoch, or no longer has this batch sealed. A process that was only slow must not close the
 * ledger of an epoch in which the others go on.
 */
async function isOver(
  source: CountersSource,
  partition: CountersPartition,
  known: number,
  batch: string,
): Promise<boolean> {
  const seen = await partition.unit.run(inspect, {})
  noteEpoch(source, partition, seen.epoch, known)
  return seen.epoch !== known || (batch !== '' && seen.batch !== batch)
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
