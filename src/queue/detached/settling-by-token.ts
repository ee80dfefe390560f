// Settles jobs for callers that know only their ids and tokens: another process, or the client of a service. Each job
// has a result of its own. A lost job is a result, not an error, and does not affect the others.

import { checkOptions, checkText, checkToken } from '../../runtime/values/arguments.ts'
import type { Duration } from '../../runtime/values/duration.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { toLeaseMs } from '../../runtime/leases/lease-options.ts'
import {
  type AckedAndEnqueued,
  type FailOptions,
  checkNext,
  type NextJob,
  type ReleaseOptions,
  type RetryOptions,
  toFailure,
  toReleaseMs,
  toRetry,
  toStep,
} from '../claims/outcomes.ts'
import { encodeProgress, type LossReason, type Note, toLine } from '../jobs/attempt.ts'
import type { FindLeases, Held, JobLease } from './detached-jobs.ts'
import { encodeResult } from '../source/job-parts.ts'
import { type Retried, Settler } from '../claims/settler.ts'
import type { QueueSource } from '../source/source.ts'

export type { JobLease } from './detached-jobs.ts'

export interface AckedJob extends JobLease {
  /** The result of the job, stored if the queue keeps done jobs. */
  result?: unknown
}

export interface AckedAndEnqueuedJob extends AckedJob {
  /** The job that follows it. */
  next: NextJob
}

export interface RetriedJob extends JobLease, RetryOptions {}

export interface FailedJob extends JobLease, FailOptions {}

export interface ReleasedJob extends JobLease, ReleaseOptions {}

/** The result of settling a job. */
export type Settled<Done extends string> =
  | { readonly outcome: Done }
  /** The attempt did not hold the job any more, with the reason. */
  | { readonly outcome: 'lost'; readonly reason: LossReason }

/** The result of acking a job and enqueueing the next one. */
export type SettledAckAndEnqueue =
  | { readonly outcome: 'acked'; readonly next: AckedAndEnqueued }
  | { readonly outcome: 'lost'; readonly reason: LossReason }

export interface ExtendedJobs {
  readonly leaseMs: number
  /** When the leases that were extended end, in milliseconds of the server's clock. */
  readonly expiresAtMs: number
  readonly jobs: Settled<'extended'>[]
}

type Send<Result> = (held: Held) => Promise<Result>

const MAX_JOBS = 500

/** Settles and extends jobs by their ids and tokens: up to 500 a call, with a result for each, in order. */
export class JobsByToken {
  readonly #source: QueueSource
  readonly #find: FindLeases

  /** `source`: any of the queue's partitions. */
  constructor(source: QueueSource, findLeases: FindLeases) {
    this.#source = source
    this.#find = findLeases
  }

