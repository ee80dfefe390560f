// What becomes of jobs whose payloads the codec cannot read, or that do not fit: they are dead at once, for another attempt would
// see the same. A schema that throws, or does not answer, has judged nothing (it may ask a database that is away): its job is
// tried again.

import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { unlessAborted } from '../../runtime/time/in-time.ts'
import { closed } from '../../runtime/calls/runner.ts'
import { summaryOf } from '../../runtime/errors/thrown.ts'
import { type AnswerTime, type PayloadChecks, timeOfClaim } from '../source/schemas.ts'
import type { ClaimedJob } from './claimed-job.ts'
import { Insistence } from './insistence.ts'
import type { QueueSource } from '../source/source.ts'

/** Why nobody can work on a job. */
export interface Misfit {
  readonly kind: 'undecodable-payload' | 'invalid-payload' | 'schema-failed'
  readonly error: InvalidArgumentError
}

/** Null when the payload fits: it is then read, and what its schema made of it. A promise only where there are schemas. */
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

/** Makes a job dead whose payload does not fit, or has it tried again where that is not known. Throws LeaseLostError. */
export async function settleMisfit(job: ClaimedJob, { kind, error }: Misfit): Promise<void> {
  const failure = { kind, message: error.message }
  if (kind === 'schema-failed') await job.retry(failure)
  else await job.fail(failure)
}

/**
 * Those of the jobs of one claim whose payloads fit; the others are dead then, or will be tried again. Rejects with the signal's
 * reason, or DriverError `closed`: then all of them are given back.
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
  const told: Promise<void>[] = []
  const tried = misfits.flatMap((misfit, at) =>
    misfit === null ? [] : [settleSoon(insisting, jobs[at] as ClaimedJob, misfit, told)],
  )
  void Promise.all(told).then(forget)
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
    // Then no schema was waited for.
    if (runner.closed) throw closed()
    return misfits
  } catch (error) {
    // Nobody waits for that: who claimed them has gone.
    for (const job of jobs) job.release().catch(() => undefined)
    throw error
  }
}

/**
 * Resolves once it was tried. What the server could not be told is told again meanwhile, until the lease is over: else the job
 * would end as lost, and nobody learn why. Whoever lost one in between has nothing to tell of it.
 */
function settleSoon(
  insisting: Insistence,
  job: ClaimedJob,
  misfit: Misfit,
  told: Promise<void>[],
): Promise<void> {
  return new Promise((tried) => {
    const settle = (): Promise<void> => settleMisfit(job, misfit).finally(tried)
    told.push(insisting.tell(job, settle).catch(() => undefined))
  })
}
