// The attempts of one worker: runs handlers, and turns what they do into an outcome.
//
//   judge: does the payload fit? ──no, or unknown──► Verdict
//     └──yes──► attempt: the handler runs, up to `maxRun` ──► Verdict ──► the worker acks the job, or `settle` ends it
//                                                                        otherwise

import { InvalidArgumentError, LeaseLostError, MaxRunError } from '../../runtime/errors/errors.ts'
import { startTimer, type Timer } from '../../runtime/time/timer.ts'
import { type Duration, toMs } from '../../runtime/values/duration.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'
import { type Misfit, misfitOf, settleMisfit } from '../claims/misfits.ts'
import { failureOf, isHeld } from '../claims/outcomes.ts'
import { answeredIn, type AnswerTime, type PayloadChecks } from '../source/schemas.ts'
import { BatchHandler } from './batch.ts'

/** Works on one job, and returns the job's result. A job whose handler throws is retried. */
export type Handler<Payload> = (job: ClaimedJob<Payload>) => unknown

/** One handler for all jobs, or one for each name; `batch` makes a handler for several jobs of a name at once. */
export type Handlers<Jobs extends object> =
  | Handler<Jobs[keyof Jobs]>
  | { readonly [Name in keyof Jobs]?: Handler<Jobs[Name]> | BatchHandler<Jobs[Name]> }

/** The delay of a job without a handler, which would otherwise come back at once. */
const WITHOUT_HANDLER = '5s'

export interface AttemptHooks {
  /**
   * Wraps each attempt: called instead of the handler, which `run` calls. What it returns is the result of the
   * attempt, and what it throws is the failure.
   */
  around?: (job: ClaimedJob, run: () => Promise<unknown>) => Promise<unknown>
}

/** The outcome to send for a job. `lost`: none, because another attempt settles the job. */
export type AttemptVerdict =
  | { readonly is: 'done'; readonly result: string | Uint8Array }
  | { readonly is: 'failed'; readonly error: unknown }
  | { readonly is: 'misfit'; readonly misfit: Misfit }
  | { readonly is: 'without handler' | 'lost' }

const LOST: AttemptVerdict = { is: 'lost' }

export interface AttemptTerms<Jobs extends object> {
  readonly handlers: Handlers<Jobs>
  readonly backoffs: Backoffs<Jobs>
  readonly checks: PayloadChecks | null
  /** How long to wait for asynchronous schemas and backoffs. */
  readonly time: AnswerTime
  readonly around: AttemptHooks['around']
  /** Called with what a handler threw, and when it took too long. */
  onError(error: unknown, job: ClaimedJob): void
}

export class JobAttempts<Jobs extends object> {
  readonly #terms: AttemptTerms<Jobs>

  constructor(terms: AttemptTerms<Jobs>) {
    this.#terms = terms
  }

  handlerOf(name: string): Handler<never> | BatchHandler<never> | null {
    const { handlers } = this.#terms
    if (typeof handlers === 'function') return handlers
    return Object.hasOwn(handlers, name) ? (handlers[name as keyof Jobs] as Handler<never>) : null
  }

  /** Resolves when the handler is over; never rejects. A handler may settle the job itself. */
  async handle(job: ClaimedJob, handler: Handler<never> | null): Promise<AttemptVerdict> {
    if (handler === null) {
      this.#terms.onError(new Error(`no handler for '${job.name}'`), job)
      return { is: 'without handler' }
    }
    const judged = this.judge(job)
    const verdict = judged instanceof Promise ? await judged : judged
    return verdict ?? this.attempt(job, handler)
  }

  /** Null when the payload fits and the job may be worked on. A promise only if there are schemas. */
  judge(job: ClaimedJob): Promise<AttemptVerdict | null> | AttemptVerdict | null {
    const { checks, time } = this.#terms
    const judged = misfitOf(job, checks, time)
    if (judged instanceof Promise) return judged.then((misfit) => this.#verdictOn(job, misfit))
    return this.#verdictOn(job, judged)
  }

  #verdictOn(job: ClaimedJob, misfit: Misfit | null): AttemptVerdict | null {
    // The lease may have ended while a schema was checking.
    if (this.#terms.checks !== null && !isHeld(job)) return LOST
    if (misfit === null) return null
    this.#terms.onError(misfit.error, job)
    return { is: 'misfit', misfit }
  }

  /** As `handle`, for a job whose payload fits. */
  async attempt(job: ClaimedJob, handler: Handler<never>): Promise<AttemptVerdict> {
    try {
      const result = await this.#run(job, handler)
      return job.isClaimed ? { is: 'done', result: job.encoded(result) } : LOST
    } catch (error) {
      this.#terms.onError(error, job)
      return { is: 'failed', error }
    }
  }

  /** Sends the outcome of a job that is not done. Rejects when that fails. */
  async settle(job: ClaimedJob, verdict: Exclude<AttemptVerdict, { is: 'done' }>): Promise<unknown> {
    // Perhaps a newer worker has a handler.
    if (verdict.is === 'without handler') return job.release({ delay: WITHOUT_HANDLER })
    if (verdict.is === 'misfit') return settleMisfit(job, verdict.misfit)
    if (verdict.is === 'failed' && job.isClaimed) return this.#fail(job, verdict.error)
    return job.giveUp()
  }

  #run(job: ClaimedJob, handler: Handler<never>): unknown {
    const { maxRunMs } = job
    const { around, time } = this.#terms
    const handled = (): unknown => inTime(job, maxRunMs, () => handler(job as ClaimedJob<never>))
    if (around === undefined) return handled()
    // The wrapper gets more time than the handler, so that it can react to MaxRunError. It may never end itself.
    return inTime(job, maxRunMs === 0 ? 0 : maxRunMs + time.deadlineMs, () =>
      around(job, async () => handled()),
    )
  }

