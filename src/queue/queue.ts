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
  /** For tracing. */
  hooks?: QueueHooks
}

export interface PartitionedQueueOptions extends QueueOptions {
  /** Over how many slots the queue is spread, 1 to 64. It stays so until the queue is cleared. */
  partitions: number
}

const MAX_PARTITIONS = 64
const NOTHING_TO_CHECK: Promise<void> = Promise.resolve()

/** What a queue does alike in partitions and without: then it stands on one source, and has no number that is to be agreed upon. */
abstract class SpreadQueue<Jobs extends object, Given extends object> {
  readonly name: string
  /** What is known of single jobs, and what can be done to them. */
  readonly jobs: JobList
  /** Dead jobs, by the kind of failure that they are dead of. */
  readonly dead: DeadJobs
  /** What holds for the whole queue, and for its groups. */
  readonly settings: Settings
  /** Jobs, for callers that know only their ids and tokens. */
  readonly byToken: JobsByToken
  /** Jobs that are spawned again and again, at times of their own. */
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
   * Claims jobs for the caller to ack, retry, bury and extend, the partitions taking turns; `work` does all that by itself. Resolves
   * to none when there was none in any for `wait`. Throws the signal's reason, InvalidArgumentError.
   */
  async claim(options: JobClaimOptions = {}): Promise<ClaimedJob<Jobs[keyof Jobs]>[]> {
    checkOptions('options', options, CLAIM_OPTIONS)
    const { jobs } = await this.#claims.claim(options)
    return jobs as ClaimedJob<Jobs[keyof Jobs]>[]
  }

  /**
   * As `claim`, for somebody else: this process hands the jobs on and keeps nothing of them. Whoever has the id and the
   * token of one names them to `settle`, in any process. The first of the leases ends at `expiresAtMs`.
   */
  async claimDetached(options: Omit<JobClaimOptions, 'acks'> = {}): Promise<DetachedJobs<Jobs[keyof Jobs]>> {
    checkOptions('options', options, DETACHED_OPTIONS)
    return toDetachedJobs(await this.#claims.claim(options)) as DetachedJobs<Jobs[keyof Jobs]>
  }

  /** Starts to work on the jobs of the queue; what is free is shared out among its partitions. Throws InvalidArgumentError. */
  work(handlers: Handlers<Jobs>, options: WorkOptions<Jobs> = {}): Worker<Jobs> {
    return new Worker(this.#sources, handlers, options, this.#hooks)
  }

  /**
   * What happens in the queue from now on, as it happens, in the order of each partition. Nothing is published but while somebody
   * listens; what may have been missed is told as a `gap`. The loop throws the signal's reason. Throws InvalidArgumentError.
   */
  events(options: EventOptions = {}): AsyncGenerator<QueueEvent, void, undefined> {
    return listenTo(this.#sources, toFilter(options), options.signal, this.#check)
  }

  /**
   * What happened, in each minute, hour or day: how many jobs, how long they waited and how long they ran. Throws
   * InvalidArgumentError.
   */
  async stats(options: StatsOptions = {}): Promise<Stats> {
    await this.#check()
    return readStats(this.#sources, options)
  }

  /** The names of jobs that `stats` tells apart: the first hundred of each partition. */
  async names(): Promise<string[]> {
    await this.#check()
    return readNames(this.#sources)
  }
}

/**
 * Jobs that are done once: each is leased to one worker at a time, and comes back when that is lost. It runs at least
 * once, and perhaps again; that it is done is recorded once, by the attempt that holds it.
 *
 * `Jobs` maps the names of jobs to their payloads, `Given` to what is enqueued where schemas make something else of it.
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

  /** A read-only picture of the queue. */
  inspect(): Promise<QueueInspection> {
    return this.settings.inspect()
  }

  /** Removes everything; workers lose their jobs. Resolves to false when there was nothing. */
  async clear(): Promise<boolean> {
    return clearSource(this.#source)
  }
}

/**
 * A queue that is spread over several slots, for more jobs than one core can take. Each partition is a queue of its own;
 * jobs of one group share a partition. One worker takes from them all.
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
   * Puts a job into the partition of its group; without one into that of its own id, else of its unique key, else of its idempotency
   * key, else of its first dependency; without any into each in turn. An id and a unique key hold within the partition. Throws InvalidArgumentError.
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
   * As `enqueue`, for many jobs; the results are in their order. All are checked before the first is sent. Several
   * partitions are several calls: an error leaves what the others did.
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

  /** A read-only picture of the queue, with one of each partition. */
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
