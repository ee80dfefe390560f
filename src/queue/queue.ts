import { failureOf, errorOfPart } from '../runtime/iteration/in-parts.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import type { Agreement } from '../runtime/partitions/agreement.ts'
import { checkInteger, checkOptions } from '../runtime/values/arguments.ts'
import type { Codec } from '../runtime/values/codec.ts'
import { CLAIM_OPTIONS, type JobClaimOptions, JobClaims, DETACHED_OPTIONS } from './claims/claims.ts'
import type { ClaimedJob } from './claims/claimed-job.ts'
import { findLeases, type DetachedJobs, toDetachedJobs } from './detached/detached-jobs.ts'
import { JobsByToken } from './detached/settling-by-token.ts'
import { listenTo } from './event-stream.ts'
import { type EventOptions, type QueueEvent, toFilter } from './events.ts'
import { type Enqueued, Enqueuer, type Routed, Router } from './jobs/enqueuer.ts'
import type { JobOptions } from './jobs/job-options.ts'
import { DeadJobs } from './jobs/dead-jobs.ts'
import { Jobs as JobList } from './jobs/jobs.ts'
import { checkHooks, type NewJob, Preparer, type QueueHooks } from './preparer.ts'
import { Recurring } from './recurring/recurring-jobs.ts'
import { type PartitionedQueueInspection, type QueueInspection, Settings } from './settings.ts'
import type { SchemasByName } from './source/schemas.ts'
import type { QueueSource } from './source/source.ts'
import { agreementOf, clearSource, openSource } from './sources.ts'
import { readNames, readStats, type Stats, type StatsOptions } from './stats.ts'
import type { Handlers } from './worker/attempts.ts'
import { Worker, type WorkOptions } from './worker/worker.ts'

export interface QueueOptions {
  /** How payloads and results become bytes; default JSON. */
  codec?: Codec<unknown>
  /**
   * Schemas of payloads by the names of jobs, of any library that speaks Standard Schema. They are checked before
   * anything is enqueued, and before a job is worked on: one that does not fit is dead, of the kind `invalid-payload`.
   */
  schemas?: SchemasByName
  /** `trace` of jobs and `around` attempts, for tracing. */
  hooks?: QueueHooks
}

export interface PartitionedQueueOptions extends QueueOptions {
  /** Over how many slots the queue is spread, 1 to 64. It stays so until the queue is cleared. */
  partitions: number
}

const MAX_PARTITIONS = 64
const NOTHING_TO_CHECK: Promise<void> = Promise.resolve()

/** What both kinds of queue share. A queue without partitions has one source and no partition count to agree upon. */
abstract class SpreadQueue<Jobs extends object, Given extends object> {
  readonly name: string
  /** Looks up, lists and changes single jobs. */
  readonly jobs: JobList
  /** Dead jobs, grouped by the kind of their failure. */
  readonly dead: DeadJobs
  /** Settings of the whole queue and of its groups. */
  readonly settings: Settings
  /** Settles jobs for callers that know only their ids and tokens. */
  readonly byToken: JobsByToken
  /** Recurring jobs. */
  readonly recurring: Recurring<Jobs>
  readonly #sources: readonly QueueSource[]
  readonly #hooks: QueueHooks
  readonly #claims: JobClaims
  readonly #check: () => Promise<void>

