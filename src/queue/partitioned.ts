import { checkInteger, checkOptions } from '../runtime/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors.ts'
import { checkName } from '../runtime/keys.ts'
import { partitionOf } from '../runtime/partition-hash.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { Agreement } from './agreement.ts'
import type { ClaimedJob } from './claimed-job.ts'
import { type Enqueued, Enqueuer, type Outgoing } from './enqueueing.ts'
import type { Handlers } from './handling.ts'
import { checkHooks, type QueueHooks } from './hooks.ts'
import { looksGiven } from './ids.ts'
import type { JobOptions } from './job-options.ts'
import { Jobs as JobList } from './jobs.ts'
import { openSource } from './open-source.ts'
import { PartitionClaims } from './partition-claiming.ts'
import { PartitionedJobs } from './partition-jobs.ts'
import { inspectionOf, type PartitionedQueueInspection, PartitionedSettings } from './partition-settings.ts'
import { type NewJob, Preparer } from './preparing.ts'
import {
  CLAIM_OPTIONS,
  type ClaimOptions,
  checkAcks,
  clearSource,
  Queue,
  type QueueOptions,
  toClaimTerms,
} from './queue.ts'
import { Settings } from './settings.ts'
import type { Source } from './source.ts'
import { Worker, type WorkOptions } from './worker.ts'

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
  readonly #sources: readonly Source[]
  readonly #hooks: QueueHooks
  readonly #preparer: Preparer
  readonly #enqueuers: readonly Enqueuer[]
  readonly #claims: PartitionClaims
  readonly #agreement: Agreement
  readonly #settings: readonly Settings[]
  #turn: number

  constructor(runtime: Runtime, name: string, { partitions, ...options }: PartitionedQueueOptions) {
    checkOptions('options', options, ['codec', 'schemas', 'hooks'])
    const count = checkInteger('partitions', partitions, 1, MAX_PARTITIONS)
    this.name = checkName('name', name)
    this.#sources = Array.from({ length: count }, (_, number) =>
      openSource(runtime, name, options, { number, count }),
    )
    const [first] = this.#sources as [Source]
    this.#hooks = checkHooks(options.hooks ?? {})
    this.#preparer = new Preparer(first, this.#hooks)
    this.#enqueuers = this.#sources.map((source) => new Enqueuer(source))
    this.#claims = new PartitionClaims(this.#sources)
    this.#agreement = new Agreement(first)
    this.#settings = this.#sources.map((source) => new Settings(source))
    this.jobs = new PartitionedJobs(
      this.#sources.map((source) => new JobList(source)),
      () => this.#agreement.check(),
    )
    this.settings = new PartitionedSettings(this.#settings, () => this.#agreement.establish())
    this.#turn = Math.floor(Math.random() * count)
  }

  /** How many partitions the queue has. */
  get partitions(): number {
    return this.#sources.length
  }

  /**
   * Puts a job into the partition of its group; without one into that of its own id, else of its unique key; else of its idempotency
   * key; without any into each in turn. An id and a unique key hold within the partition. Throws InvalidArgumentError.
   */
  async enqueue<Name extends keyof Given & string>(
    name: Name,
    payload: Given[Name],
    options?: JobOptions,
  ): Promise<Enqueued> {
    const outgoing = await this.#preparer.one(name, payload, options)
    const enqueuer = this.#enqueuers[this.#route(outgoing)] as Enqueuer
    await this.#agreement.establish()
    return enqueuer.enqueue(outgoing)
  }

  /**
   * As `enqueue`, for many jobs; the results are in their order. All are checked before the first is sent. Several
   * partitions are several calls: an error leaves what the others did.
   */
  async enqueueMany(jobs: readonly NewJob<Given>[]): Promise<Enqueued[]> {
    const outgoing = await this.#preparer.many(jobs)
    const routes = outgoing.map((job) => this.#route(job))
    await this.#agreement.establish()
    const enqueued: Enqueued[] = []
    const sent = this.#enqueuers.map(async (enqueuer, partition) => {
      const places = [...routes.keys()].filter((at) => routes[at] === partition)
      if (places.length === 0) return
      const results = await enqueuer.enqueueMany(places.map((at) => outgoing[at] as Outgoing))
      for (const [at, result] of results.entries()) enqueued[places[at] as number] = result
    })
    const failed = (await Promise.allSettled(sent)).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
    return enqueued
  }

  /**
   * Claims jobs for the caller to ack, retry, bury and extend, the partitions taking turns. Resolves to none when there
   * was none in any for `wait`. Throws the signal's reason, InvalidArgumentError.
   */
  async claim(options: ClaimOptions = {}): Promise<ClaimedJob<Jobs[keyof Jobs]>[]> {
    checkOptions('options', options, CLAIM_OPTIONS)
    const acks = checkAcks(options.acks ?? [])
    const jobs = await this.#claims.claim(toClaimTerms(options), options, acks)
    return jobs as ClaimedJob<Jobs[keyof Jobs]>[]
  }

  /** Starts to work on the jobs of all partitions: what is free is shared out among them. Throws InvalidArgumentError. */
  work(handlers: Handlers<Jobs>, options: WorkOptions = {}): Worker<Jobs> {
    return new Worker(this.#sources, handlers, options, this.#hooks)
  }

  /** A read-only picture of the queue, with one of each partition. */
  async inspect(): Promise<PartitionedQueueInspection> {
    return inspectionOf(await Promise.all(this.#settings.map((settings) => settings.inspect())))
  }

  /** Removes everything; workers lose their jobs. Resolves to false when there was nothing. */
  async clear(): Promise<boolean> {
    await this.#agreement.check()
    const [first, ...others] = this.#sources as [Source, ...Source[]]
    const cleared = await Promise.all(others.map(clearSource))
    // Partition 0 last, so that an interrupted clear leaves the number known.
    cleared.push(await clearSource(first))
    this.#agreement.forget()
    return cleared.includes(true)
  }

  #route({ options: { group, id, unique, idempotencyKey, parents } }: Outgoing): number {
    if (parents !== '') throw new InvalidArgumentError('parents', 'must not be there: partitions know none')
    if (looksGiven(id)) throw new InvalidArgumentError('id', 'must not be digits, a dash and digits')
    const decisive = group || id || unique || idempotencyKey
    if (decisive !== '') return partitionOf(decisive, this.partitions, group !== '' ? 'group' : 'id')
    this.#turn = (this.#turn + 1) % this.partitions
    return this.#turn
  }
}

/** A queue, in partitions or not. Throws InvalidArgumentError. */
export function openQueue(
  runtime: Runtime,
  name: string,
  options: QueueOptions | PartitionedQueueOptions,
): Queue | PartitionedQueue {
  if ('partitions' in options) return new PartitionedQueue(runtime, name, options)
  return new Queue(runtime, name, options)
}
