// What becomes of jobs whose payloads do not fit: they are dead at once, for another attempt would see the same.

import type { InvalidArgumentError } from '../runtime/errors.ts'
import type { ClaimedJob } from './claimed-job.ts'
import type { PayloadChecks } from './schemas.ts'

const KIND = 'invalid-payload'

/** Makes a job dead whose payload does not fit. Throws LeaseLostError. */
export function buryMisfit(job: ClaimedJob, misfit: InvalidArgumentError): Promise<void> {
  return job.bury({ kind: KIND, message: misfit.message })
}

/** Those of the jobs whose payloads fit; the others are dead then. Throws what a schema throws. */
export async function onlyFitting<Payload>(
  checks: PayloadChecks | null,
  jobs: ClaimedJob<Payload>[],
): Promise<ClaimedJob<Payload>[]> {
  if (checks === null) return jobs
  try {
    const misfits = await Promise.all(jobs.map((job) => checks.misfitOf(job)))
    // Whoever lost one in between has nothing to tell of it.
    const buried = misfits.map(async (misfit, at) => {
      if (misfit !== null) await buryMisfit(jobs[at] as ClaimedJob, misfit).catch(() => undefined)
    })
    await Promise.all(buried)
    return jobs.filter((_, at) => misfits[at] === null)
  } catch (error) {
    await Promise.allSettled(jobs.map((job) => job.release()))
    throw error
  }
}
