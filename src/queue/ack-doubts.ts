// Acks that are sent again because nobody knows whether they took effect.

import { AmbiguousError } from '../runtime/errors.ts'
import type { ClaimedJob } from './claimed-job.ts'
import type { LossReason } from './exchange.ts'

export class AckDoubts {
  readonly #jobs = new WeakSet<ClaimedJob>()

  /** The job is told what becomes of its ack; `lost` makes the error for one that was lost. */
  async follow(
    job: ClaimedJob,
    ending: Promise<LossReason | null>,
    lost: (why: LossReason) => Error,
  ): Promise<void> {
    let why: LossReason | null
    try {
      why = this.judge(job, await ending)
    } catch (error) {
      this.note(job, error)
      return job.noteAckEnded(error)
    }
    job.noteAckEnded(why === null ? null : lost(why))
  }

  /** An ack of the job has failed. */
  note(job: ClaimedJob, error: unknown): void {
    if (error instanceof AmbiguousError) this.#jobs.add(job)
  }

  /**
   * Why the job was lost, or null: it is done. As long as its lease lasts nobody else ends it, so one that is not there any
   * more was acked by the call before.
   */
  judge(job: ClaimedJob, why: LossReason | null): LossReason | null {
    const wasAcked = why === 'absent' && this.#jobs.has(job) && job.endsAt > performance.now()
    return wasAcked ? null : why
  }
}
