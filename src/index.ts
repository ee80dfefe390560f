// What the library is made of: a table of contents.

export { Perilune, perilune } from './perilune.ts'
export {
  type Added,
  type AddOptions,
  Autocomplete,
  type AutocompleteInspection,
  type AutocompleteOptions,
  fold,
  type NewEntry,
  type SuggestOptions,
  type Suggestion,
} from './autocomplete/autocomplete.ts'
export {
  Cache,
  type CacheEvent,
  type CacheHooks,
  type CacheInspection,
  type CacheOptions,
  type EndLoadOptions,
  type FoundValue,
  type Freshness,
  type GetOptions,
  type InProcessOptions,
  type Invalidated,
  type Kept,
  type LendLoadOptions,
  type LentLoad,
  type LevelInspection,
  LoadContext,
  type Loader,
  type ManyContext,
  type ManyLoader,
  type SetOptions,
  type WasSet,
} from './cache/cache.ts'
export { Catalog, type CatalogEntry, type Listing, type ListOptions } from './catalog/catalog.ts'
export {
  type AddedItems,
  Collection,
  type CollectionBounds,
  CollectionHash,
  type CollectionInspection,
  CollectionList,
  type CollectionOptions,
  type CollectionPage,
  type CollectionRead,
  type CollectionReadOptions,
  CollectionSet,
  CollectionSortedSet,
  type HashItem,
  type Kind as CollectionKind,
  type RemovedItems,
  type Replaced,
  type ReplaceOptions,
  type SortedSetItem,
  type UndecodableItem,
} from './collection/collection.ts'
export type { CollectionOptionsOf, CollectionsByKind } from './collection/open.ts'
export type { ShownOptions } from './counters/board.ts'
export type {
  Backlog,
  Counts,
  CountSource,
  EventSource,
  OutboxEntry,
  OutboxSource,
  RolledUp,
  RollUp,
} from './counters/count-source.ts'
export {
  Counters,
  type CountersOptions,
  type IncrementItem,
  type IncrementOptions,
} from './counters/counters.ts'
export {
  DerivedCounters,
  type DerivedCountersOptions,
  ShownCounters,
  type ShownInspection,
} from './counters/derived.ts'
export { type Addition, DurableCounters, type DurableCountersOptions } from './counters/durable.ts'
export {
  BacklogError,
  OverflowError,
  type RefusedCount,
  RefusedError,
  SinkError,
  type SinkErrorCode,
  UnknownCounterError,
} from './counters/errors.ts'
export type { Flushing } from './counters/flush-loop.ts'
export type { Flushed } from './counters/flushing.ts'
export type { Counted } from './counters/incrementing.ts'
export type { CountersInspection, CountersPartitionInspection } from './counters/reading.ts'
export type { RolledRows } from './counters/showing.ts'
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
} from './counters/sink.ts'
export type { Loss } from './counters/source.ts'
export type { CounterValue } from './counters/value.ts'
export type { Driver } from './driver.ts'
export type { Appended } from './feed/appending.ts'
export { Claim, type ExtendOptions, type Refused } from './feed/claim.ts'
export type { ClaimOptions } from './feed/claiming.ts'
export { Feed, type FeedOptions, type Keep, type Removed, type RemoveOptions } from './feed/feed.ts'
export type { FeedInspection } from './feed/inspection.ts'
export type { FoundMessages, Message, UndecodableMessage } from './feed/message.ts'
export type { AppendOptions, NewMessage } from './feed/outgoing.ts'
export type {
  NewPartitionedMessage,
  PartitionedAppended,
  PartitionedAppendOptions,
} from './feed/partition-appending.ts'
export { PartitionClaim } from './feed/partition-claim.ts'
export type { PartitionedInspection, PartitionInspection } from './feed/partition-inspection.ts'
export type {
  FoundPartitionedMessages,
  PartitionedMessage,
  UndecodablePartitionedMessage,
} from './feed/partition-message.ts'
export type { PartitionedPage, PartitionedReadOptions } from './feed/partition-reading.ts'
export { PartitionedSubscriber } from './feed/partition-subscriber.ts'
export type { PartitionedTailOptions, TailedPartitionedMessage } from './feed/partition-tail.ts'
export { PartitionedFeed, type PartitionedFeedOptions } from './feed/partitioned.ts'
export type { Page, ReadOptions } from './feed/reading.ts'
export type {
  ClaimLease,
  ClaimMessages,
  ExtendedClaims,
  PartitionClaimLease,
  SettledAck,
  SettledClaim,
  SettlingClaims,
} from './feed/settling-by-token.ts'
export { type AdvanceOptions, Subscriber, type SubscriberOptions } from './feed/subscriber.ts'
export type { TailedMessage, TailOptions } from './feed/tail.ts'
export { Campaign, type CampaignOptions, Election, type ElectionOptions, type Term } from './lock/election.ts'
export { Fenced, type FencedOptions } from './lock/fenced.ts'
export type { LockInspection } from './lock/inspection.ts'
export { type AcquireOptions, Lock, LockAccess, type LockOptions } from './lock/lock.ts'
export { LockSet, type SetLease } from './lock/lock-set.ts'
export {
  Attempt,
  type BeginOptions,
  type Begun,
  type Completed,
  type Found,
  fingerprintOf,
  type LendOptions,
  type LentAttempt,
  Once,
  type OnceInspection,
  type OnceOptions,
  type RunOptions,
  type Task,
  type TaskContext,
} from './once/once.ts'
export type { Advanced, NextJob } from './queue/claims/outcomes.ts'
export type { JobEnd } from './queue/jobs/job-end.ts'
export type { BackoffFunction, Backoffs } from './queue/worker/attempts.ts'
export {
  type BatchContext,
  type BatchFunction,
  BatchHandler,
  type BatchOptions,
  batch,
} from './queue/worker/batch.ts'
export { ClaimedJob } from './queue/claims/claimed-job.ts'
export type { BuryOptions, ReleaseOptions, RetryOptions } from './queue/claims/outcomes.ts'
export type { Enqueued } from './queue/jobs/enqueuer.ts'
export type { EventOptions, JobEvent, JobEventKind, QueueEvent, QueueWideEvent } from './queue/events.ts'
export type { LossReason } from './queue/jobs/attempt.ts'
export type { Handler, Handlers } from './queue/worker/attempts.ts'
export type { QueueHooks } from './queue/preparer.ts'
export type {
  FoundJob,
  FoundPage,
  Happening,
  HistoryEntry,
  Job,
  JobHistory,
  JobState,
  LogLine,
} from './queue/jobs/job.ts'
export type { Backoff, JobOptions, Unique } from './queue/jobs/job-options.ts'
export type { Jobs as PartitionedJobs } from './queue/jobs/jobs.ts'
export type {
  Failures,
  JobListOptions,
  JobPage,
  RequeueOutcome,
  SearchOptions,
  StateListOptions,
} from './queue/jobs/unit-jobs.ts'
export type { LentJob, LentJobs } from './queue/detached/lent-jobs.ts'
export type {
  IfParentFails,
  Parent,
  ParentId,
  ParentState,
  ParentsChanged,
  ParentsPage,
  ParentsPageOptions,
} from './queue/jobs/parents.ts'
export type { NewJob } from './queue/preparer.ts'
// A claim of a feed has options of its own.
export type { JobClaimOptions as QueueClaimOptions } from './queue/claims/claims.ts'
export { PartitionedQueue, type PartitionedQueueOptions, Queue, type QueueOptions } from './queue/queue.ts'
export type {
  CronRecurrence,
  CronRule,
  IntervalRecurrence,
  IntervalRule,
  MissedRuns,
  Recurrence,
  RecurrenceRule,
} from './queue/recurring/recurrence.ts'
export {
  Recurring,
  type Recurring as PartitionedRecurring,
  type RecurringBounds,
  type RecurringJob,
  type RecurringJobOptions,
  type RecurringOptions,
  type RecurringPage,
} from './queue/recurring/recurring-jobs.ts'
export type { GivenBy, Issue, MadeBy, Schema, SchemasByName, Validated } from './queue/source/schemas.ts'
export type {
  GroupInspection,
  PartitionedQueueInspection,
  QueueInspection,
  QueueSettings,
  Rate,
  Settings as PartitionedSettings,
  Throttle,
} from './queue/settings.ts'
export type {
  AckedJob,
  AdvancedJob,
  BuriedJob,
  ExtendedJobs,
  JobLease,
  ReleasedJob,
  RetriedJob,
  Settled,
  SettledAdvance,
  SettlingByToken,
} from './queue/detached/settling-by-token.ts'
export type { Spread, Stats, StatsCounts, StatsOptions, StatsPeriod } from './queue/stats.ts'
export type { TagCount } from './queue/jobs/tags.ts'
export type { UndecodablePart } from './queue/source/job-parts.ts'
export { Worker, type WorkOptions } from './queue/worker/worker.ts'
export type {
  Allowed,
  Decision,
  Denied,
  LimitState,
  Outage,
  SubjectInspection,
} from './rate-limit/decision.ts'
export {
  type RateLimitHeaderOptions,
  type RateLimitHeaders,
  rateLimitHeaders,
} from './rate-limit/headers.ts'
export type {
  Algorithm,
  ConcurrencyLimit,
  GcraLimit,
  Limit,
  SlidingWindowLimit,
} from './rate-limit/limits.ts'
export type { OnOutage } from './rate-limit/outage.ts'
export {
  type OutageOptions,
  RateLimit,
  type RateLimitOptions,
  type RefundOptions,
  type TakeOptions,
} from './rate-limit/rate-limit.ts'
export { bytes, type Codec, json, jsonText, text, type Undecodable } from './runtime/values/codec.ts'
export type { Connection, ConnectionOptions, StructureScripts } from './runtime/connection/connection.ts'
export type { Duration } from './runtime/values/duration.ts'
export {
  AmbiguousError,
  DriverError,
  type DriverErrorCode,
  InvalidArgumentError,
  LeaseLostError,
  LoadFailedError,
  MaxRunError,
  PeriluneError,
  ResultNotKeptError,
  UnsupportedServerError,
  WaitTimeoutError,
} from './runtime/errors/errors.ts'
export type { Lease } from './runtime/leases/lease.ts'
export type { Extended } from './runtime/leases/lease-by-token.ts'
export type { Lent, NotLent } from './runtime/leases/lending.ts'
export type { Waiting } from './runtime/waiting/wait.ts'
export type { SemaphoreInspection } from './semaphore/inspection.ts'
export { type PermitOptions, Semaphore, type SemaphoreOptions } from './semaphore/semaphore.ts'
