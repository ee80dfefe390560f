import { checkOptions } from '../runtime/values/arguments.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import {
  CLAIM_OPTIONS,
  type ClaimOptions,
  checkAcks,
  LEND_OPTIONS,
  toClaimTerms,
} from './claims/claim-options.ts'
import type { ClaimedJob } from './claims/claimed-job.ts'
import { claimJobs } from './claims/claim.ts'
import { clearSource, openSource } from './sources.ts'
import { type Enqueued, Enqueuer } from './jobs/enqueuer.ts'
import { type EventOptions, type QueueEvent, toFilter } from './events.ts'
import { leasesOf } from './detached/leases.ts'
import type { Handlers } from './worker/attempts.ts'
import { checkHooks, type QueueHooks } from './worker/hooks.ts'
import type { JobOptions } from './jobs/job-options.ts'
import { Jobs as JobList } from './jobs/jobs.ts'
import { type LentJobs, lendJobs } from './detached/lent-jobs.ts'
import { listenTo } from './event-stream.ts'
import { type NewJob, Preparer } from './preparer.ts'
import type { QueueOptions } from './queue-options.ts'
import { Recurring } from './recurring/recurring.ts'
import { type QueueInspection, Settings } from './settings.ts'
import { Settler } from './claims/settler.ts'
import { SettlingByToken } from './detached/settling-by-token.ts'
import type { Source } from './source/source.ts'
import { readNames, readStats, type Stats, type StatsOptions } from './stats.ts'
import { Worker, type WorkOptions } from './worker/worker.ts'

/**
 * Jobs that are done once: each is leased to one worker at a time, and comes back when that is lost. It runs at least
 * once, and perhaps again; that it is done is recorded once, by the attempt that holds it.
 *
 * `Jobs` maps the names of jobs to their payloads, `Given` to what is enqueued where schemas make something else of it.
 */
export class Queue<Jobs extends object = Record<string, unknown>, Given extends object = Jobs> {
  readonly name: string
  /** What is known of single jobs, and what can be done to them. */
  readonly jobs: JobList
  /** What holds for the whole queue, and for its groups. */
  readonly settings: Settings
  /** What becomes of lent jobs, told by whoever has their tokens. */
  readonly settle: SettlingByToken
  /** Jobs that are spawned again and again, at times of their own. */
  readonly recurring: Recurring<Jobs>
  readonly #source: Source
  readonly #hooks: QueueHooks
  readonly #preparer: Preparer
  readonly #enqueuer: Enqueuer

  /** `source`: what the queue stands on, where that is known already. */
  constructor(
    runtime: Runtime,
    name: string,
    options: QueueOptions,
    source: Source = openSource(runtime, name, options, null),
  ) {
    checkOptions('options', options, ['codec', 'schemas', 'hooks'])
    this.name = name
    this.#source = source
    this.#hooks = checkHooks(options.hooks ?? {})
    this.#preparer = new Preparer(source, this.#hooks)
    this.#enqueuer = new Enqueuer(source)
    this.jobs = new JobList(source)
    this.settings = new Settings(source)
    this.settle = new SettlingByToken(source, leasesOf(source))
    this.recurring = new Recurring(source)
  }

