// What `perilune` and `perilune/counters` both export.

export type { ShownOptions } from './board.ts'
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
  DerivedCounters,
  type DerivedCountersOptions,
  ShownCounters,
  type ShownInspection,
} from './derived.ts'
export { type Addition, DurableCounters, type DurableCountersOptions } from './durable.ts'
export {
  BacklogError,
  OverflowError,
  type RefusedCount,
  RefusedError,
  SinkError,
  type SinkErrorCode,
  UnknownCounterError,
} from './errors.ts'
export type { Flushing } from './flush-loop.ts'
export type { Flushed } from './flushing.ts'
export type { Counted } from './incrementing.ts'
export type { CountersInspection, CountersPartitionInspection } from './reading.ts'
export type { RolledRows } from './showing.ts'
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
