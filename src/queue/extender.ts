// Keeps the leases of claimed jobs: one timer for all of them, and one call.

import type { ClaimedJob } from './claimed-job.ts'
import type { Settler } from './settling.ts'

const MOST_A_CALL = 500

export class Extender {
  readonly #settler: Settler
  readonly #leaseMs: number
  readonly #onError: (error: unknown) => void
  readonly #jobs = new Set<ClaimedJob>()
  #timer: NodeJS.Timeout | null = null

  constructor(settler: Settler, leaseMs: number, onError: (error: unknown) => void) {
    this.#settler = settler
    this.#leaseMs = leaseMs
    this.#onError = onError
  }

  get jobs(): ReadonlySet<ClaimedJob> {
    return this.#jobs
  }

  keep(job: ClaimedJob): void {
    this.#jobs.add(job)
    this.#timer ??= setTimeout(() => this.#tend(), this.#leaseMs / 3)
  }

  drop(job: ClaimedJob): void {
    this.#jobs.delete(job)
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  /** Jobs that came since the last time have most of their lease left. */
  #tend(): void {
    this.#timer = null
    const due: ClaimedJob[] = []
    for (const job of this.#jobs) {
      if (job.remainingMs === 0) job.lose('lost')
      else if (job.remainingMs < (this.#leaseMs * 5) / 6) due.push(job)
    }
    for (let from = 0; from < due.length; from += MOST_A_CALL) {
      this.#settler.extendAll(due.slice(from, from + MOST_A_CALL), this.#leaseMs).catch(this.#onError)
    }
    if (this.#jobs.size > 0) this.#timer = setTimeout(() => this.#tend(), this.#leaseMs / 3)
  }
}
