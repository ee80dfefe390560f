// One call of a handler for several jobs of one name. A batch begins when it is full, when its first job has waited
// long enough, or when its worker has no room to claim more. Each of its jobs is settled by itself.

import { brand } from '../../driver.ts'
import { checkInteger, checkOptions } from '../../runtime/values/arguments.ts'
import { type Duration, toMs } from '../../runtime/values/duration.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { isError } from '../../runtime/errors/is-error.ts'
import { startTimer, type Timer } from '../../runtime/time/timer.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'
import { isHeld } from '../claims/outcomes.ts'

export interface BatchOptions {
  /** The most jobs in one call, 1 to 1000. */
  size: number
  /** How long the first job waits for others; default 50 ms. */
  within?: Duration
}

export interface BatchContext {
  /** Aborts when no job of the batch is left: each is settled, lost or stopped. */
  readonly signal: AbortSignal
}

/**
 * Works on several jobs. Returns their results in the same order, or nothing. A job whose result is an Error is
 * retried. If the function throws, all jobs that it has not settled itself are retried.
 */
export type BatchFunction<Payload> = (jobs: readonly ClaimedJob<Payload>[], context: BatchContext) => unknown

export class BatchHandler<Payload> {
  static {
    brand(this, 'BatchHandler')
  }

  readonly size: number
  readonly withinMs: number
  readonly handle: BatchFunction<Payload>

  /** Throws InvalidArgumentError. */
  constructor(options: BatchOptions, handle: BatchFunction<Payload>) {
    checkOptions('options', options, ['size', 'within'])
    if (typeof handle !== 'function') throw new InvalidArgumentError('handler', 'must be a function')
    this.size = checkInteger('size', options.size, 1, 1000)
    this.withinMs = toMs('within', options.within ?? '50ms', { min: '0ms', max: '1h' })
    this.handle = handle
  }
}

/** A handler for several jobs of a name at once. Throws InvalidArgumentError. */
export function batch<Payload>(
  options: BatchOptions,
  handler: BatchFunction<Payload>,
): BatchHandler<Payload> {
  return new BatchHandler(options, handler)
}

interface Gathering {
  readonly handler: BatchHandler<never>
  readonly jobs: ClaimedJob[]
  readonly timer: Timer
}

/** The jobs of a worker that wait for their batches to begin, by name, because several names may share a handler. */
export class Gatherings {
  readonly #begin: (handler: BatchHandler<never>, jobs: readonly ClaimedJob[]) => void
  readonly #gatherings = new Map<string, Gathering>()

  constructor(begin: (handler: BatchHandler<never>, jobs: readonly ClaimedJob[]) => void) {
    this.#begin = begin
  }

  add(handler: BatchHandler<never>, job: ClaimedJob): void {
    const { name } = job
    let gathering = this.#gatherings.get(name)
    if (gathering === undefined) {
      gathering = { handler, jobs: [], timer: startTimer(() => this.#beginOne(name), handler.withinMs) }
      this.#gatherings.set(name, gathering)
    }
    gathering.jobs.push(job)
    if (gathering.jobs.length >= handler.size) this.#beginOne(name)
  }

  beginAll(): void {
    for (const name of this.#gatherings.keys()) this.#beginOne(name)
  }

  /** Removes and returns the jobs whose batches have not begun. */
  takeAll(): ClaimedJob[] {
    return [...this.#gatherings.keys()].flatMap((name) => this.#take(name)?.jobs ?? [])
  }

  #beginOne(name: string): void {
    const gathering = this.#take(name)
    if (gathering !== undefined) this.#begin(gathering.handler, gathering.jobs)
  }

  #take(name: string): Gathering | undefined {
    const gathering = this.#gatherings.get(name)
    gathering?.timer.cancel()
    this.#gatherings.delete(name)
    return gathering
  }
}

// One call of a handler, shared by its jobs whose leases are held. It begins once every job has joined or left, or after a
// limit of time, because the `around` hook of a job may never end.
export class JobBatch {
  readonly #handler: BatchHandler<never>
  readonly #joined = new Set<ClaimedJob>()
  /** The index of each job that the call has begun with. */
  readonly #places = new Map<ClaimedJob, number>()
  /** Those of them that the handler still works on. */
  readonly #left = new Set<ClaimedJob>()
  readonly #aborter = new AbortController()
  #missing: number
  #hasBegun = false
  readonly #patienceMs: number
  #timer: Timer | null = null
  #start: () => void = () => undefined
  readonly #complete: Promise<void>
  readonly #results: Promise<readonly unknown[] | undefined>

  constructor(handler: BatchHandler<never>, size: number, patienceMs: number) {
    this.#handler = handler
    this.#missing = size
    this.#patienceMs = patienceMs
    const joined = new Promise<void>((resolve) => (this.#start = resolve))
    this.#complete = joined.then(() => this.#begin())
    this.#results = this.#complete.then(() => this.#run())
    // Each job that has joined gets the rejection.
    this.#results.catch(() => undefined)
  }

  /** Resolves to the job's own result, or undefined if the job was lost before. Rejects if its result is an error. */
  async join(job: ClaimedJob): Promise<unknown> {
    if (this.#hasBegun) return new JobBatch(this.#handler, 1, this.#patienceMs).join(job)
    this.#timer ??= startTimer(() => this.#start(), this.#patienceMs)
    this.#joined.add(job)
    this.#arrive()
    await this.#complete
    const place = this.#places.get(job)
    if (place === undefined) return undefined
    try {
      // A single result may be a promise.
      const result = await (await this.#results)?.[place]
      if (isError(result)) throw result
      return result
    } finally {
      // The handler need not react to the job's outcome any more.
      this.#left.delete(job)
    }
  }

  /** The job is over; if it has not joined, the batch waits for one job less. */
  leave(job: ClaimedJob): void {
    if (!this.#joined.has(job)) this.#arrive()
  }

  #arrive(): void {
    this.#missing -= 1
    if (this.#missing === 0) this.#start()
  }

  #begin(): void {
    this.#hasBegun = true
    this.#timer?.cancel()
    for (const job of this.#joined) {
      if (isHeld(job) && !job.signal.aborted) this.#keep(job)
    }
  }

  #keep(job: ClaimedJob): void {
    this.#places.set(job, this.#places.size)
    this.#left.add(job)
    job.onOutcome(() => this.#lose(job))
    job.signal.addEventListener('abort', () => this.#lose(job))
  }

  /** The job is settled, lost or stopped. */
  #lose(job: ClaimedJob): void {
    if (!this.#left.delete(job) || this.#left.size > 0) return
    const { aborted, reason } = job.signal
    this.#aborter.abort(aborted ? reason : new Error('no job of the batch is left'))
  }

  async #run(): Promise<readonly unknown[] | undefined> {
    const jobs = [...this.#places.keys()] as ClaimedJob[] as ClaimedJob<never>[]
    if (jobs.length === 0) return undefined
    const results = await this.#handler.handle(jobs, { signal: this.#aborter.signal })
    if (results === undefined) return undefined
    if (Array.isArray(results) && results.length === jobs.length) return results
    // Results that are promises are not awaited: a rejection would be unhandled and end the process.
    if (Array.isArray(results)) void Promise.allSettled(results)
    throw new TypeError(
      `the handler of a batch of ${jobs.length} jobs must return ${jobs.length} results, or nothing`,
    )
  }
}
