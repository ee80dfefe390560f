// What `perilune` and `perilune/queue` both export.

export type { AckedAndEnqueued, NextJob } from './claims/outcomes.ts'
export type { JobEnd } from './jobs/job-end.ts'
export type { BackoffFunction, Backoffs } from './worker/attempts.ts'
export {
  type BatchContext,
  type BatchFunction,
  BatchHandler,
  type BatchOptions,
  batch,
} from './worker/batch.ts'
export { ClaimedJob } from './claims/claimed-job.ts'
export type { FailOptions, ReleaseOptions, RetryOptions } from './claims/outcomes.ts'
export type { Enqueued } from './jobs/enqueuer.ts'
export type { EventOptions, JobEvent, JobEventKind, QueueEvent, QueueWideEvent } from './events.ts'
export type { LossReason } from './jobs/attempt.ts'
export type { Handler, Handlers } from './worker/attempts.ts'
export type { QueueHooks } from './preparer.ts'
export type {
  FoundJob,
  FoundPage,
  Happening,
  HistoryEntry,
  Job,
  JobHistory,
  JobState,
  LogLine,
} from './jobs/job.ts'
export type { Backoff, JobOptions, Unique } from './jobs/job-options.ts'
export type { DeadJobs, DeadKind } from './jobs/dead-jobs.ts'
export type { Jobs as PartitionedJobs } from './jobs/jobs.ts'
export type {
  JobListOptions,
  JobPage,
  RequeueOutcome,
  SearchOptions,
  StateListOptions,
} from './jobs/unit-jobs.ts'
export type { DetachedJob, DetachedJobs } from './detached/detached-jobs.ts'
export type {
  OnDependencyFailure,
  Dependency,
  DependencyId,
  DependencyState,
  DependenciesChanged,
  DependenciesPage,
  DependenciesPageOptions,
} from './jobs/dependencies.ts'
export type { NewJob } from './preparer.ts'
export { PartitionedQueue, type PartitionedQueueOptions, Queue, type QueueOptions } from './queue.ts'
export type {
  CronRecurrence,
  CronRule,
  IntervalRecurrence,
  IntervalRule,
  MissedRuns,
  Recurrence,
  RecurrenceRule,
} from './recurring/recurrence.ts'
export {
  Recurring,
  type Recurring as PartitionedRecurring,
  type RecurringBounds,
  type RecurringJob,
  type RecurringJobOptions,
  type RecurringOptions,
  type RecurringPage,
} from './recurring/recurring-jobs.ts'
export type { GivenBy, Issue, MadeBy, Schema, SchemasByName, Validated } from './source/schemas.ts'
export type {
  GroupInspection,
  PartitionedQueueInspection,
  QueueInspection,
  QueueSettings,
  Rate,
  Settings as PartitionedSettings,
  Throttle,
} from './settings.ts'
export type {
  AckedJob,
  AckedAndEnqueuedJob,
  FailedJob,
  ExtendedJobs,
  JobLease,
  ReleasedJob,
  RetriedJob,
  Settled,
  SettledAckAndEnqueue,
  JobsByToken,
} from './detached/settling-by-token.ts'
export type { Spread, Stats, StatsCounts, StatsOptions, StatsPeriod } from './stats.ts'
export type { TagCount } from './jobs/tags.ts'
export type { UndecodablePart } from './source/job-parts.ts'
export { Worker, type WorkOptions } from './worker/worker.ts'
