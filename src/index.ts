// What the library is made of: a table of contents.

export { Perilune, perilune } from './perilune.ts'
export * from './autocomplete/autocomplete.ts'
export * from './cache/cache.ts'
export { Catalog, type CatalogEntry, type Listing, type ListOptions } from './catalog/catalog.ts'
export * from './collection/names.ts'
export * from './counters/names.ts'
export type { Driver } from './driver.ts'
export type { Appended } from './feed/appender.ts'
export type { Removed, RemoveOptions } from './feed/by-id.ts'
export { Claim, PartitionClaim } from './feed/claim.ts'
export type {
  ClaimLease,
  ClaimMessages,
  ExtendedClaims,
  ExtendOptions,
  PartitionClaimLease,
  Refused,
  SettledAck,
  SettledClaim,
  SettlingClaims,
} from './feed/claim-by-token.ts'
export type { ClaimOptions } from './feed/claims.ts'
export { Feed } from './feed/feed.ts'
export type { FeedOptions, Keep } from './feed/feed-options.ts'
export type { FeedInspection, PartitionedInspection, PartitionInspection } from './feed/inspection.ts'
export type {
  FoundMessages,
  FoundPartitionedMessages,
  Message,
  PartitionedMessage,
  UndecodableMessage,
  UndecodablePartitionedMessage,
} from './feed/message.ts'
export type { AppendOptions, NewMessage } from './feed/new-message.ts'
export type { Page, PartitionedPage, PartitionedReadOptions, ReadOptions } from './feed/page.ts'
export { PartitionedFeed, type PartitionedFeedOptions } from './feed/partitioned-feed.ts'
export type { NewPartitionedMessage, PartitionedAppended, PartitionedAppendOptions } from './feed/router.ts'
export {
  type AdvanceOptions,
  PartitionedSubscriber,
  Subscriber,
  type SubscriberOptions,
} from './feed/subscriber.ts'
export type {
  PartitionedTailOptions,
  TailedMessage,
  TailedPartitionedMessage,
  TailOptions,
} from './feed/tail.ts'
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
export type { Advanced, NextJob } from './queue/advancing.ts'
export type { JobEnd } from './queue/awaiting.ts'
export type { BackoffFunction, Backoffs } from './queue/backing-off.ts'
export {
  type BatchContext,
  type BatchFunction,
  BatchHandler,
  type BatchOptions,
  batch,
} from './queue/batching.ts'
export { type BuryOptions, ClaimedJob, type ReleaseOptions, type RetryOptions } from './queue/claimed-job.ts'
export type { Enqueued } from './queue/enqueueing.ts'
export type { EventOptions, JobEvent, JobEventKind, QueueEvent, QueueWideEvent } from './queue/events.ts'
export type { LossReason } from './queue/exchange.ts'
export type { FoundPage } from './queue/finding.ts'
export type { Handler, Handlers } from './queue/handling.ts'
export type { Happening, HistoryEntry, JobHistory } from './queue/history.ts'
export type { QueueHooks } from './queue/hooks.ts'
export type { FoundJob, Job, JobState, LogLine } from './queue/job.ts'
export type { Backoff, JobOptions, Unique } from './queue/job-options.ts'
export type {
  Failures,
  JobListOptions,
  JobPage,
  ParentsChanged,
  RequeueOutcome,
  SearchOptions,
  StateListOptions,
} from './queue/jobs.ts'
export type { LentJob, LentJobs } from './queue/lending.ts'
export type { IfParentFails, Parent, ParentId, ParentState } from './queue/parents.ts'
export type { ParentsPage, ParentsPageOptions } from './queue/parents-of.ts'
export type { PartitionedJobs } from './queue/partition-jobs.ts'
export type { PartitionedRecurring } from './queue/partition-recurring.ts'
export type { PartitionedQueueInspection, PartitionedSettings } from './queue/partition-settings.ts'
export { PartitionedQueue, type PartitionedQueueOptions } from './queue/partitioned.ts'
export type { NewJob } from './queue/preparing.ts'
// A claim of a feed has options of its own.
export {
  type ClaimOptions as QueueClaimOptions,
  Queue,
  type QueueOptions,
} from './queue/queue.ts'
export type {
  CronRecurrence,
  CronRule,
  IntervalRecurrence,
  IntervalRule,
  MissedRuns,
  Recurrence,
  RecurrenceRule,
} from './queue/recurrence.ts'
export {
  Recurring,
  type RecurringBounds,
  type RecurringJob,
  type RecurringJobOptions,
  type RecurringOptions,
  type RecurringPage,
} from './queue/recurring.ts'
export type { GivenBy, Issue, MadeBy, Schema, SchemasByName, Validated } from './queue/schemas.ts'
export type {
  GroupInspection,
  QueueInspection,
  QueueSettings,
  Rate,
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
} from './queue/settling-by-token.ts'
export type { Spread } from './queue/spread.ts'
export type { Stats, StatsCounts, StatsOptions, StatsPeriod } from './queue/stats.ts'
export type { TagCount } from './queue/tagging.ts'
export type { UndecodablePart } from './queue/undecodable.ts'
export { Worker, type WorkOptions } from './queue/worker.ts'
export * from './rate-limit/names.ts'
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
export type { Lent, NotLent } from './runtime/leases/lend.ts'
export type { Waiting } from './runtime/waiting/wait.ts'
export * from './semaphore/names.ts'
