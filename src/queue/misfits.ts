// What becomes of jobs whose payloads the codec cannot read, or that do not fit: they are dead at once, for another attempt would
// see the same. A schema that throws has judged nothing (it may ask a database that is away): its job is tried again.

import { InvalidArgumentError } from '../runtime/errors.ts'
import { summaryOf } from '../runtime/thrown.ts'
import type { ClaimedJob } from './claimed-job.ts'
import type { PayloadChecks } from './schemas.ts'

/** Why nobody can work on a job. */
export interface Misfit {
  readonly kind: 'undecodable-payload' | 'invalid-payload' | 'schema-failed'
  readonly error: InvalidArgumentError
}

/** Null when the payload fits: it is then read, and what its schema made of it. A promise only where there are schemas. */
export function misfitOf(
  job: ClaimedJob,
  checks: PayloadChecks | null,
): Promise<Misfit | null> | Misfit | null {
  const undecodable = undecodableIn(job)
  return checks === null || undecodable !== null ? undecodable : invalidIn(job, checks)
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

async function invalidIn(job: ClaimedJob, checks: PayloadChecks): Promise<Misfit | null> {
  try {
    const error = await checks.misfitOf(job)
    return error === null ? null : { kind: 'invalid-payload', error }
  } catch (error) {
    const problem = `could not be checked: its schema threw ${summaryOf(error)}`
    return { kind: 'schema-failed', error: new InvalidArgumentError('payload', problem) }
  }
}

/** Makes a job dead whose payload does not fit, or has it tried again where that is not known. Throws LeaseLostError. */
export async function settleMisfit(job: ClaimedJob, { kind, error }: Misfit): Promise<void> {
  const failure = { kind, message: error.message }
  if (kind === 'schema-failed') await job.retry(failure)
  else await job.bury(failure)
}

/** Those of the jobs whose payloads fit; the others are dead then, or will be tried again. */
export async function onlyFitting<Payload>(
  checks: PayloadChecks | null,
  jobs: ClaimedJob<Payload>[],
): Promise<ClaimedJob<Payload>[]> {
  const misfits =
    checks === null
      ? jobs.map(undecodableIn)
      : await Promise.all(jobs.map(async (job) => misfitOf(job, checks)))
  if (misfits.every((misfit) => misfit === null)) return jobs
  const settled = misfits.map(async (misfit, at) => {
    // Whoever lost one in between has nothing to tell of it.
    if (misfit !== null) await settleMisfit(jobs[at] as ClaimedJob, misfit).catch(() => undefined)
  })
  await Promise.all(settled)
  return jobs.filter((_, at) => misfits[at] === null)
}
