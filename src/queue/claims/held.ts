import type { ClaimedJob } from './claimed-job.ts'

/** Whether somebody may begin to work on it. A process that stood still has not noticed yet that the lease is over. */
export function isHeld(job: ClaimedJob): boolean {
  if (job.remainingMs === 0) job.lose('lost')
  return job.isClaimed
}
