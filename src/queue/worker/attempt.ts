// One job and its handler: what the handler does becomes the outcome of the attempt.

import { LeaseLostError, MaxRunError } from '../../runtime/errors/errors.ts'
import { startTimer, type Timer } from '../../runtime/time/timer.ts'
import type { AnswerTime, PayloadChecks } from '../source/schemas.ts'
import { type BackoffFunction, delayAfter } from './backoffs.ts'
import type { BatchHandler } from './batch.ts'
import type { ClaimedJob, Told } from '../claims/claimed-job.ts'
import { isHeld } from '../claims/held.ts'
import type { QueueHooks } from './hooks.ts'
import { type Misfit, misfitOf, settleMisfit } from '../claims/misfits.ts'
import { failureOf } from '../claims/outcome-options.ts'

/** Works on one job; what it gives is the job's result. A job whose handler throws is tried again. */
export type Handler<Payload> = (job: ClaimedJob<Payload>) => unknown

/** How long a job waits that the worker cannot do; it would come back at once. */
const WITHOUT_HANDLER = '5s'

/** One handler for every job, or one for each name; `batch` makes one for several jobs of a name at once. */
export type Handlers<Jobs extends object> =
  | Handler<Jobs[keyof Jobs]>
  | { readonly [Name in keyof Jobs]?: Handler<Jobs[Name]> | BatchHandler<Jobs[Name]> }

/** What a handler threw, and that it took too long. */
export interface HandlingTerms {
  readonly checks: PayloadChecks | null
  /** For what answers later: a schema, a backoff. */
  readonly time: AnswerTime
  readonly around: QueueHooks['around']
  readonly backoff: BackoffFunction<never> | null
  onError(error: unknown, job: ClaimedJob): void
}

/**
 * Resolves when the handler is over, to what becomes of the job then; rejects never. A handler may settle the job
 * itself; else it is acked when it returns, and tried again when it throws.
 */
export async function handle(
  job: ClaimedJob,
  handler: Handler<never> | null,
  terms: HandlingTerms,
): Promise<Outcome> {
  if (handler === null) {
    terms.onError(new Error(`no handler for '${job.name}'`), job)
    // Perhaps a newer worker has one.
    return telling(() => job.release({ delay: WITHOUT_HANDLER }))
  }
  const judged = judge(job, terms)
  const misfit = judged === null || typeof judged === 'function' ? judged : await judged
  return misfit ?? attempt(job, handler, terms)
}

/** Null when its payload fits, and it may be worked on; else what becomes of the job. A promise only where there are schemas. */
export function judge(
  job: ClaimedJob,
  { checks, time, onError }: HandlingTerms,
): Promise<Outcome | null> | Outcome | null {
  const decide = (misfit: Misfit | null): Outcome | null => {
    // A schema may have taken its time.
    if (checks !== null && !isHeld(job)) return telling(() => job.giveUp())
    if (misfit === null) return null
    onError(misfit.error, job)
    return telling(() => settleMisfit(job, misfit))
  }
  const judged = misfitOf(job, checks, time)
  return judged === null || 'kind' in judged ? decide(judged) : judged.then(decide)
}

/** As `handle`, of a job whose payload fits. */
export async function attempt(
  job: ClaimedJob,
  handler: Handler<never>,
  terms: HandlingTerms,
): Promise<Outcome> {
  try {
    const result = await run(job, handler, terms)
    if (!job.isClaimed) return telling(() => job.giveUp())
    const encoded = job.encoded(result)
    return (told) => job.ackThen(encoded, told)
  } catch (error) {
    terms.onError(error, job)
    return telling(() => (job.isClaimed ? fail(job, error, terms) : job.giveUp()))
  }
}

/** Tells the server, and then whether it was told in vain. */
export type Outcome = (told: Told) => void

function telling(send: () => Promise<unknown>): Outcome {
  return (told) => {
    send().then(() => told(null), told)
  }
}

function run(job: ClaimedJob, handler: Handler<never>, { around, time }: HandlingTerms): unknown {
  const { maxRunMs } = job
  const handled = (): unknown => inTime(job, maxRunMs, () => handler(job as ClaimedJob<never>))
  if (around === undefined) return handled()
  // What is around it learns that the time is over, and may say something about it, or never end.
  return inTime(job, maxRunMs === 0 ? 0 : maxRunMs + time.deadlineMs, () =>
    around(job, async () => handled()),
  )
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

async function fail(job: ClaimedJob, error: unknown, terms: HandlingTerms): Promise<void> {
  // What was lost is somebody else's to settle.
  if (error instanceof LeaseLostError && error.token === job.token) return
  const failure = failureOf(error)
  const delay = await delayAfter(error, job, terms)
  await job.retry(delay === null ? failure : { ...failure, delay })
}
