// One job and its handler: what the handler does becomes the outcome of the attempt.

import { LeaseLostError, MaxRunError } from '../runtime/errors.ts'
import { startTimer, type Timer } from '../runtime/timer.ts'
import { type BackoffFunction, delayAfter } from './backing-off.ts'
import type { BatchHandler } from './batching.ts'
import type { ClaimedJob, Told } from './claimed-job.ts'
import { isHeld } from './held.ts'
import type { QueueHooks } from './hooks.ts'
import { settleMisfit, misfitOf } from './misfits.ts'
import { failureOf } from './outcome-options.ts'
import type { PayloadChecks } from './schemas.ts'

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
  try {
    if (handler === null) {
      terms.onError(new Error(`no handler for '${job.name}'`), job)
      // Perhaps a newer worker has one.
      return telling(() => job.release({ delay: WITHOUT_HANDLER }))
    }
    const judged = misfitOf(job, terms.checks)
    const misfit = judged === null || 'kind' in judged ? judged : await judged
    if (misfit !== null) {
      terms.onError(misfit.error, job)
      return telling(() => settleMisfit(job, misfit))
    }
    // A schema may have taken its time.
    if (terms.checks !== null && !isHeld(job)) return telling(() => job.giveUp())
    const { around } = terms
    const result = await (around === undefined
      ? run(job, handler)
      : around(job, async () => run(job, handler)))
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

function run(job: ClaimedJob, handler: Handler<never>): unknown {
  return job.maxRunMs === 0 ? handler(job as ClaimedJob<never>) : inTime(job, handler)
}

/** Throws what the handler throws, or that its time is over. */
async function inTime(job: ClaimedJob, handler: Handler<never>): Promise<unknown> {
  const late = new MaxRunError(job.maxRunMs)
  let timer: Timer | undefined
  const ends = new Promise<never>((_, reject) => {
    // The worker keeps the process alive as long as it has the job.
    timer = startTimer(() => {
      job.stop(late)
      reject(late)
    }, job.maxRunMs).unref()
  })
  try {
    return await Promise.race([handler(job as ClaimedJob<never>), ends])
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