  async #fail(job: ClaimedJob, error: unknown): Promise<void> {
    // A lost job is settled by another attempt; where that was in doubt, this one begins again.
    if (error instanceof LeaseLostError && error.token === job.token)
      return job.isInDoubt || job.remainingMs > 0 ? job.release() : undefined
    const failure = failureOf(error)
    const { time, onError } = this.#terms
    const delay = await delayAfter(error, job, { backoff: this.#backoffOf(job.name), time, onError })
    await job.retry(delay === null ? failure : { ...failure, delay })
  }

  #backoffOf(name: string): BackoffFunction<never> | null {
    const { backoffs } = this.#terms
    if (typeof backoffs === 'function') return backoffs
    return Object.hasOwn(backoffs, name) ? (backoffs[name as keyof Jobs] as BackoffFunction<never>) : null
  }
}

/** Returns what `work` returns, and throws what it throws. Throws MaxRunError after `ms`; 0 for no limit. */
function inTime(job: ClaimedJob, ms: number, work: () => unknown): unknown {
  return ms === 0 ? work() : untilLate(job, ms, work)
}

async function untilLate(job: ClaimedJob, ms: number, work: () => unknown): Promise<unknown> {
  const late = new MaxRunError(job.maxRunMs)
  let timer: Timer | undefined
  const ends = new Promise<never>((_, reject) => {
    // The worker keeps the process alive while it has the job.
    timer = startTimer(() => {
      job.stop(late)
      reject(late)
    }, ms).unref()
  })
  try {
    return await Promise.race([work(), ends])
  } finally {
    timer?.cancel()
  }
}

/** Throws InvalidArgumentError. */
export function checkHandlers<Jobs extends object>(handlers: Handlers<Jobs>): Handlers<Jobs> {
  if (typeof handlers === 'function') return handlers
  if (isByName(handlers) && Object.values(handlers).every(isHandler)) return handlers
  throw new InvalidArgumentError('handlers', 'must be a function, or an object of one for each name')
}

function isByName(given: unknown): given is object {
  return typeof given === 'object' && given !== null && !Array.isArray(given)
}

function isHandler(handler: unknown): boolean {
  return typeof handler === 'function' || handler instanceof BatchHandler
}

// Backoffs of the worker, which replace those of jobs.

/**
 * Returns how long a job waits for its next attempt after its handler threw `error`; null or undefined for the job's
 * own backoff. The job's own backoff also applies, and `onError` is called, when this throws, does not answer in
 * time, or returns anything but a duration of up to 365 days.
 */
export type BackoffFunction<Payload> = (error: unknown, job: ClaimedJob<Payload>) => Said | Promise<Said>

type Said = Duration | null | undefined

/** One function for all jobs, or one for each name. */
export type Backoffs<Jobs extends object> =
  | BackoffFunction<Jobs[keyof Jobs]>
  | { readonly [Name in keyof Jobs]?: BackoffFunction<Jobs[Name]> }

interface BackoffTerms {
  readonly backoff: BackoffFunction<never> | null
  readonly time: AnswerTime
  onError(error: unknown, job: ClaimedJob): void
}

/** Throws InvalidArgumentError. */
export function checkBackoffs<Jobs extends object>(backoffs: Backoffs<Jobs>): Backoffs<Jobs> {
  if (typeof backoffs === 'function') return backoffs
  if (isByName(backoffs) && Object.values(backoffs).every((each) => typeof each === 'function'))
    return backoffs
  throw new InvalidArgumentError('backoff', 'must be a function, or an object of one for each name')
}

/** Null for the job's own backoff. */
export async function delayAfter(
  error: unknown,
  job: ClaimedJob,
  { backoff, time, onError }: BackoffTerms,
): Promise<Duration | null> {
  // Nothing follows the last attempt.
  if (backoff === null || job.attempt >= job.maxAttempts) return null
  try {
    const answer = await answeredIn(time, backoff(error, job as ClaimedJob<never>))
    if (answer === null) throw new Error('the backoff function did not answer in time')
    const said = answer.value
    if (said === null || said === undefined) return null
    toMs('backoff', said, { min: '0ms', max: '365d' })
    return said
  } catch (wrong) {
    onError(wrong, job)
    return null
  }
}