  /**
   * Puts a job into the queue. Resolves when the server has it, with its id; `duplicate` when its own id or its unique
   * key was taken. Throws InvalidArgumentError.
   */
  enqueue<Name extends keyof Given & string>(
    name: Name,
    payload: Given[Name],
    options?: JobOptions,
  ): Promise<Enqueued> {
    // Not an async function: its promise about a promise would cost a tenth of a job.
    try {
      // What is ready at once is sent with whatever else this tick brings.
      const outgoing = this.#preparer.one(name, payload, options)
      if (!(outgoing instanceof Promise)) return this.#enqueuer.enqueue(outgoing)
      return outgoing.then((job) => this.#enqueuer.enqueue(job))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** As `enqueue`, for many jobs, in order; a thousand travel together. Throws InvalidArgumentError. */
  async enqueueMany(jobs: readonly NewJob<Given>[]): Promise<Enqueued[]> {
    const outgoing = this.#preparer.many(jobs)
    return this.#enqueuer.enqueueMany(outgoing instanceof Promise ? await outgoing : outgoing)
  }

  /**
   * Claims jobs for the caller to ack, retry, bury and extend; `work` does all that by itself. Resolves to none when
   * there was none for `wait`. Throws the signal's reason, InvalidArgumentError.
   */
  async claim(options: ClaimOptions = {}): Promise<ClaimedJob<Jobs[keyof Jobs]>[]> {
    checkOptions('options', options, CLAIM_OPTIONS)
    const acks = checkAcks(options.acks ?? [], [this.#source])
    return claimJobs(this.#source, new Settler(this.#source), toClaimTerms(options), options, acks)
  }

  /**
   * As `claim`, for somebody else: this process hands the jobs on and keeps nothing of them. Whoever has the id and the
   * token of one names them to `settle`, in any process. Throws the signal's reason, InvalidArgumentError.
   */
  async lend(options: Omit<ClaimOptions, 'acks'> = {}): Promise<LentJobs<Jobs[keyof Jobs]>> {
    checkOptions('options', options, LEND_OPTIONS)
    return lendJobs(this.#source, toClaimTerms(options), options)
  }

  /** Starts to work on the jobs of the queue. Throws InvalidArgumentError. */
  work(handlers: Handlers<Jobs>, options: WorkOptions<Jobs> = {}): Worker<Jobs> {
    return new Worker([this.#source], handlers, options, this.#hooks)
  }

  /** A read-only picture of the queue. */
  inspect(): Promise<QueueInspection> {
    return this.settings.inspect()
  }

  /**
   * What happens in the queue from now on, as it happens. Nothing is published but while somebody listens; what may have
   * been missed is told as a `gap`. The loop throws the signal's reason. Throws InvalidArgumentError.
   */
  events(options: EventOptions = {}): AsyncGenerator<QueueEvent, void, undefined> {
    return listenTo([this.#source], toFilter(options), options.signal)
  }

  /**
   * What happened, in each minute, hour or day: how many jobs, how long they waited and how long they ran. Throws
   * InvalidArgumentError.
   */
  async stats(options: StatsOptions = {}): Promise<Stats> {
    return readStats([this.#source], options)
  }

  /** The names of jobs that `stats` tells apart. */
  async names(): Promise<string[]> {
    return readNames([this.#source])
  }

  /** Removes everything; workers lose their jobs. Resolves to false when there was nothing. */
  async clear(): Promise<boolean> {
    return clearSource(this.#source)
  }
}

export type { Advanced, NextJob } from './claims/next-job.ts'
export type { JobEnd } from './jobs/job-end.ts'
export type { BackoffFunction, Backoffs } from './worker/backoffs.ts'
export {
  type BatchContext,
  type BatchFunction,
  BatchHandler,
  type BatchOptions,
  batch,
} from './worker/batch.ts'
export type { ClaimOptions } from './claims/claim-options.ts'
export { ClaimedJob } from './claims/claimed-job.ts'
export type { BuryOptions, ReleaseOptions, RetryOptions } from './claims/outcomes.ts'
export type { Enqueued } from './jobs/enqueuer.ts'
export type { EventOptions, JobEvent, JobEventKind, QueueEvent, QueueWideEvent } from './events.ts'
export type { LossReason } from './jobs/lease.ts'
export type { Handler, Handlers } from './worker/attempts.ts'
export type { Happening, HistoryEntry, JobHistory } from './jobs/job.ts'
export type { QueueHooks } from './worker/hooks.ts'
export type { FoundJob, Job, JobState, LogLine } from './jobs/job.ts'
export type { Backoff, JobOptions, Unique } from './jobs/job-options.ts'
export type {
  Failures,
  JobListOptions,
  JobPage,
  Jobs,
  ParentsChanged,
  SearchOptions,
  StateListOptions,
} from './jobs/jobs.ts'
export type { LentJob, LentJobs } from './detached/lent-jobs.ts'
export type { IfParentFails, Parent, ParentId, ParentState } from './jobs/parents.ts'
export type { PartitionedJobs } from './jobs/partition-jobs.ts'
export type { PartitionedRecurring } from './recurring/partition-recurring.ts'
export type { PartitionedQueueInspection, PartitionedSettings } from './partition-settings.ts'
export type { PartitionedQueue, PartitionedQueueOptions } from './partitioned-queue.ts'
export type { NewJob } from './preparer.ts'
export type { QueueOptions } from './queue-options.ts'
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
  RecurringBounds,
  RecurringJob,
  RecurringJobOptions,
  RecurringOptions,
  RecurringPage,
} from './recurring/recurring.ts'
export type { GivenBy, Issue, MadeBy, Schema, SchemasByName, Validated } from './source/schemas.ts'
export type { GroupInspection, QueueInspection, QueueSettings, Rate, Settings, Throttle } from './settings.ts'
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
