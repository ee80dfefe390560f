// A job that this process works on, for as long as its lease lasts.
//
//   CLAIMED ──ack, retry, fail, release──► SETTLED
//      └──the lease ended, or the job was taken away──► LOST: the signal aborts
//
// A job claimed by hand has its lease watched only once its signal is read. The watch only aborts the signal.

import type { ExtensionAnswer } from '../../runtime/keeper/belief.ts'
import { Countdown } from '../../runtime/leases/countdown.ts'
import type { Duration } from '../../runtime/values/duration.ts'
import { AmbiguousError, LeaseLostError } from '../../runtime/errors/errors.ts'
import type { End } from '../../runtime/keeper/grant.ts'
import { nowOrInTheEnd } from '../../runtime/time/in-the-end.ts'
import { toLeaseMs } from '../../runtime/leases/lease-options.ts'
import { closed } from '../../runtime/calls/runner.ts'
import type { AttemptOutcome, FailOptions, ReleaseOptions, RetryOptions } from './outcomes.ts'
import type { AckedAndEnqueued, NextJob, Settling } from './outcomes.ts'
import { failureFrom, checkNext, releaseMsOf, retryOf } from './outcomes.ts'
import { encodeProgress, type LossReason, type Note, toLine } from '../jobs/attempt.ts'
import type { Exchanged, DeliveredJob } from './exchange.ts'
import { type QueueSource, toId } from '../source/source.ts'
import { PLAIN } from '../jobs/job-options.ts'
import { LeaseWatch } from './lease-watch.ts'
import { type Dependency, dependenciesOf } from '../jobs/dependencies.ts'
import { encodeResult } from '../source/job-parts.ts'

type OutcomeListener = (job: ClaimedJob) => void

/** Called with null, or with what went wrong. */
type AckListener = (error: unknown) => void

const NO_TAGS: readonly string[] = Object.freeze([])

/** A job under a lease. Its holder can settle it once. After the lease is lost, its methods throw LeaseLostError. */
export class ClaimedJob<Payload = unknown> implements AsyncDisposable {
  /** @internal The number of the job in the scripts. */
  readonly number: string
  readonly token: number
  /** The id of the job: its own, or the one that the queue assigned. */
  readonly id: string
  readonly name: string
  /** Which attempt this is, counted from 1. */
  readonly attempt: number
  readonly maxAttempts: number
  readonly priority: number
  /** Empty when it has none; so is the trace. */
  readonly group: string
  readonly tags: readonly string[]
  readonly trace: string
  /** How long this attempt may take; 0 for no limit. */
  readonly maxRunMs: number
  /** The partition that it is from; null for a queue without partitions. */
  readonly partition: number | null
  /** @internal The key prefix of the unit that it is from. */
  readonly home: string
  readonly #source: QueueSource
  readonly #settling: Settling
  readonly #encoded: Buffer
  #decoded: { payload: Payload } | null = null
  #aborter: AbortController | null = null
  /** Set once the signal was read, unless the owner renews the lease. */
  #watch: LeaseWatch | null = null
  readonly #countdown: Countdown
  readonly #leaseMs: number
  /** The listeners of the ack that is under way. */
  #acking: AckListener[] | null = null
  #state: 'claimed' | 'settled' | 'lost' = 'claimed'
  #lostBecause: LossReason = 'lost'
  #isGivenUp = false
  #stopped: Error | null = null
  #outcome: AttemptOutcome | null = null
  readonly #outcomeListeners: OutcomeListener[] = []
  /** An ack of it may have taken effect. */
  #isAckInDoubt = false

