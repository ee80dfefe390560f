// Sends the outcomes of claimed jobs: one call for all outcomes of a kind in one tick.

import { ackAndClaim, ackAndEnqueue, fail, extend, release, retry } from '../../generated/queue.ts'
import type { BatchTerms } from '../../runtime/calls/batcher.ts'
import type { CallId } from '../../runtime/calls/call-ids.ts'
import { LeaseLostError } from '../../runtime/errors/errors.ts'
import type { ExtensionAnswer } from '../../runtime/keeper/belief.ts'
import { askingAt, type End, endOf } from '../../runtime/keeper/grant.ts'
import { learnNotifyChannel } from '../../runtime/waiting/notify-channel.ts'
import {
  type AckedAndEnqueued,
  asCalledBy,
  type JobAttempt,
  type Failure,
  type NextJob,
  sendSteps,
  type Settling,
  type AdvanceStep,
  toStep,
} from './outcomes.ts'
import { type Leased, type LossReason, type Note, reasonsOf, sendNote } from '../jobs/attempt.ts'
import { type Ack, type Exchange, type Exchanged, exchange } from './exchange.ts'
import { encodeResult } from '../source/job-parts.ts'
import type { QueueSource } from '../source/source.ts'
import { workOf } from '../jobs/job-options.ts'

interface FailedAttempt extends Leased, Failure {
  readonly delayMs: number
}

/** A job to release. */
interface Returned extends Leased {
  readonly delayMs: number
}

/** The outcome of a failed attempt. */
export type Retried = 'retried' | 'dead'

const MAX_BYTES = 4 * 1024 * 1024
const LIMITS = { items: 500, bytes: MAX_BYTES, underWay: 2, waiting: 100_000, givesBack: true }
const ACKS: BatchTerms = { name: ackAndClaim.script.name, ...LIMITS }
const STEPS: BatchTerms = { name: ackAndEnqueue.script.name, ...LIMITS }
const RETRIES: BatchTerms = { name: retry.script.name, ...LIMITS }
const RELEASES: BatchTerms = { name: release.script.name, ...LIMITS }
const FAILURES: BatchTerms = { name: fail.script.name, ...LIMITS }

export class Settler implements Settling {
  readonly keepsLeases: boolean = false
  readonly #source: QueueSource

  constructor(source: QueueSource) {
    this.#source = source
  }

  ack(job: JobAttempt, result: Ack['result']): void {
    this.sendAck({ number: job.number, token: job.token, result }).then(
      (refused) => job.noteAckAnswered(refused),
      (error: unknown) => {
        job.noteAckFailed(error)
        job.noteAckEnded(error)
      },
    )
  }

