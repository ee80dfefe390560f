// The other side of asking: a child process that does one job after the other.

import { once } from 'node:events'
import { firstLine } from './first-line.ts'

/** The report of a job that failed. */
export interface Refusal {
  readonly refusal: string
}

export function answer(message: unknown): void {
  process.send?.(message)
}

/** Answers each job with what `work` makes of it, or why it could not be done, until the parent is gone. */
export async function answerJobs<Job>(work: (job: Job) => Promise<unknown>): Promise<void> {
  // The parent may die without a word.
  process.once('disconnect', () => process.exit())
  for (;;) {
    const [job]: Job[] = await once(process, 'message')
    if (job !== undefined) answer(await work(job).catch(toRefusal))
  }
}

function toRefusal(error: unknown): Refusal {
  return { refusal: firstLine(error) }
}
