// The attempts of one worker: what a handler does with a job becomes what is told of it.
//
//   judge: does its payload fit? ──no, or nobody knows──► Verdict
//     └──yes──► attempt: its handler runs, for as long as the job may take ──► Verdict ──► the worker acks it, or `tell`s the rest

import { InvalidArgumentError, LeaseLostError, MaxRunError } from '../../runtime/errors/errors.ts'
import { startTimer, type Timer } from '../../runtime/time/timer.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'
import { type Misfit, misfitOf, settleMisfit } from '../claims/misfits.ts'
import { failureOf, isHeld } from '../claims/outcomes.ts'
import type { AnswerTime, PayloadChecks } from '../source/schemas.ts'
import { type BackoffFunction, type Backoffs, delayAfter } from './backoffs.ts'
import { BatchHandler } from './batch.ts'
import type { QueueHooks } from './hooks.ts'

/** Works on one job; what it gives is the job's result. A job whose handler throws is tried again. */
export type Handler<Payload> = (job: ClaimedJob<Payload>) => unknown

/** One handler for every job, or one for each name; `batch` makes one for several jobs of a name at once. */
export type Handlers<Jobs extends object> =
  | Handler<Jobs[keyof Jobs]>
  | { readonly [Name in keyof Jobs]?: Handler<Jobs[Name]> | BatchHandler<Jobs[Name]> }

/** How long a job waits that the worker cannot do; it would come back at once. */
const WITHOUT_HANDLER = '5s'

/** What is to become of a job. `lost`: nothing, for it is somebody else's to settle. */
export type Verdict =
  | { readonly is: 'done'; readonly result: string | Uint8Array }
  | { readonly is: 'failed'; readonly error: unknown }
  | { readonly is: 'misfit'; readonly misfit: Misfit }
  | { readonly is: 'without handler' | 'lost' }

const LOST: Verdict = { is: 'lost' }

export interface AttemptTerms<Jobs extends object> {
  readonly handlers: Handlers<Jobs>
  readonly backoffs: Backoffs<Jobs>
  readonly checks: PayloadChecks | null
  /** For what answers later: a schema, a backoff. */
  readonly time: AnswerTime
  readonly around: QueueHooks['around']
  /** What a handler threw, and that it took too long. */
  onError(error: unknown, job: ClaimedJob): void
}

export class Attempts<Jobs extends object> {
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
  async handle(job: ClaimedJob, handler: Handler<never> | null): Promise<Verdict> {
    if (handler === null) {
      this.#terms.onError(new Error(`no handler for '${job.name}'`), job)
      return { is: 'without handler' }
    }
    const judged = this.judge(job)
    const verdict = judged instanceof Promise ? await judged : judged
    return verdict ?? this.attempt(job, handler)
  }

  /** Null when its payload fits, and it may be worked on. A promise only where there are schemas. */
  judge(job: ClaimedJob): Promise<Verdict | null> | Verdict | null {
    const { checks, time } = this.#terms
    const judged = misfitOf(job, checks, time)
    if (judged instanceof Promise) return judged.then((misfit) => this.#verdictOn(job, misfit))
    return this.#verdictOn(job, judged)
  }

  #verdictOn(job: ClaimedJob, misfit: Misfit | null): Verdict | null {
    // A schema may have taken its time.
    if (this.#terms.checks !== null && !isHeld(job)) return LOST
    if (misfit === null) return null
    this.#terms.onError(misfit.error, job)
    return { is: 'misfit', misfit }
  }

  /** As `handle`, of a job whose payload fits. */
  async attempt(job: ClaimedJob, handler: Handler<never>): Promise<Verdict> {
    try {
      const result = await this.#run(job, handler)
      return job.isClaimed ? { is: 'done', result: job.encoded(result) } : LOST
    } catch (error) {
      this.#terms.onError(error, job)
      return { is: 'failed', error }
    }
  }

  /** Tells the server what becomes of a job that is not done. Rejects where it was told in vain. */
  async tell(job: ClaimedJob, verdict: Exclude<Verdict, { is: 'done' }>): Promise<unknown> {
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
  const isObject = typeof handlers === 'object' && handlers !== null
  if (isObject && Object.values(handlers).every(isHandler)) return handlers
  throw new InvalidArgumentError('handlers', 'must be a function, or an object of one for each name')
}

function isHandler(handler: unknown): boolean {
  return typeof handler === 'function' || handler instanceof BatchHandler
}
