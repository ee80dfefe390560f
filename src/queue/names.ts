// What `perilune` and `perilune/queue` both export.

export type { Advanced, NextJob } from './claims/outcomes.ts'
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
export type { BuryOptions, ReleaseOptions, RetryOptions } from './claims/outcomes.ts'
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
export type { Jobs as PartitionedJobs } from './jobs/jobs.ts'
export type {
  Failures,
  JobListOptions,
  JobPage,
  RequeueOutcome,
  SearchOptions,
  StateListOptions,
} from './jobs/unit-jobs.ts'
export type { LentJob, LentJobs } from './detached/lent-jobs.ts'
export type {
  IfParentFails,
  Parent,
  ParentId,
  ParentState,
  ParentsChanged,
  ParentsPage,
  ParentsPageOptions,
} from './jobs/parents.ts'
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
  AdvancedJob,
  BuriedJob,
  ExtendedJobs,
  JobLease,
  ReleasedJob,
  RetriedJob,
  Settled,
  SettledAdvance,
  SettlingByToken,
} from './detached/settling-by-token.ts'
export type { Spread, Stats, StatsCounts, StatsOptions, StatsPeriod } from './stats.ts'
export type { TagCount } from './jobs/tags.ts'
export type { UndecodablePart } from './source/job-parts.ts'
export { Worker, type WorkOptions } from './worker/worker.ts'
