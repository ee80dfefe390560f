// The common exports of `perilune` and `perilune/counters`.

export type { DatabaseCountersOptions } from './board.ts'
export type {
  Backlog,
  Counts,
  CountSource,
  EventSource,
  OutboxEntry,
  OutboxSource,
  RolledUp,
  RollUp,
} from './count-source.ts'
export {
  Counters,
  type CountersOptions,
  type IncrementItem,
  type IncrementOptions,
} from './counters.ts'
export {
  RowCounters,
  type RowCountersOptions,
  DatabaseCounters,
  type DatabaseCountersInspection,
} from './database-counters.ts'
export {
  BacklogError,
  OverflowError,
  SinkError,
  type SinkErrorCode,
  UnknownCounterError,
} from './errors.ts'
export type { Flushing } from './flush-loop.ts'
export type { Flushed } from './flush.ts'
export type { Counted } from './increment.ts'
export { type Addition, OutboxCounters, type OutboxCountersOptions } from './outbox-counters.ts'
export type { CountersInspection, CountersPartitionInspection } from './read.ts'
export { type RefusedCount, RefusedError } from './refusals.ts'
export type { RolledRows } from './rounds.ts'
export type {
  Applied,
  AppliedInPart,
  Batch,
  Change,
  LedgerPlace,
  Refusal,
  Refusals,
  Sink,
  Snapshot,
} from './sink.ts'
export type { Loss } from './source.ts'
export type { CounterValue } from './value.ts'
