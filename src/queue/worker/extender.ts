// Renews the leases of claimed jobs: one timer for all of them, and one call for those of a queue. The timer fires
// every third of a lease. It also fires when the next lease ends: even if no renewal succeeds, no handler continues
// after its lease. A job whose handler has set a lease of less than half of the worker's is renewed at each third of
// the remaining time.

import { startTimer, type Timer } from '../../runtime/time/timer.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'
import type { JobAttempt } from '../claims/outcomes.ts'
import type { Settler } from '../claims/settler.ts'

const MOST_A_CALL = 500
// Timers count in whole milliseconds, and come a little late.
const MARGIN_MS = 2
const LEAST_PAUSE_MS = 20

export class Extender {
  readonly #leaseMs: number
  readonly #onError: (error: unknown) => void
  readonly #jobs = new Map<ClaimedJob, Settler>()
  #timer: Timer | null = null
  #timerAt = Infinity

  constructor(leaseMs: number, onError: (error: unknown) => void) {
    this.#leaseMs = leaseMs
    this.#onError = onError
  }

  get jobs(): Iterable<ClaimedJob> {
    return this.#jobs.keys()
  }

  /** Adds the jobs of one call, whose leases end at the same time. */
  keep(jobs: readonly ClaimedJob[], settler: Settler): void {
    for (const job of jobs) this.#jobs.set(job, settler)
    if (jobs[0] !== undefined) this.watch(jobs[0])
  }

  /** The lease of an added job may end sooner than before. */
  watch(job: JobAttempt): void {
    this.#plan(this.#pauseMs(job))
  }

  /** A queue was cleared: marks the jobs as lost whose leases are over, and asks about those that may be. */
  look(): void {
    const now = performance.now()
    for (const job of this.#jobs.keys()) loseIfOver(job, now)
    this.#extendAll(({ isClaimed, isInDoubt }) => isClaimed && isInDoubt)
  }

  drop(job: ClaimedJob): void {
    this.#jobs.delete(job)
  }

  close(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#timerAt = Infinity
  }

  #plan(inMs: number): void {
    const at = performance.now() + inMs
    if (at >= this.#timerAt) return
    this.#timer?.cancel()
    this.#timerAt = at
    this.#timer = startTimer(() => this.#tend(), Math.max(0, inMs))
  }

  /** How long until this job must be renewed or checked. */
  #pauseMs(job: JobAttempt): number {
    const { remainingMs, endsAt } = job
    const isShort = remainingMs > 0 && remainingMs < this.#leaseMs / 2
    const pauseMs = isShort ? Math.max(LEAST_PAUSE_MS, remainingMs / 3) : this.#leaseMs / 3
    return Math.min(pauseMs, endsAt - performance.now() - MARGIN_MS)
  }

  /** Renews what is due. Jobs that arrived since the last tick still have most of their lease, and are skipped. */
  #tend(): void {
    this.close()
    let pauseMs = this.#leaseMs / 3
    const now = performance.now()
    for (const job of this.#jobs.keys())
      if (!loseIfOver(job, now)) pauseMs = Math.min(pauseMs, this.#pauseMs(job))
    this.#extendAll((job) => job.isClaimed && job.remainingMs < (this.#leaseMs * 5) / 6)
    if (this.#jobs.size > 0) this.#plan(pauseMs)
  }

  #extendAll(isDue: (job: ClaimedJob) => boolean): void {
    const due = new Map<Settler, ClaimedJob[]>()
    for (const [job, settler] of this.#jobs) {
      if (!isDue(job)) continue
      const jobs = due.get(settler)
      if (jobs === undefined) due.set(settler, [job])
      else jobs.push(job)
    }
    for (const [settler, jobs] of due) this.#extend(settler, jobs)
  }

  #extend(settler: Settler, jobs: readonly ClaimedJob[]): void {
    for (let from = 0; from < jobs.length; from += MOST_A_CALL) {
      settler.extendAll(jobs.slice(from, from + MOST_A_CALL), this.#leaseMs).catch(this.#onError)
    }
  }
}

/** In doubt, such as after a suspension of the machine, the job is renewed: the server knows whether it is lost. */
function loseIfOver(job: JobAttempt, now: number): boolean {
  const isOver = job.endsAt - now <= MARGIN_MS
  if (isOver) job.lose('lost')
  return isOver
}