  constructor(
    source: QueueSource,
    settling: Settling,
    exchanged: Exchanged,
    at: number,
    options: Exchanged['options'][number] | undefined,
  ) {
    const claimed = exchanged.jobs[at] as DeliveredJob
    this.#source = source
    this.partition = source.partition
    this.home = source.unit.prefix
    this.#settling = settling
    this.#encoded = claimed.payload
    this.#countdown = new Countdown(source.unit, exchanged.end, exchanged.endsAtMs)
    this.#leaseMs = exchanged.leaseMs
    this.number = claimed.number
    this.token = claimed.token
    const { id = this.number } = options ?? {}
    this.id = id === this.number ? toId(source, id) : id
    this.name = claimed.name
    this.attempt = claimed.attempt
    this.maxAttempts = options?.maxAttempts ?? PLAIN.maxAttempts
    this.priority = options?.priority ?? 0
    this.group = options?.group ?? ''
    this.tags = options === undefined || options.tags === '' ? NO_TAGS : options.tags.split('\0')
    this.trace = options?.trace ?? ''
    this.maxRunMs = options?.maxRunMs ?? 0
  }

  /** When it was enqueued, in milliseconds of the server's clock. */
  get enqueuedAtMs(): number {
    return Math.floor(Number(this.number) / 1000)
  }

  /** The decoded payload, transformed by its schema. A job whose payload cannot be read is dead before. */
  get payload(): Payload {
    this.#decoded ??= { payload: this.#source.codec.decode(this.#encoded) as Payload }
    return this.#decoded.payload
  }

