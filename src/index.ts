// What the library is made of: a table of contents.

export { Perilune, perilune } from './perilune.ts'
export * from './autocomplete/autocomplete.ts'
export * from './cache/cache.ts'
export { Catalog, type CatalogEntry, type Listing, type ListOptions } from './catalog/catalog.ts'
export * from './collection/names.ts'
export * from './counters/names.ts'
export type { Driver } from './driver.ts'
export * from './feed/names.ts'
export * from './lock/names.ts'
export * from './once/once.ts'
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
export type { Lent, NotLent } from './runtime/leases/lend.ts'
export type { Waiting } from './runtime/waiting/wait.ts'
export * from './semaphore/names.ts'
