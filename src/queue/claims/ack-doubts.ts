// Acks that are sent again because nobody knows whether they took effect, whichever way they are sent.

import { AmbiguousError } from '../../runtime/errors/errors.ts'
import type { ClaimedJob } from './claimed-job.ts'
import type { LossReason } from './exchange.ts'

const doubted = new WeakSet<ClaimedJob>()

/** The job is told what becomes of its ack; `lost` makes the error for one that was lost. */
export async function followAck(
  job: ClaimedJob,
  ending: Promise<LossReason | null>,
  lost: (why: LossReason) => Error,
): Promise<void> {
  let why: LossReason | null
  try {
    why = judgeAck(job, await ending)
  } catch (error) {
    noteAckFailed(job, error)
    return job.noteAckEnded(error)
  }
  job.noteAckEnded(why === null ? null : lost(why))
}

/** The jobs are told what became of the acks that went along with a claim: why they were refused, by their places. */
export function tellAcked(jobs: readonly ClaimedJob[], refused: ReadonlyMap<number, LossReason>): void {
  for (const [at, job] of jobs.entries()) job.noteAcked(judgeAck(job, refused.get(at) ?? null))
}

export function noteAckFailed(job: ClaimedJob, error: unknown): void {
  if (error instanceof AmbiguousError) doubted.add(job)
}

/**
 * Why the job was lost, or null: it is done. As long as its lease lasts nobody else ends it, so one that is not there any
 * more was acked by the call before.
 */
export function judgeAck(job: ClaimedJob, why: LossReason | null): LossReason | null {
  const wasAcked = why === 'absent' && doubted.has(job) && job.endsAt > performance.now()
  return wasAcked ? null : why
}
