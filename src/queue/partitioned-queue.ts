import type { Agreement } from '../runtime/partitions/agreement.ts'
import { checkInteger, checkOptions } from '../runtime/values/arguments.ts'
import { errorOfPart, failureOf } from '../runtime/iteration/in-parts.ts'
import { checkName } from '../runtime/values/keys.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import {
  CLAIM_OPTIONS,
  type ClaimOptions,
  checkAcks,
  LEND_OPTIONS,
  toClaimTerms,
} from './claims/claim-options.ts'
import type { ClaimedJob } from './claims/claimed-job.ts'
import { agreementOf, clearSource, openSource } from './sources.ts'
import { type Enqueued, Enqueuer } from './jobs/enqueuer.ts'
import { type EventOptions, type QueueEvent, toFilter } from './events.ts'
import { leasesIn } from './detached/leases.ts'
import type { Handlers } from './worker/attempts.ts'
import { checkHooks, type QueueHooks } from './worker/hooks.ts'
import type { JobOptions } from './jobs/job-options.ts'
import type { LentJobs } from './detached/lent-jobs.ts'
import { listenTo } from './event-stream.ts'
import { PartitionClaims } from './claims/partition-claims.ts'
import { PartitionedJobs } from './jobs/partition-jobs.ts'
import { PartitionedRecurring } from './recurring/partition-recurring.ts'
import { type Routed, Router } from './jobs/router.ts'
import { inspectionOf, type PartitionedQueueInspection, PartitionedSettings } from './partition-settings.ts'
import { type NewJob, Preparer } from './preparer.ts'
import type { QueueOptions } from './queue-options.ts'
import { Settings } from './settings.ts'
import { SettlingByToken } from './detached/settling-by-token.ts'
import type { Source } from './source/source.ts'
import { readNames, readStats, type Stats, type StatsOptions } from './stats.ts'
import { Worker, type WorkOptions } from './worker/worker.ts'

export interface PartitionedQueueOptions extends QueueOptions {
  /** Over how many slots the queue is spread, 1 to 64. It stays so until the queue is cleared. */
  partitions: number
}

const MAX_PARTITIONS = 64

/**
 * A queue that is spread over several slots, for more jobs than one core can take. Each partition is a queue of its own;
 * jobs of one group share a partition. One worker takes from them all.
 */
export class PartitionedQueue<Jobs extends object = Record<string, unknown>, Given extends object = Jobs> {
  readonly name: string
  /** What is known of single jobs, and what can be done to them. */
  readonly jobs: PartitionedJobs
  /** What holds for the whole queue, and for its groups. */
  readonly settings: PartitionedSettings
  /** What becomes of lent jobs, told by whoever has their tokens. */
  readonly settle: SettlingByToken
  /** Jobs that are spawned again and again, at times of their own. */
  readonly recurring: PartitionedRecurring<Jobs>
  readonly #sources: readonly Source[]
  readonly #hooks: QueueHooks
  readonly #preparer: Preparer
  readonly #router: Router
  readonly #enqueuers: readonly Enqueuer[]
  readonly #claims: PartitionClaims
  readonly #agreement: Agreement
  readonly #settings: readonly Settings[]