  /** Aborts when the job is lost: its lease ended, or it was cancelled. */
  get signal(): AbortSignal {
    if (this.#aborter === null) {
      this.#aborter = new AbortController()
      if (this.#state === 'lost') this.#aborter.abort(this.#lostError())
      else if (this.#stopped !== null) this.#aborter.abort(this.#stopped)
      else if (!this.#settling.keepsLeases) this.#watchLease(this.#aborter)
    }
    return this.#aborter.signal
  }

  /** When the lease ends, in milliseconds of the server's clock. */
  get expiresAtMs(): number {
    return this.#countdown.expiresAtMs
  }

  /** For how many milliseconds the lease is certain to last, by this process's clock; 0 when it is settled or lost. */
  get remainingMs(): number {
    return this.#state === 'claimed' ? this.#countdown.leftMs : 0
  }

  /** @internal This instance may have cleared the queue since the claim: only the server knows. */
  get isInDoubt(): boolean {
    return this.#countdown.isInDoubt
  }

  /** @internal When the lease ends, by `performance.now()` alone. */
  get endsAt(): number {
    return this.#countdown.latestEndsAt
  }

  /** True until the job is settled or lost. */
  get isClaimed(): boolean {
    return this.#state === 'claimed'
  }

  /** The outcome of this attempt, once the server has confirmed it; null before, and when the job was lost. */
  get outcome(): AttemptOutcome | null {
    return this.#outcome
  }

  /** @internal Calls the listener once, when the outcome is confirmed. */
  onOutcome(listener: OutcomeListener): void {
    this.#outcomeListeners.push(listener)
  }

  /** @internal Releases a job that was cancelled at work, so that it ends now. Never rejects; resolves to its loss. */
  async giveUp(): Promise<LeaseLostError> {
    if (this.#state === 'lost' && this.#lostBecause === 'cancelled' && !this.#isGivenUp) {
      this.#isGivenUp = true
      await this.#settling.release(this, 0).catch(() => undefined)
    }
    return this.#lostError()
  }

  /**
   * Completes the job. A second call does nothing. Throws LeaseLostError when the job was lost before. If the result
   * cannot be stored, throws InvalidArgumentError or what the codec throws; the job is still claimed then.
   */
  ack(result?: unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      const settled = (error: unknown): void => (error === null ? resolve() : reject(error))
      this.ackThen(this.isClaimed ? this.encoded(result) : '', settled)
    })
  }

  /** @internal Encodes a result. Throws InvalidArgumentError and what the codec throws. */
  encoded(result: unknown): string | Uint8Array {
    return encodeResult(result, this.#source)
  }

  /** @internal As `ack` of an encoded result, without a promise, a good part of the cost of a job. */
  ackThen(result: string | Uint8Array, listener: AckListener): void {
    if (this.#outcome === 'acked') return listener(null)
    if (this.#acking !== null) return void this.#acking.push(listener)
    if (!this.isClaimed) return void this.giveUp().then(listener)
    this.#beginSettling()
    this.#acking = [listener]
    this.#settling.ack(this, result)
  }

  /** @internal A try of the ack failed; it may be sent again. */
  noteAckFailed(error: unknown): void {
    this.#isAckInDoubt ||= error instanceof AmbiguousError
  }

  /** @internal The ack was answered: null, or why the server refused it. */
  noteAckAnswered(refused: LossReason | null): void {
    const why = this.#judgeAck(refused)
    this.noteAckEnded(why === null ? null : this.#lostError(why))
  }

  /** @internal The ack has ended: null, or its error. */
  noteAckEnded(error: unknown): void {
    const acking = this.#acking ?? []
    this.#acking = null
    if (error === null) this.#know('acked')
    else this.#notSettled(error)
    for (const listener of acking) listener(error)
  }

  /**
   * Completes the job and enqueues another one, here or in another queue: both or neither happen. Resolves to the new
   * job. Throws LeaseLostError when the job was lost before, and InvalidArgumentError.
   */
  async ackAndEnqueue(next: NextJob, result?: unknown): Promise<AckedAndEnqueued> {
    // Awaited before settling, so that a worker still renews the lease meanwhile.
    const checking = this.isClaimed ? checkNext(next, this.#source) : undefined
    if (checking !== undefined) await checking
    // The next job belongs to the same trace, unless it names another one.
    const traced = this.trace === '' ? next : { trace: this.trace, ...next }
    return this.#settle('acked', () => this.#settling.ackAndEnqueue(this, traced, result))
  }

  /** The jobs that it waited for, with their results, in the order of `dependsOn`. Large results take several calls. */
  dependencies(): Promise<Dependency[]> {
    return dependenciesOf(this.#source, this.number)
  }

  /**
   * The attempt failed, and the job is to be retried. Resolves to `dead` when that was the last attempt. Throws
   * LeaseLostError when the job was lost before, and InvalidArgumentError.
   */
  retry(options: RetryOptions = {}): Promise<'retried' | 'dead'> {
    const { delayMs, ...failure } = retryOf(options)
    return this.#settle(null, () => this.#settling.retry(this, delayMs, failure))
  }

  /**
   * Makes the job dead without further attempts, until it is requeued. Throws LeaseLostError when it was lost before,
   * and InvalidArgumentError.
   */
  fail(options: FailOptions = {}): Promise<void> {
    const failure = failureFrom(options)
    return this.#settle('dead', () => this.#settling.fail(this, failure))
  }

  /**
   * Makes the job ready again, as if this attempt had never begun. Throws LeaseLostError when it was lost before, and
   * InvalidArgumentError.
   */
  release(options: ReleaseOptions = {}): Promise<void> {
    const delayMs = releaseMsOf(options)
    return this.#settle('released', () => this.#settling.release(this, delayMs))
  }

  /** Releases the job unless it is settled, with retries until its lease is over. Throws LeaseLostError. */
  async [Symbol.asyncDispose](): Promise<void> {
    const isOver = (): boolean => this.remainingMs === 0
    if (this.#state !== 'settled') await nowOrInTheEnd(() => this.release(), isOver)
  }

  /** Sets the lease to this duration from now on; default: the duration of the claim. Throws LeaseLostError. */
  async extend(lease?: Duration): Promise<void> {
    if (!this.isInDoubt) this.assertHeld()
    const leaseMs = lease === undefined ? this.#leaseMs : toLeaseMs(lease)
    await this.#countdown.whileAsked(leaseMs, () => {
      const extending = this.#settling.extend(this, leaseMs)
      // The lease may end earlier from now on, even when no answer arrives.
      this.#lookAtLease()
      return extending
    })
  }

  /** Reports the progress; `jobs.get` returns the last one. Throws LeaseLostError and InvalidArgumentError. */
  async progress(value: unknown): Promise<void> {
    await this.#note('progress', encodeProgress(value, this.#source))
  }

  /** Adds a line to the job's log, cut to 1024 bytes. Throws LeaseLostError when the job was lost. */
  async log(line: string): Promise<void> {
    await this.#note('log', toLine(line))
  }

  /** Throws LeaseLostError when the job was lost, or its lease is over by this process's clocks. */
  assertHeld(): void {
    if (this.remainingMs === 0) throw this.#lostError()
  }

  /** @internal The lease was extended. */
  noteExtended(end: End, answer: ExtensionAnswer): void {
    this.#countdown.note(end, answer)
    this.#lookAtLease()
  }

  /** @internal Sets the payload that the schema has transformed. */
  takePayload(payload: unknown): void {
    this.#decoded = { payload: payload as Payload }
  }

  /** @internal A claim acked the job: null, or why it was lost before. */
  noteAcked(refused: LossReason | null): void {
    const why = this.#judgeAck(refused)
    if (why !== null) return this.lose(why)
    this.#beginSettling()
    this.#know('acked')
  }

  /** @internal The lease is lost: the job belongs to another attempt, or does not exist. */
  lose(why: LossReason): void {
    if (this.#state !== 'claimed') return
    this.#state = 'lost'
    this.#watch?.stop()
    this.#lostBecause = why
    this.#aborter?.abort(this.#lostError())
  }

  /** @internal Aborts the signal without losing the job. */
  stop(reason: Error): void {
    this.#stopped ??= reason
    this.#aborter?.abort(reason)
  }

  #know(outcome: AttemptOutcome): void {
    if (this.#outcome !== null) return
    this.#outcome = outcome
    for (const listener of this.#outcomeListeners) listener(this)
  }

  /**
   * Null when the job is done, else why it was lost. While its lease lasts, only this attempt can end it: so a job
   * that does not exist any more was acked by an earlier try.
   */
  #judgeAck(refused: LossReason | null): LossReason | null {
    const wasAcked = refused === 'absent' && this.#isAckInDoubt && this.endsAt > performance.now()
    return wasAcked ? null : refused
  }

  async #note(what: Note['what'], value: Note['value']): Promise<void> {
    if (!this.isInDoubt) this.assertHeld()
    const why = await this.#settling.note({ number: this.number, token: this.token, what, value })
    if (why === null) return
    this.lose(why)
    throw this.#lostError()
  }

  /** The outcome is `becomes`, or the answer if that is null. */
  async #settle<Answer>(becomes: AttemptOutcome | null, send: () => Promise<Answer>): Promise<Answer> {
    if (this.#state !== 'claimed') throw await this.giveUp()
    this.#beginSettling()
    try {
      const answer = await send()
      this.#know(becomes ?? (answer as AttemptOutcome))
      return answer
    } catch (error) {
      this.#notSettled(error)
      throw error
    }
  }

  /** A failed outcome can be sent again while the lease lasts. */
  #notSettled(error: unknown): void {
    if (this.#state !== 'settled') return
    this.#state = error instanceof LeaseLostError ? 'lost' : 'claimed'
    if (this.#state === 'lost') this.#aborter?.abort(error)
    else this.#lookAtLease()
  }

  #beginSettling(): void {
    this.#state = 'settled'
    this.#watch?.stop()
  }

  #watchLease(aborter: AbortController): void {
    this.#watch = new LeaseWatch(this.#countdown, {
      unit: this.#source.unit,
      onEnd: () => aborter.abort(this.#lostError()),
      onClosed: () => this.stop(this.#lostError(null, { cause: closed() })),
    })
    this.#lookAtLease()
  }

  /** The end of the lease may have changed. A settled job has no lease. */
  #lookAtLease(): void {
    if (this.#state === 'claimed') this.#watch?.look()
  }

  #lostError(refused: LossReason | null = null, options?: ErrorOptions): LeaseLostError {
    const own = this.#state === 'settled' ? (this.#outcome ?? 'settled') : this.#lostBecause
    const resource = `job '${this.id}' of queue '${this.#source.name}' (${refused ?? own})`
    return new LeaseLostError(resource, this.token, options)
  }
}