  /** Completes the jobs. A repeated call gets the same result while the job exists. Throws InvalidArgumentError. */
  async ack(jobs: readonly AckedJob[]): Promise<Settled<'acked'>[]> {
    return this.#settle(jobs, ['result'], ({ result }): Send<Settled<'acked'>> => {
      const encoded = encodeResult(result, this.#source)
      return async ({ leased, settler }) =>
        toSettled('acked', await settler.sendAck({ ...leased, result: encoded }))
    })
  }

  /**
   * Completes the jobs, and enqueues the next job of each: both or neither happen. A repeated call does not return
   * the next jobs: the jobs are `lost`, with reason `acked` or `absent`. Throws InvalidArgumentError.
   */
  async ackAndEnqueue(jobs: readonly AckedAndEnqueuedJob[]): Promise<SettledAckAndEnqueue[]> {
    checkJobs(jobs, ['next', 'result'])
    await Promise.all(jobs.map(async ({ next }) => checkNext(next, this.#source)))
    return this.#settle(jobs, ['next', 'result'], ({ next, result }): Send<SettledAckAndEnqueue> => {
      const step = toStep(next, encodeResult(result, this.#source), this.#source)
      return async ({ leased: { number, token }, settler }) => {
        const outcome = await settler.sendStep({ ...step, number, token })
        return typeof outcome === 'string'
          ? { outcome: 'lost', reason: outcome }
          : { outcome: 'acked', next: outcome }
      }
    })
  }

  /**
   * The attempts failed, and the jobs are to be retried; `dead` are those whose last attempt it was. A repeated call
   * gets the same result until the job is claimed again. Throws InvalidArgumentError.
   */
  async retry(jobs: readonly RetriedJob[]): Promise<Settled<Retried>[]> {
    return this.#settle(jobs, ['delay', 'kind', 'message'], (job): Send<Settled<Retried>> => {
      const failure = toRetry(job)
      return async ({ leased, settler }) => {
        const outcome = await settler.sendRetry({ ...leased, ...failure })
        if (outcome === 'retried' || outcome === 'dead') return { outcome }
        return { outcome: 'lost', reason: outcome }
      }
    })
  }

  /**
   * Makes the jobs dead without further attempts. A repeated call gets the same result. Throws InvalidArgumentError.
   */
  async fail(jobs: readonly FailedJob[]): Promise<Settled<'dead'>[]> {
    return this.#settle(jobs, ['kind', 'message'], (job): Send<Settled<'dead'>> => {
      const failure = toFailure(job, 'failed')
      return async ({ leased, settler }) =>
        toSettled('dead', await settler.sendFailure({ ...leased, ...failure }))
    })
  }

  /** Makes the jobs ready again, as if these attempts had never begun. Throws InvalidArgumentError. */
  async release(jobs: readonly ReleasedJob[]): Promise<Settled<'released'>[]> {
    return this.#settle(jobs, ['delay'], (job): Send<Settled<'released'>> => {
      const delayMs = toReleaseMs(job)
      return async ({ leased, settler }) =>
        toSettled('released', await settler.sendRelease({ ...leased, delayMs }))
    })
  }

  /** Sets the leases to this duration from now on; default 30 seconds. Throws InvalidArgumentError. */
  async extend(jobs: readonly JobLease[], lease: Duration = '30s'): Promise<ExtendedJobs> {
    checkJobs(jobs, [])
    const leaseMs = toLeaseMs(lease)
    const held = await this.#find(jobs, false)
    const losses = new Map<Held, LossReason | null>()
    const ends: number[] = []
    const extending = bySettler(held, this.#source).map(async ([settler, those]) => {
      const { answer, outcomes } = await settler.sendExtensions(
        those.map(({ leased }) => leased),
        leaseMs,
      )
      ends.push(answer.expiresAtMs)
      for (const [at, each] of those.entries()) losses.set(each, outcomes[at] ?? null)
    })
    await Promise.all(extending)
    const settled = held.map((each) =>
      each === null ? ABSENT : toSettled('extended', losses.get(each) ?? null),
    )
    return { leaseMs, expiresAtMs: Math.min(...ends), jobs: settled }
  }

  /** Reports the progress of an attempt. Throws InvalidArgumentError. */
  async progress(job: JobLease, value: unknown): Promise<Settled<'noted'>> {
    return this.#note(job, 'progress', encodeProgress(value, this.#source))
  }

  /** Adds a line to the log of the job, cut to 1024 bytes. Throws InvalidArgumentError. */
  async log(job: JobLease, line: string): Promise<Settled<'noted'>> {
    return this.#note(job, 'log', toLine(line))
  }

  async #note(job: JobLease, what: Note['what'], value: Note['value']): Promise<Settled<'noted'>> {
    checkJobs([job], [])
    const [held = null] = await this.#find([job], true)
    if (held === null) return ABSENT
    return toSettled('noted', await held.settler.note({ ...held.leased, what, value }))
  }

  /** Checks all jobs before sending anything, and sends them together. */
  async #settle<Job extends JobLease, Result>(
    jobs: readonly Job[],
    known: readonly string[],
    prepare: (job: Job) => Send<Result>,
  ): Promise<(Result | typeof ABSENT)[]> {
    checkJobs(jobs, known)
    const sends = jobs.map(prepare)
    const held = await this.#find(jobs, false)
    const settling = sends.map(async (send, at) => {
      const each = held[at] ?? null
      return each === null ? ABSENT : send(each)
    })
    return Promise.all(settling)
  }
}

const ABSENT = { outcome: 'lost', reason: 'absent' } as const

/** Groups leases by settler. Without leases one settler is still called with none, to get the server's time. */
function bySettler(held: readonly (Held | null)[], source: QueueSource): [Settler, Held[]][] {
  const groups = new Map<Settler, Held[]>()
  for (const each of held.filter((one) => one !== null)) {
    const those = groups.get(each.settler)
    if (those === undefined) groups.set(each.settler, [each])
    else those.push(each)
  }
  return groups.size > 0 ? [...groups] : [[new Settler(source), []]]
}

/** An attempt that was settled in the same way before counts as settled. */
function toSettled<Done extends string>(done: Done, why: LossReason | null): Settled<Done> {
  return why === null || why === (done as string) ? { outcome: done } : { outcome: 'lost', reason: why }
}

function checkJobs(jobs: unknown, known: readonly string[]): void {
  if (!Array.isArray(jobs) || jobs.length === 0 || jobs.length > MAX_JOBS) {
    throw new InvalidArgumentError('jobs', `must be a list of 1 to ${MAX_JOBS} jobs`)
  }
  for (const job of jobs as JobLease[]) {
    checkOptions('job', job, ['id', 'token', ...known])
    checkText('id', job.id, 512)
    checkToken(job.token)
  }
}