  constructor(sources: readonly QueueSource[], hooks: QueueHooks, agreement: Agreement | null) {
    const [first] = sources as [QueueSource]
    this.name = first.name
    this.#sources = sources
    this.#hooks = hooks
    this.#claims = new JobClaims(sources)
    this.#check = agreement === null ? () => NOTHING_TO_CHECK : () => agreement.check()
    this.jobs = new JobList(sources, this.#check)
    this.dead = new DeadJobs(sources, this.#check)
    this.settings = new Settings(sources)
    this.byToken = new JobsByToken(first, findLeases(sources, this.#check))
    this.recurring = new Recurring(sources, this.#check)
  }

  abstract enqueue<Name extends keyof Given & string>(
    name: Name,
    payload: Given[Name],
    options?: JobOptions,
  ): Promise<Enqueued>

  abstract enqueueMany(jobs: readonly NewJob<Given>[]): Promise<Enqueued[]>

  /**
   * Claims jobs that the caller acks, retries, fails and extends itself; `work` does all of that for you. Partitions
   * take turns. Resolves to an empty list when no partition had a job within `wait`. Throws the signal's reason and
   * InvalidArgumentError.
   */
  async claim(options: JobClaimOptions = {}): Promise<ClaimedJob<Jobs[keyof Jobs]>[]> {
    checkOptions('options', options, CLAIM_OPTIONS)
    const { jobs } = await this.#claims.claim(options)
    return jobs as ClaimedJob<Jobs[keyof Jobs]>[]
  }

  /**
   * As `claim`, but another process works on the jobs: this one passes them on, and neither extends nor watches their
   * leases. Any process that has a job's id and token settles it through `byToken`. The first of the leases ends at
   * `expiresAtMs`.
   */
  async claimDetached(options: Omit<JobClaimOptions, 'acks'> = {}): Promise<DetachedJobs<Jobs[keyof Jobs]>> {
    checkOptions('options', options, DETACHED_OPTIONS)
    return toDetachedJobs(await this.#claims.claim(options)) as DetachedJobs<Jobs[keyof Jobs]>
  }

  /** Starts a worker. It divides its free capacity among the partitions. Throws InvalidArgumentError. */
  work(handlers: Handlers<Jobs>, options: WorkOptions<Jobs> = {}): Worker<Jobs> {
    return new Worker(this.#sources, handlers, options, this.#hooks)
  }

  /**
   * Yields the events of the queue from now on, in the order of each partition. The queue publishes events only while a
   * listener is subscribed. A `gap` says that events may have been missed. The loop throws the signal's reason. Throws
   * InvalidArgumentError.
   */
  events(options: EventOptions = {}): AsyncGenerator<QueueEvent, void, undefined> {
    return listenTo(this.#sources, toFilter(options), options.signal, this.#check)
  }

  /**
   * Statistics for each minute, hour or day: how many jobs, how long they waited and how long they ran. Throws
   * InvalidArgumentError.
   */
  async stats(options: StatsOptions = {}): Promise<Stats> {
    await this.#check()
    return readStats(this.#sources, options)
  }

  /** The job names that have statistics of their own: the first 100 of each partition. */
  async names(): Promise<string[]> {
    await this.#check()
    return readNames(this.#sources)
  }
}

/**
 * A job queue with at-least-once delivery. One worker at a time holds a job's lease; when the worker is lost, the job
 * becomes ready again. A job may run more than once, but only the attempt that holds the lease can complete it, once.
 *
 * `Jobs` maps job names to the payloads that handlers receive. `Given` maps them to the payloads that are enqueued,
 * which differ where a schema transforms them.
 */
export class Queue<
  Jobs extends object = Record<string, unknown>,
  Given extends object = Jobs,
> extends SpreadQueue<Jobs, Given> {
  readonly #source: QueueSource
  readonly #preparer: Preparer
  readonly #enqueuer: Enqueuer

  constructor(runtime: Runtime, name: string, options: QueueOptions) {
    checkOptions('options', options, ['codec', 'schemas', 'hooks'])
    const source = openSource(runtime, name, options, null)
    const hooks = checkHooks(options.hooks ?? {})
    super([source], hooks, null)
    this.#source = source
    this.#preparer = new Preparer(source, hooks)
    this.#enqueuer = new Enqueuer(source)
  }

  /**
   * Enqueues a job. Resolves to its id once the server has stored it. `duplicate` is true when its own id, its unique
   * key or its idempotency key was taken: then nothing was enqueued. Throws InvalidArgumentError.
   */
  enqueue<Name extends keyof Given & string>(
    name: Name,
    payload: Given[Name],
    options?: JobOptions,
  ): Promise<Enqueued> {
    // Not an async function: a promise of a promise would cost a tenth of the time of a job.
    try {
      // A job that is ready at once is sent with the other jobs of this tick.
      const outgoing = this.#preparer.one(name, payload, options)
      if (!(outgoing instanceof Promise)) return this.#enqueuer.enqueue(outgoing)
      return outgoing.then((job) => this.#enqueuer.enqueue(job))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** As `enqueue`, for many jobs, in order; one script call carries up to 1000. Throws InvalidArgumentError. */
  async enqueueMany(jobs: readonly NewJob<Given>[]): Promise<Enqueued[]> {
    const outgoing = this.#preparer.many(jobs)
    return this.#enqueuer.enqueueMany(outgoing instanceof Promise ? await outgoing : outgoing)
  }

  /** Counts, sizes and settings of the queue. Changes nothing. */
  inspect(): Promise<QueueInspection> {
    return this.settings.inspect()
  }

  /** Removes everything; workers lose their jobs. Resolves to false when there was nothing. */
  async clear(): Promise<boolean> {
    return clearSource(this.#source)
  }
}

/**
 * A queue that is spread over several slots, for more jobs than one core can process. Each partition is a queue of its
 * own; jobs of one group share a partition. One worker serves all partitions.
 */
export class PartitionedQueue<
  Jobs extends object = Record<string, unknown>,
  Given extends object = Jobs,
> extends SpreadQueue<Jobs, Given> {
  readonly #sources: readonly QueueSource[]
  readonly #agreement: Agreement
  readonly #preparer: Preparer
  readonly #router: Router
  readonly #enqueuers: readonly Enqueuer[]

  constructor(runtime: Runtime, name: string, { partitions, ...options }: PartitionedQueueOptions) {
    checkOptions('options', options, ['codec', 'schemas', 'hooks'])
    const count = checkInteger('partitions', partitions, 1, MAX_PARTITIONS)
    const agreement = agreementOf(runtime, name, count)
    const sources = Array.from({ length: count }, (_, number) =>
      openSource(runtime, name, options, { number, count }, agreement),
    )
    const hooks = checkHooks(options.hooks ?? {})
    super(sources, hooks, agreement)
    this.#sources = sources
    this.#agreement = agreement
    this.#preparer = new Preparer(sources[0] as QueueSource, hooks)
    this.#router = new Router(sources, (ids) => this.jobs.partitionsOf(ids))
    this.#enqueuers = sources.map((source) => new Enqueuer(source))
  }

  /** How many partitions the queue has. */
  get partitions(): number {
    return this.#sources.length
  }

  /**
   * Enqueues a job. Its group decides its partition; without a group its own id does, else its unique key, else its
   * idempotency key, else its first dependency. Without any of these the partitions take turns. Ids and unique keys are
   * unique within a partition only. Throws InvalidArgumentError.
   */
  async enqueue<Name extends keyof Given & string>(
    name: Name,
    payload: Given[Name],
    options?: JobOptions,
  ): Promise<Enqueued> {
    const outgoing = await this.#preparer.one(name, payload, options)
    const [routed] = this.#router.route([outgoing]) as [Routed]
    const [[placed]] =
      outgoing.options.dependsOn === '' ? [[routed]] : ((await this.#router.inSteps([routed])) as [[Routed]])
    return (this.#enqueuers[placed.partition] as Enqueuer).enqueue(placed.job)
  }

  /**
   * As `enqueue`, for many jobs; the results are in their order. All jobs are checked before the first one is sent.
   * Each partition has a call of its own: when one fails, the jobs of the others stay enqueued.
   */
  async enqueueMany(jobs: readonly NewJob<Given>[]): Promise<Enqueued[]> {
    const routed = this.#router.route(await this.#preparer.many(jobs))
    const enqueued: Enqueued[] = []
    try {
      for (const step of await this.#router.inSteps(routed)) await this.#sendStep(step, enqueued)
    } catch (error) {
      throw errorOfPart('jobs', enqueued.filter(Boolean).length, jobs.length, error)
    }
    return enqueued
  }

  /** As `Queue.inspect`: the sums of all partitions, and each partition by itself. */
  async inspect(): Promise<PartitionedQueueInspection> {
    const [inspection] = await Promise.all([this.settings.inspectAll(), this.#agreement.check()])
    return inspection
  }

  /** Removes everything; workers lose their jobs. Resolves to false when there was nothing. */
  async clear(): Promise<boolean> {
    return this.#agreement.clear(() => Promise.all(this.#sources.map(clearSource)))
  }

  async #sendStep(step: readonly Routed[], enqueued: Enqueued[]): Promise<void> {
    const sent = this.#enqueuers.map(async (enqueuer, partition) => {
      const those = step.filter((each) => each.partition === partition)
      if (those.length === 0) return
      const results = await enqueuer.enqueueMany(those.map(({ job }) => job))
      for (const [at, result] of results.entries()) enqueued[(those[at] as Routed).at] = result
    })
    const failed = failureOf(await Promise.allSettled(sent))
    if (failed !== undefined) throw failed.reason
  }
}