  async ackAndEnqueue(job: Leased, next: NextJob, result: unknown): Promise<AckedAndEnqueued> {
    const step = toStep(next, encodeResult(result, this.#source), this.#source)
    const outcome = await this.sendStep({ ...step, number: job.number, token: job.token })
    if (typeof outcome === 'string') throw this.#lost(job, outcome)
    return outcome
  }

  async retry(job: JobAttempt, delayMs: number, failure: Failure, inDoubt = false): Promise<Retried> {
    const outcome = await this.sendRetry({ number: job.number, token: job.token, delayMs, ...failure })
    if (outcome === 'retried' || outcome === 'dead') return outcome
    // An earlier try took effect, and another attempt has begun since.
    if (inDoubt && isOwn(job, outcome)) return 'retried'
    throw this.#lost(job, outcome)
  }

  async fail(job: JobAttempt, failure: Failure, inDoubt = false): Promise<void> {
    const why = await this.sendFailure({ number: job.number, token: job.token, ...failure })
    // The attempt itself has made its job dead before.
    this.#check(job, why === 'dead' || (inDoubt && isOwn(job, why)) ? null : why)
  }

  /** As `ack`, but resolves to the reason if the job was lost. */
  sendAck(ack: Ack): Promise<LossReason | null> {
    const send = (acks: Ack[]): Promise<(LossReason | null)[]> => this.#sendAcks(acks)
    return this.#batcher('acks', ACKS, send).addOne(ack, Buffer.byteLength(ack.result))
  }

  /** As `ackAndEnqueue`, but resolves to the reason if the job was lost. */
  sendStep(step: AdvanceStep): Promise<AckedAndEnqueued | LossReason> {
    const send = (steps: AdvanceStep[]): Promise<(AckedAndEnqueued | LossReason)[]> =>
      sendSteps(this.#source, steps)
    const bytes = Buffer.byteLength(step.payload) + Buffer.byteLength(step.result) + workOf(step)
    return this.#batcher('steps', STEPS, send).addOne(asCalledBy(this.#source, step), bytes)
  }

  /** As `retry`, but resolves to the reason if the job was lost. */
  sendRetry(failed: FailedAttempt): Promise<Retried | LossReason> {
    const send = (all: FailedAttempt[]): Promise<(Retried | LossReason)[]> => this.#sendRetries(all)
    return this.#batcher('retries', RETRIES, send).addOne(failed, failed.message.length)
  }

  /** As `fail`, but resolves to the reason if the job was lost. */
  sendFailure(failed: Leased & Failure): Promise<LossReason | null> {
    const send = (all: (Leased & Failure)[]): Promise<(LossReason | null)[]> => this.#sendFailures(all)
    return this.#batcher('failures', FAILURES, send).addOne(failed, failed.message.length)
  }

  /** As `release`, but resolves to the reason if the job was lost. */
  sendRelease(job: Returned): Promise<LossReason | null> {
    const send = (claims: Returned[]): Promise<(LossReason | null)[]> => this.#sendReleases(claims)
    return this.#batcher('releases', RELEASES, send).addOne(job, job.number.length)
  }

  async release(job: JobAttempt, delayMs: number, inDoubt = false): Promise<void> {
    const why = await this.sendRelease({ number: job.number, token: job.token, delayMs })
    const wasReleased = inDoubt && (why === 'retried' || isOwn(job, why))
    this.#check(job, wasReleased ? null : why)
  }

  async extend(job: JobAttempt, leaseMs: number): Promise<void> {
    const [outcome = null] = await this.extendAll([job], leaseMs)
    this.#check(job, outcome)
  }

  note(note: Note): Promise<LossReason | null> {
    return sendNote(this.#source, note)
  }

  /** An exchange whose jobs are released if its answer arrives too late or never, because no caller has them. */
  exchange(wanted: Exchange, by?: number): Promise<Exchanged> {
    return exchange(this.#source, wanted, (unknown) => this.giveBack(unknown), by)
  }

  /** Releases jobs that were claimed for a caller that has left. */
  async giveBack({ jobs }: Exchanged): Promise<void> {
    await Promise.all(jobs.map(({ number, token }) => this.sendRelease({ number, token, delayMs: 0 })))
  }

  /** Extends leases in one call, and marks lost jobs as lost. Resolves to null or the reason, for each job. */
  async extendAll(jobs: readonly JobAttempt[], leaseMs: number): Promise<(LossReason | null)[]> {
    const { end, answer, outcomes } = await this.sendExtensions(jobs, leaseMs)
    for (const [at, job] of jobs.entries()) {
      const why = outcomes[at] ?? null
      if (why === null) job.noteExtended(end, answer)
      else job.lose(why)
    }
    return outcomes
  }

  /** The new end of the leases, by `performance.now()` and by the server's clock, and which jobs were lost. */
  async sendExtensions(
    jobs: readonly Leased[],
    leaseMs: number,
  ): Promise<{ end: End; answer: ExtensionAnswer; outcomes: (LossReason | null)[] }> {
    const { unit, codec } = this.#source
    const claims = jobs.map(({ number, token }) => ({ number, token }))
    const askedAt = askingAt()
    const { refused, endsAtMs, nowMs } = await unit.run(extend, { codec: codec.name, leaseMs, claims })
    const end = endOf(askedAt, endsAtMs - nowMs)
    const answer = { nowMs, expiresAtMs: endsAtMs }
    return { end, answer, outcomes: outcomesOf(jobs, reasonsOf(refused)) }
  }

  #batcher<Item, Result>(what: string, terms: BatchTerms, send: (items: Item[]) => Promise<Result[]>) {
    const { unit, codec } = this.#source
    return unit.runtime.batcher<Item, Result>(`${unit.channel} ${codec.name} ${what}`, terms, send)
  }

  async #sendAcks(acks: readonly Ack[]): Promise<(LossReason | null)[]> {
    const { refused } = await exchange(this.#source, { acks, limit: 0, leaseMs: 0, worker: '' })
    return outcomesOf(acks, refused)
  }

  async #sendRetries(failures: readonly FailedAttempt[]): Promise<(Retried | LossReason)[]> {
    const { unit, codec } = this.#source
    const notifyChannel = await learnNotifyChannel(unit)
    const args = (id: CallId) => ({ codec: codec.name, ...id, ...notifyChannel, failures })
    const answer = await unit.runOnce(retry, args, { atClose: 'gives back' })
    void this.#source.chores.see(answer.chores)
    const refused = reasonsOf(answer.refused)
    const dead = new Set(answer.dead)
    return failures.map((_, at) => refused.get(at) ?? (dead.has(at) ? 'dead' : 'retried'))
  }

  async #sendFailures(failures: readonly (Leased & Failure)[]): Promise<(LossReason | null)[]> {
    const { unit, codec } = this.#source
    const notifyChannel = await learnNotifyChannel(unit)
    const args = (id: CallId) => ({ codec: codec.name, ...id, ...notifyChannel, failures })
    const answer = await unit.runOnce(fail, args, { atClose: 'gives back' })
    void this.#source.chores.see(answer.chores)
    return outcomesOf(failures, reasonsOf(answer.refused))
  }

  async #sendReleases(claims: readonly Returned[]): Promise<(LossReason | null)[]> {
    const { unit, codec } = this.#source
    const notifyChannel = await learnNotifyChannel(unit)
    const args = (id: CallId) => ({ codec: codec.name, ...id, ...notifyChannel, claims })
    const answer = await unit.runOnce(release, args, { atClose: 'gives back' })
    void this.#source.chores.see(answer.chores)
    return outcomesOf(claims, reasonsOf(answer.refused))
  }

  #check(job: Leased, outcome: LossReason | null): void {
    if (outcome !== null) throw this.#lost(job, outcome)
  }

  #lost(job: Leased, why: LossReason): LeaseLostError {
    return new LeaseLostError(`job ${job.number} of queue '${this.#source.name}' (${why})`, job.token)
  }
}

/**
 * While its lease lasts, only this attempt can end it: so a newer attempt, or none, shows that an earlier try took
 * effect.
 */
function isOwn(job: JobAttempt, why: LossReason | null): boolean {
  return (why === 'lost' || why === 'absent') && job.endsAt > performance.now()
}

function outcomesOf(
  jobs: readonly unknown[],
  refused: ReadonlyMap<number, LossReason>,
): (LossReason | null)[] {
  return jobs.map((_, at) => refused.get(at) ?? null)
}

/** Throws as `encodeResult`. */
export function toAck({ number, token }: Leased, result: unknown, source: QueueSource): Ack {
  return { number, token, result: encodeResult(result, source) }
}
