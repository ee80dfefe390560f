// The attempts of one worker: what a handler does with a job becomes what is told of it.
//
//   judge: does its payload fit? ──no, or nobody knows──► Verdict
//     └──yes──► attempt: its handler runs, for as long as the job may take ──► Verdict ──► the worker acks it, or `tell`s the rest

import { InvalidArgumentError, LeaseLostError, MaxRunError } from '../../runtime/errors/errors.ts'
import { startTimer, type Timer } from '../../runtime/time/timer.ts'
import { type Duration, toMs } from '../../runtime/values/duration.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'
import { type Misfit, misfitOf, settleMisfit } from '../claims/misfits.ts'
import { failureOf, isHeld } from '../claims/outcomes.ts'
import { answeredIn, type AnswerTime, type PayloadChecks } from '../source/schemas.ts'
import { BatchHandler } from './batch.ts'

/** Works on one job; what it gives is the job's result. A job whose handler throws is tried again. */
export type Handler<Payload> = (job: ClaimedJob<Payload>) => unknown

/** One handler for every job, or one for each name; `batch` makes one for several jobs of a name at once. */
export type Handlers<Jobs extends object> =
  | Handler<Jobs[keyof Jobs]>
  | { readonly [Name in keyof Jobs]?: Handler<Jobs[Name]> | BatchHandler<Jobs[Name]> }

/** How long a job waits that the worker cannot do; it would come back at once. */
const WITHOUT_HANDLER = '5s'

export interface AttemptHooks {
  /**
   * Called for each attempt instead of its handler, which `run` calls: what it gives is the result of the attempt, and
   * what it throws its failure.
   */
  around?: (job: ClaimedJob, run: () => Promise<unknown>) => Promise<unknown>
}

/** What is to become of a job. `lost`: nothing, for it is somebody else's to settle. */
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
  /** For what answers later: a schema, a backoff. */
  readonly time: AnswerTime
  readonly around: AttemptHooks['around']
  /** What a handler threw, and that it took too long. */
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

  /** Resolves when the handler is over; rejects never. A handler may settle the job itself. */
  async handle(job: ClaimedJob, handler: Handler<never> | null): Promise<AttemptVerdict> {
    if (handler === null) {
      this.#terms.onError(new Error(`no handler for '${job.name}'`), job)
      return { is: 'without handler' }
    }
    const judged = this.judge(job)
    const verdict = judged instanceof Promise ? await judged : judged
    return verdict ?? this.attempt(job, handler)
  }

  /** Null when its payload fits, and it may be worked on. A promise only where there are schemas. */
  judge(job: ClaimedJob): Promise<AttemptVerdict | null> | AttemptVerdict | null {
    const { checks, time } = this.#terms
    const judged = misfitOf(job, checks, time)
    if (judged instanceof Promise) return judged.then((misfit) => this.#verdictOn(job, misfit))
    return this.#verdictOn(job, judged)
  }

  #verdictOn(job: ClaimedJob, misfit: Misfit | null): AttemptVerdict | null {
    // A schema may have taken its time.
    if (this.#terms.checks !== null && !isHeld(job)) return LOST
    if (misfit === null) return null
    this.#terms.onError(misfit.error, job)
    return { is: 'misfit', misfit }
  }

  /** As `handle`, of a job whose payload fits. */
  async attempt(job: ClaimedJob, handler: Handler<never>): Promise<AttemptVerdict> {
    try {
      const result = await this.#run(job, handler)
      return job.isClaimed ? { is: 'done', result: job.encoded(result) } : LOST
    } catch (error) {
      this.#terms.onError(error, job)
      return { is: 'failed', error }
    }
  }

  /** Tells the server what becomes of a job that is not done. Rejects where it was told in vain. */
  async tell(job: ClaimedJob, verdict: Exclude<AttemptVerdict, { is: 'done' }>): Promise<unknown> {
    // Perhaps a newer worker has one.
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
    // What is around it learns that the time is over, and may say something about it, or never end.
    return inTime(job, maxRunMs === 0 ? 0 : maxRunMs + time.deadlineMs, () =>
      around(job, async () => handled()),
    )
  }

  async #fail(job: ClaimedJob, error: unknown): Promise<void> {
    // What was lost is somebody else's to settle.
    if (error instanceof LeaseLostError && error.token === job.token) return
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

/** What the work gives. Throws what it throws, and that the time of the job is over, after `ms`; 0: never. */
function inTime(job: ClaimedJob, ms: number, work: () => unknown): unknown {
  return ms === 0 ? work() : untilLate(job, ms, work)
}

async function untilLate(job: ClaimedJob, ms: number, work: () => unknown): Promise<unknown> {
  const late = new MaxRunError(job.maxRunMs)
  let timer: Timer | undefined
  const ends = new Promise<never>((_, reject) => {
    // The worker keeps the process alive as long as it has the job.
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

// How long a failed attempt is waited for where the worker says so, and not the job.

/**
 * How long to wait for the next attempt of a job, after what its handler threw; null or undefined: as the job's own backoff
 * says. So it is where this throws, does not answer, or gives what is no duration up to 365 days; `onError` is told.
 */
export type BackoffFunction<Payload> = (error: unknown, job: ClaimedJob<Payload>) => Said | Promise<Said>

type Said = Duration | null | undefined

/** One for every job, or one for each name. */
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

/** Null: as the job says itself. */
export async function delayAfter(
  error: unknown,
  job: ClaimedJob,
  { backoff, time, onError }: BackoffTerms,
): Promise<Duration | null> {
  // Nothing follows the last attempt.
  if (backoff === null || job.attempt >= job.maxAttempts) return null
  try {
    const answer = await answeredIn(time, backoff(error, job as ClaimedJob<never>))
    if (answer === null) throw new Error('the backoff has not answered in time')
    const said = answer.value
    if (said === null || said === undefined) return null
    toMs('backoff', said, { min: '0ms', max: '365d' })
    return said
  } catch (wrong) {
    onError(wrong, job)
    return null
  }
}