  constructor(runtime: Runtime, name: string, { partitions, ...options }: PartitionedQueueOptions) {
    checkOptions('options', options, ['codec', 'schemas', 'hooks'])
    const count = checkInteger('partitions', partitions, 1, MAX_PARTITIONS)
    this.name = checkName('name', name)
    this.#agreement = agreementOf(runtime, name, count)
    this.#sources = Array.from({ length: count }, (_, number) =>
      openSource(runtime, name, options, { number, count }, this.#agreement),
    )
    const [first] = this.#sources as [Source]
    this.#hooks = checkHooks(options.hooks ?? {})
    this.#preparer = new Preparer(first, this.#hooks)
    this.#enqueuers = this.#sources.map((source) => new Enqueuer(source))
    this.#claims = new PartitionClaims(this.#sources)
    this.#settings = this.#sources.map((source) => new Settings(source))
    const check = (): Promise<void> => this.#agreement.check()
    this.jobs = new PartitionedJobs(this.#sources, check)
    this.#router = new Router(this.#sources, (ids) => this.jobs.partitionsOf(ids))
    this.settings = new PartitionedSettings(this.#settings)
    this.settle = new SettlingByToken(first, leasesIn(this.#sources, check))
    this.recurring = new PartitionedRecurring(this.#sources, check)
  }

  /** How many partitions the queue has. */
  get partitions(): number {
    return this.#sources.length
  }

  /**
   * Puts a job into the partition of its group; without one into that of its own id, else of its unique key, else of its idempotency
   * key, else of its first parent; without any into each in turn. An id and a unique key hold within the partition. Throws InvalidArgumentError.
   */
  async enqueue<Name extends keyof Given & string>(
    name: Name,
    payload: Given[Name],
    options?: JobOptions,
  ): Promise<Enqueued> {
    const outgoing = await this.#preparer.one(name, payload, options)
    const [routed] = this.#router.route([outgoing]) as [Routed]
    const [[placed]] =
      outgoing.options.parents === '' ? [[routed]] : ((await this.#router.inSteps([routed])) as [[Routed]])
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

  /**
   * Claims jobs for the caller to ack, retry, bury and extend, the partitions taking turns. Resolves to none when there
   * was none in any for `wait`. Throws the signal's reason, InvalidArgumentError.
   */
  async claim(options: ClaimOptions = {}): Promise<ClaimedJob<Jobs[keyof Jobs]>[]> {
    checkOptions('options', options, CLAIM_OPTIONS)
    const acks = checkAcks(options.acks ?? [], this.#sources)
    const jobs = await this.#claims.claim(toClaimTerms(options), options, acks)
    return jobs as ClaimedJob<Jobs[keyof Jobs]>[]
  }

  /**
   * As `claim`, for somebody else: this process hands the jobs on and keeps nothing of them. Whoever has the id and the
   * token of one names them to `settle`, in any process. The first of the leases ends at `expiresAtMs`.
   */
  async lend(options: Omit<ClaimOptions, 'acks'> = {}): Promise<LentJobs<Jobs[keyof Jobs]>> {
    checkOptions('options', options, LEND_OPTIONS)
    const lent = await this.#claims.lend(toClaimTerms(options), options)
    return lent as LentJobs<Jobs[keyof Jobs]>
  }

  /** Starts to work on the jobs of all partitions: what is free is shared out among them. Throws InvalidArgumentError. */
  work(handlers: Handlers<Jobs>, options: WorkOptions<Jobs> = {}): Worker<Jobs> {
    return new Worker(this.#sources, handlers, options, this.#hooks)
  }

  /** A read-only picture of the queue, with one of each partition. */
  async inspect(): Promise<PartitionedQueueInspection> {
    const inspecting = Promise.all(this.#settings.map((settings) => settings.inspect()))
    const [inspections] = await Promise.all([inspecting, this.#agreement.check()])
    return inspectionOf(inspections)
  }

  /**
   * What happens in all partitions from now on, in the order of each. What may have been missed in one is told as a `gap`. The
   * loop throws the signal's reason. Throws InvalidArgumentError.
   */
  events(options: EventOptions = {}): AsyncGenerator<QueueEvent, void, undefined> {
    const filter = toFilter(options)
    return listenTo(this.#sources, filter, options.signal, () => this.#agreement.check())
  }

  /**
   * What happened in all partitions, in each minute, hour or day: how many jobs, how long they waited and how long they ran.
   * Throws InvalidArgumentError.
   */
  async stats(options: StatsOptions = {}): Promise<Stats> {
    await this.#agreement.check()
    return readStats(this.#sources, options)
  }

  /** The names of jobs that `stats` tells apart: the first hundred of each partition. */
  async names(): Promise<string[]> {
    await this.#agreement.check()
    return readNames(this.#sources)
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
