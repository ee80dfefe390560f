// One queue, or one partition of it, as a worker serves it: where its jobs come from, and where their outcomes go.

import type { ClaimedJob, Settling } from '../claims/claimed-job.ts'
import { toClaimedJobs } from '../claims/claimed-jobs.ts'
import { Exchanger, type ExchangeTerms } from './exchanger.ts'
import { Insisting } from '../claims/insistence.ts'
import { Settler } from '../claims/settler.ts'
import type { Source } from '../source/source.ts'

export interface LaneTerms extends Omit<ExchangeTerms, 'take' | 'onHurry'> {
  /** Jobs have come. */
  take(jobs: ClaimedJob[], settler: Settler): void
  /** The lease of a job has another end. */
  onExtended(job: ClaimedJob): void
}

/** Begins to ask when there is room. */
export function openLane(source: Source, terms: LaneTerms): Exchanger {
  const settler = new Settler(source)
  const insisting = new Insisting(terms.onError)
  const exchanger: Exchanger = new Exchanger(source, {
    ...terms,
    onHurry: () => insisting.hurry(),
    take: (exchanged) => terms.take(toClaimedJobs(source, outcomes, exchanged), settler),
  })
  // Acks travel with the next claim.
  const outcomes: Settling = {
    keepsLeases: true,
    ack: (job, result) => exchanger.ack({ number: job.number, token: job.token, result }, job),
    advance: (...step) => settler.advance(...step),
    retry: (job, ...failure) => insisting.tell(job, (inDoubt) => settler.retry(job, ...failure, inDoubt)),
    bury: (job, failure) => insisting.tell(job, (inDoubt) => settler.bury(job, failure, inDoubt)),
    release: (job, delayMs) => insisting.tell(job, (inDoubt) => settler.release(job, delayMs, inDoubt)),
    note: (note) => settler.note(note),
    extend: async (job, ms) => {
      const extending = settler.extend(job, ms)
      // It may end earlier from now on, also when no answer comes.
      terms.onExtended(job)
      await extending.finally(() => terms.onExtended(job))
    },
  }
  return exchanger
}
