// What `perilune/queue` exports.

import * as operations from '../generated/queue.ts'
import { type HasRuntime, runtimeOf } from '../runtime/connection/access.ts'
import { scriptsOf, type StructureScripts } from '../runtime/connection/connection.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { checkOptions } from '../runtime/values/arguments.ts'
import { PartitionedQueue, type PartitionedQueueOptions, Queue, type QueueOptions } from './queue.ts'
import type { GivenBy, MadeBy, SchemasByName } from './source/schemas.ts'

export {
  type PartitionedQueue,
  type PartitionedQueueOptions,
  Queue,
  type QueueOptions,
} from './queue.ts'
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
export type { JobClaimOptions as ClaimOptions } from './claims/claims.ts'
export { ClaimedJob } from './claims/claimed-job.ts'
export type { BuryOptions, ReleaseOptions, RetryOptions } from './claims/outcomes.ts'
export type { Enqueued } from './jobs/enqueuer.ts'
export type { EventOptions, JobEvent, JobEventKind, QueueEvent, QueueWideEvent } from './events.ts'
export type { LossReason } from './jobs/attempt.ts'
export type { Handler, Handlers } from './worker/attempts.ts'
export type { Happening, HistoryEntry, JobHistory } from './jobs/job.ts'
export type { QueueHooks } from './preparer.ts'
export type { FoundJob, Job, JobState, LogLine } from './jobs/job.ts'
export type { Backoff, JobOptions, Unique } from './jobs/job-options.ts'
export type { Jobs, Jobs as PartitionedJobs } from './jobs/jobs.ts'
export type {
  Failures,
  JobListOptions,
  JobPage,
  SearchOptions,
  StateListOptions,
} from './jobs/unit-jobs.ts'
export type { LentJob, LentJobs } from './detached/lent-jobs.ts'
export type { IfParentFails, Parent, ParentId, ParentsChanged, ParentState } from './jobs/parents.ts'

export type { NewJob } from './preparer.ts'
export type {
  CronRecurrence,
  CronRule,
  IntervalRecurrence,
  IntervalRule,
  MissedRuns,
  Recurrence,
  RecurrenceRule,
} from './recurring/recurrence.ts'
export type {
  Recurring,
  Recurring as PartitionedRecurring,
  RecurringBounds,
  RecurringJob,
  RecurringJobOptions,
  RecurringOptions,
  RecurringPage,
} from './recurring/recurring-jobs.ts'
export type { GivenBy, Issue, MadeBy, Schema, SchemasByName, Validated } from './source/schemas.ts'
export type {
  GroupInspection,
  PartitionedQueueInspection,
  QueueInspection,
  QueueSettings,
  Rate,
  Settings,
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
export type { Worker, WorkOptions } from './worker/worker.ts'

/** For `preload` of a connection. */
export const queueScripts: StructureScripts = /* @__PURE__ */ scriptsOf('queue', operations)

/** Jobs in several slots; the schemas say what their payloads are. Throws InvalidArgumentError. */
export function queue<Schemas extends SchemasByName>(
  connection: HasRuntime,
  name: string,
  options: PartitionedQueueOptions & { schemas: Schemas },
): PartitionedQueue<MadeBy<Schemas>, GivenBy<Schemas>>
/** Jobs in several slots: one name, one worker, more than one core takes. Throws InvalidArgumentError. */
export function queue<Jobs extends object = Record<string, unknown>>(
  connection: HasRuntime,
  name: string,
  options: PartitionedQueueOptions,
): PartitionedQueue<Jobs>
/** Jobs, each done by one worker at a time; the schemas say what their payloads are. Throws InvalidArgumentError. */
export function queue<Schemas extends SchemasByName>(
  connection: HasRuntime,
  name: string,
  options: QueueOptions & { schemas: Schemas },
): Queue<MadeBy<Schemas>, GivenBy<Schemas>>
/** Jobs, each done by one worker at a time. `Jobs` maps their names to their payloads. Throws InvalidArgumentError. */
export function queue<Jobs extends object = Record<string, unknown>>(
  connection: HasRuntime,
  name: string,
  options?: QueueOptions,
): Queue<Jobs>
export function queue(
  connection: HasRuntime,
  name: string,
  options: QueueOptions | PartitionedQueueOptions = {},
): Queue | PartitionedQueue {
  return openQueue(runtimeOf(connection), name, options)
}

/** A queue, in partitions or not. Throws InvalidArgumentError. */
export function openQueue(
  runtime: Runtime,
  name: string,
  options: QueueOptions | PartitionedQueueOptions,
): Queue | PartitionedQueue {
  checkOptions('options', options, ['codec', 'schemas', 'partitions', 'hooks'])
  if ('partitions' in options) return new PartitionedQueue(runtime, name, options)
  return new Queue(runtime, name, options)
}
