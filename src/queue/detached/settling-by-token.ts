// What becomes of jobs, told by whoever knows only their ids and tokens: another process, or the client of a service.
// Each job is judged by itself, and that one was lost is a value: it fails no other.

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
  /** Kept with the job where the queue keeps jobs that are done. */
  result?: unknown
}

export interface AckedAndEnqueuedJob extends AckedJob {
  /** What follows it. */
  next: NextJob
}

export interface RetriedJob extends JobLease, RetryOptions {}

export interface FailedJob extends JobLease, FailOptions {}

export interface ReleasedJob extends JobLease, ReleaseOptions {}

/** What became of a job. */
export type Settled<Done extends string> =
  | { readonly outcome: Done }
  /** The attempt had no say over the job any more, and why. */
  | { readonly outcome: 'lost'; readonly reason: LossReason }

/** What became of a job that another one was to follow. */
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

/** Settles and extends jobs for whoever has their ids and tokens: up to 500 a call, each judged by itself. */
export class JobsByToken {
  readonly #source: QueueSource
  readonly #find: FindLeases

  /** `source`: any, where the queue has several. */
  constructor(source: QueueSource, findLeases: FindLeases) {
    this.#source = source
    this.#find = findLeases
  }

  /** The jobs are done. A repeated call is told the same while the job is known. Throws InvalidArgumentError. */
  async ack(jobs: readonly AckedJob[]): Promise<Settled<'acked'>[]> {
    return this.#settle(jobs, ['result'], ({ result }): Send<Settled<'acked'>> => {
      const encoded = encodeResult(result, this.#source)
      return async ({ leased, settler }) =>
        toSettled('acked', await settler.sendAck({ ...leased, result: encoded }))
    })
  }

  /**
   * The jobs are done, and each is followed by another one: both or neither happen. Of a repeated call it is not told what
   * followed: the jobs are lost, as `acked` or `absent`. Throws InvalidArgumentError.
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
   * The jobs are to be tried again; `dead` are those for which that was the last attempt. A repeated call is told the
   * same while the job was not claimed again. Throws InvalidArgumentError.
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

  /** The jobs are not to be tried again. A repeated call is told the same. Throws InvalidArgumentError. */
  async fail(jobs: readonly FailedJob[]): Promise<Settled<'dead'>[]> {
    return this.#settle(jobs, ['kind', 'message'], (job): Send<Settled<'dead'>> => {
      const failure = toFailure(job, 'failed')
      return async ({ leased, settler }) =>
        toSettled('dead', await settler.sendFailure({ ...leased, ...failure }))
    })
  }

  /** Gives the jobs to others, as if these attempts had never begun. Throws InvalidArgumentError. */
  async release(jobs: readonly ReleasedJob[]): Promise<Settled<'released'>[]> {
    return this.#settle(jobs, ['delay'], (job): Send<Settled<'released'>> => {
      const delayMs = toReleaseMs(job)
      return async ({ leased, settler }) =>
        toSettled('released', await settler.sendRelease({ ...leased, delayMs }))
    })
  }

  /** Makes the leases last so long from now on; default 30 seconds. Throws InvalidArgumentError. */
  async extend(jobs: readonly JobLease[], lease: Duration = '30s'): Promise<ExtendedJobs> {
    checkJobs(jobs, [])
    const leaseMs = toLeaseMs(lease)
    const held = await this.#find(jobs, false)
    const told = new Map<Held, LossReason | null>()
    const ends: number[] = []
    const extending = bySettler(held, this.#source).map(async ([settler, those]) => {
      const { answer, outcomes } = await settler.sendExtensions(
        those.map(({ leased }) => leased),
        leaseMs,
      )
      ends.push(answer.expiresAtMs)
      for (const [at, each] of those.entries()) told.set(each, outcomes[at] ?? null)
    })
    await Promise.all(extending)
    const settled = held.map((each) =>
      each === null ? ABSENT : toSettled('extended', told.get(each) ?? null),
    )
    return { leaseMs, expiresAtMs: Math.min(...ends), jobs: settled }
  }

  /** Tells others how far the attempt has come. Throws InvalidArgumentError. */
  async progress(job: JobLease, value: unknown): Promise<Settled<'noted'>> {
    return this.#note(job, 'progress', encodeProgress(value, this.#source))
  }

  /** Adds a line to the log of the job. Throws InvalidArgumentError. */
  async log(job: JobLease, line: string): Promise<Settled<'noted'>> {
    return this.#note(job, 'log', toLine(line))
  }

  async #note(job: JobLease, what: Note['what'], value: Note['value']): Promise<Settled<'noted'>> {
    checkJobs([job], [])
    const [held = null] = await this.#find([job], true)
    if (held === null) return ABSENT
    return toSettled('noted', await held.settler.note({ ...held.leased, what, value }))
  }

  /** Everything is checked before anything is sent; what is sent travels together. */
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

/** Where none is known somebody is asked nevertheless, for the time. */
function bySettler(held: readonly (Held | null)[], source: QueueSource): [Settler, Held[]][] {
  const groups = new Map<Settler, Held[]>()
  for (const each of held.filter((one) => one !== null)) {
    const those = groups.get(each.settler)
    if (those === undefined) groups.set(each.settler, [each])
    else those.push(each)
  }
  return groups.size > 0 ? [...groups] : [[new Settler(source), []]]
}

/** An attempt that has done before what it asks for has done it. */
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
