// What comes of asking all partitions of a queue for jobs once.

import { type AskedAll, type Asking, SILENT_RECHECK_MS } from '../../runtime/time/in-turn.ts'
import type { Source } from '../source/source.ts'
import type { ClaimedJob } from './claimed-job.ts'
import { type Claimant, type ClaimAnswer, claimFrom, giveBack, type JobClaimTerms } from './unit-claim.ts'

/** Behind payloads with which they reach this no other partition is asked for jobs; what one gives has no more. */
const MOST_BYTES = 4 * 1024 * 1024

export interface RoundTerms extends Claimant {
  /** It is asked again as long as there is nothing. */
  readonly waits: boolean
}

export class Round {
  readonly #terms: JobClaimTerms
  readonly #claimant: Claimant
  readonly #jobs: ClaimedJob[] = []
  readonly #rechecks: number[] = []
  readonly #ends: number[] = []
  #bytes = 0

  constructor(terms: JobClaimTerms, claimant: Claimant) {
    this.#terms = terms
    this.#claimant = claimant
  }

  /** What is to be acked there. */
  acksFor({ partition }: Source): ClaimedJob[] {
    return this.#claimant.done.filter((job) => job.partition === partition)
  }

  /** `acks`: those are asked that have some, and every answer is needed. */
  asking(acks: boolean): Asking<Source, ClaimAnswer> {
    const { worker, signal } = this.#claimant
    return {
      ask: (source, by) => {
        const done = acks ? this.acksFor(source) : []
        const limit = this.#limit
        if (signal?.aborted || (limit === 0 && done.length === 0)) return null
        return claimFrom(source, { ...this.#terms, limit }, { worker, done, signal }, by)
      },
      take: (answer) => this.#take(answer),
      giveBack: ({ jobs }) => giveBack(jobs),
      hasEnough: () => !acks && this.#jobs.length > 0,
    }
  }

  /** Throws what went wrong, once all that was claimed is given back. */
  async throwFailure({ failures }: AskedAll): Promise<void> {
    if (failures.length === 0) return
    await giveBack(this.#jobs)
    throw failures[0]
  }

  end({ failures, isWhole }: AskedAll): ClaimAnswer {
    if (this.#jobs.length === 0 && failures.length > 0) throw failures[0]
    const ends = this.#jobs.length === 0 ? this.#ends : this.#jobs.map(({ expiresAtMs }) => expiresAtMs)
    const rechecks = isWhole ? this.#rechecks : [...this.#rechecks, SILENT_RECHECK_MS]
    const recheckMs = rechecks.length === 0 ? 0 : Math.min(...rechecks)
    const { leaseMs } = this.#terms
    return { jobs: this.#jobs, leaseMs, endsAtMs: Math.min(...ends), recheckMs, bytes: this.#bytes }
  }

  get #limit(): number {
    return this.#bytes < MOST_BYTES ? this.#terms.limit - this.#jobs.length : 0
  }

  /** Where a silent partition was asked for as many, too, there may be more than are wanted. */
  async #take({ jobs, endsAtMs, recheckMs, bytes }: ClaimAnswer): Promise<void> {
    const wanted = jobs.slice(0, this.#limit)
    this.#jobs.push(...wanted)
    this.#bytes += bytes
    this.#ends.push(endsAtMs)
    if (recheckMs > 0) this.#rechecks.push(recheckMs)
    await giveBack(jobs.slice(wanted.length))
  }
}
