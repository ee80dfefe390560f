// How long a failed attempt is waited for where the worker says so, and not the job.

import { type Duration, toMs } from '../../runtime/values/duration.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { answeredIn, type AnswerTime } from '../source/schemas.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'

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
  const isObject = typeof backoffs === 'object' && backoffs !== null
  if (isObject && Object.values(backoffs).every((each) => typeof each === 'function')) return backoffs
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
