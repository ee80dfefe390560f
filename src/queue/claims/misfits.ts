// Settles jobs whose payloads the codec cannot read, or that do not fit their schema: they are dead at once, because
// another attempt would see the same. A schema that throws or does not answer has not decided (it may need a database
// that is down): its job is retried.

import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { unlessAborted } from '../../runtime/time/in-time.ts'
import { closed } from '../../runtime/calls/runner.ts'
import { summaryOf } from '../../runtime/errors/thrown.ts'
import { type AnswerTime, type PayloadChecks, timeOfClaim } from '../source/schemas.ts'
import type { ClaimedJob } from './claimed-job.ts'
import { Insistence } from './insistence.ts'
import type { QueueSource } from '../source/source.ts'

/** Why a job cannot be worked on. */
export interface Misfit {
  readonly kind: 'undecodable-payload' | 'invalid-payload' | 'schema-failed'
  readonly error: InvalidArgumentError
}

/**
 * Null when the payload fits; then it is decoded and transformed by its schema. A promise only if there are schemas.
 */
export function misfitOf(
  job: ClaimedJob,
  checks: PayloadChecks | null,
  time: AnswerTime,
): Promise<Misfit | null> | Misfit | null {
  const undecodable = undecodableIn(job)
  return checks === null || undecodable !== null ? undecodable : invalidIn(job, checks, time)
}

function undecodableIn(job: ClaimedJob): Misfit | null {
  try {
    void job.payload
    return null
  } catch (error) {
    const problem = `cannot be read: ${summaryOf(error)}`
    return { kind: 'undecodable-payload', error: new InvalidArgumentError('payload', problem) }
  }
}

async function invalidIn(job: ClaimedJob, checks: PayloadChecks, time: AnswerTime): Promise<Misfit | null> {
  try {
    const error = await checks.misfitOf(job, time)
    if (error === 'unanswered') return unchecked('has not answered in time')
    return error === null ? null : { kind: 'invalid-payload', error }
  } catch (error) {
    return unchecked(`threw ${summaryOf(error)}`)
  }
}

function unchecked(why: string): Misfit {
  const problem = `could not be checked: its schema ${why}`
  return { kind: 'schema-failed', error: new InvalidArgumentError('payload', problem) }
}

/** Makes a job dead whose payload does not fit, or retries it if that is unknown. Throws LeaseLostError. */
export async function settleMisfit(job: ClaimedJob, { kind, error }: Misfit): Promise<void> {
  const failure = { kind, message: error.message }
  if (kind === 'schema-failed') await job.retry(failure)
  else await job.fail(failure)
}

/**
 * The jobs of one claim whose payloads fit; the others are made dead or retried. Rejects with the signal's reason, or
 * DriverError `closed`: then all of the jobs are released.
 */
export async function onlyFitting<Payload>(
  source: QueueSource,
  jobs: ClaimedJob<Payload>[],
  signal: AbortSignal | undefined,
): Promise<ClaimedJob<Payload>[]> {
  const misfits = await judgeAll(source, jobs, signal)
  if (misfits.every((misfit) => misfit === null)) return jobs
  const insisting = new Insistence(() => undefined)
  const forget = source.unit.runtime.atClose(() => insisting.hurry())
  const pending: Promise<void>[] = []
  const tried = misfits.flatMap((misfit, at) =>
    misfit === null ? [] : [settleSoon(insisting, jobs[at] as ClaimedJob, misfit, pending)],
  )
  void Promise.all(pending).then(forget)
  await Promise.all(tried)
  return jobs.filter((_, at) => misfits[at] === null)
}

async function judgeAll(
  { checks, unit }: QueueSource,
  jobs: readonly ClaimedJob[],
  signal: AbortSignal | undefined,
): Promise<(Misfit | null)[]> {
  if (checks === null) return jobs.map(undecodableIn)
  const { runner } = unit.runtime
  const time = timeOfClaim(runner, jobs[0]?.remainingMs ?? 0)
  try {
    const judging = jobs.map(async (job) => misfitOf(job, checks, time))
    const misfits = await unlessAborted(Promise.all(judging), signal)
    // Closing ends the waiting for schemas without an answer.
    if (runner.closed) throw closed()
    return misfits
  } catch (error) {
    // Not awaited: the caller has left.
    for (const job of jobs) job.release().catch(() => undefined)
    throw error
  }
}

/**
 * Resolves after the first try. If it failed, it is retried in the background until the lease is over: otherwise the
 * job would end as lost, without the reason. Errors are ignored, such as that the job was lost meanwhile.
 */
function settleSoon(
  insisting: Insistence,
  job: ClaimedJob,
  misfit: Misfit,
  pending: Promise<void>[],
): Promise<void> {
  return new Promise((tried) => {
    const settle = (): Promise<void> => settleMisfit(job, misfit).finally(tried)
    pending.push(insisting.settle(job, settle).catch(() => undefined))
  })
}
