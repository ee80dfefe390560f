// One claim from one queue, or from one partition of it.

import { closed } from '../../runtime/calls/runner.ts'
import { type AskedAll, type AskingInTurn, SILENT_RECHECK_MS } from '../../runtime/time/in-turn.ts'
import type { QueueSource } from '../source/source.ts'
import { ClaimedJob } from './claimed-job.ts'
import { type Exchanged, isBehindOthers } from './exchange.ts'
import { onlyFitting } from './misfits.ts'
import type { Settling } from './outcomes.ts'
import { Settler, toAck } from './settler.ts'

export interface JobClaimTerms {
  readonly limit: number
  readonly leaseMs: number
}

/** The caller of a claim. */
export interface Claimant {
  /** The name under which the server wakes up the caller; empty when it does not wait. */
  readonly worker: string
  /** Jobs that are acked first. */
  readonly done: readonly ClaimedJob[]
  readonly signal: AbortSignal | undefined
}

export interface ClaimAnswer {
  readonly jobs: ClaimedJob[]
  readonly leaseMs: number
  /** When the first of the leases ends, by the server's clock. */
  readonly endsAtMs: number
  /** In how many milliseconds to poll again at the latest; 0 for no polling. */
  readonly recheckMs: number
  /** The total size of the payloads. */
  readonly bytes: number
}

/**
 * Claims until a job fits or none is left: after jobs whose payloads do not fit there may be others. Stops soon after
 * the deadline of a call, because misfits may be many, or keep arriving. `by`: when the first call settles.
 */
export async function claimFrom(
  source: QueueSource,
  terms: JobClaimTerms,
  { worker, done, signal }: Claimant,
  by?: number,
): Promise<ClaimAnswer> {
  const { runner } = source.unit.runtime
  const settler = new Settler(source)
  const looksUntil = performance.now() + runner.deadlineMs
  const { limit, leaseMs } = terms
  // Written out, here and below: to spread objects costs more than the rest of a claim in this process.
  const asked = { limit, leaseMs, worker: limit > 0 ? worker : '' }
  let exchanged = await exchangeWithAcks(settler, source, asked, done, by)
  for (;;) {
    const claimed = toClaimedJobs(source, settler, exchanged)
    if (runner.closed) {
      await giveBack(claimed)
      throw closed()
    }
    const areInDoubt = claimed.some(({ isInDoubt }) => isInDoubt)
    if (areInDoubt) await giveBack(claimed)
    const jobs = areInDoubt ? [] : await onlyFitting(source, claimed, signal)
    const { endsAtMs, recheckMs } = exchanged
    if (jobs.length > 0 || (claimed.length === 0 && !isBehindOthers(exchanged))) {
      let bytes = 0
      for (const { payload } of exchanged.jobs) bytes += payload.length
      return { jobs, leaseMs, endsAtMs, recheckMs, bytes }
    }
    // A claim from a single queue continues after ghosts: places in the list whose jobs are elsewhere.
    const isOver = (by !== undefined || claimed.length > 0) && performance.now() >= looksUntil
    if (isOver) return { jobs, leaseMs, endsAtMs, recheckMs: 1, bytes: 0 }
    exchanged = await settler.exchange({ acks: [], limit, leaseMs, worker: asked.worker })
  }
}

/** Exchanges, and reports to each done job whether its ack was refused. */
async function exchangeWithAcks(
  settler: Settler,
  source: QueueSource,
  asked: JobClaimTerms & { readonly worker: string },
  done: readonly ClaimedJob[],
  by: number | undefined,
): Promise<Exchanged> {
  const { limit, leaseMs, worker } = asked
  const acking = done.filter(({ isClaimed }) => isClaimed)
  const acks = acking.map((job) => toAck(job, undefined, source))
  try {
    const exchanged = await settler.exchange({ acks, limit, leaseMs, worker }, by)
    acking.forEach((job, at) => job.noteAcked(exchanged.refused.get(at) ?? null))
    return exchanged
  } catch (error) {
    for (const job of acking) job.noteAckFailed(error)
    throw error
  }
}

/** The jobs of an exchange; none when their leases ended before the answer arrived: others may have claimed them. */
export function toClaimedJobs(source: QueueSource, settling: Settling, exchanged: Exchanged): ClaimedJob[] {
  if (exchanged.end.latest <= performance.now()) return []
  const { jobs, options } = exchanged
  const byPlace = options.length === 0 ? null : new Map(options.map((each) => [each.at, each]))
  return jobs.map((_, at) => new ClaimedJob(source, settling, exchanged, at, byPlace?.get(at)))
}

export async function giveBack(jobs: readonly ClaimedJob[]): Promise<void> {
  await Promise.allSettled(jobs.map((job) => job.release()))
}

// One round of claims over all partitions of a queue.

/** Once the payloads have this many bytes, no further partition is asked. One answer has no more than this. */
const MOST_BYTES = 4 * 1024 * 1024

export interface RoundTerms extends Claimant {
  /** The round is repeated while there are no jobs. */
  readonly waits: boolean
}

export class ClaimRound {
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

  /** The jobs to ack in that partition. */
  acksFor({ partition }: QueueSource): ClaimedJob[] {
    return this.#claimant.done.filter((job) => job.partition === partition)
  }

  /** `acks`: asks the partitions that have acks, and needs all their answers. */
  asking(acks: boolean): AskingInTurn<QueueSource, ClaimAnswer> {
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

  /** If a partition failed, releases all claimed jobs and throws its error. */
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

  /** There may be more jobs than wanted, because the room of a silent partition is asked for elsewhere, too. */
  async #take({ jobs, endsAtMs, recheckMs, bytes }: ClaimAnswer): Promise<void> {
    const wanted = jobs.slice(0, this.#limit)
    this.#jobs.push(...wanted)
    this.#bytes += bytes
    this.#ends.push(endsAtMs)
    if (recheckMs > 0) this.#rechecks.push(recheckMs)
    await giveBack(jobs.slice(wanted.length))
  }
}
