// A job that this process works on, for as long as its lease lasts.
//
//   CLAIMED ──ack, retry, bury──► SETTLED
//      └──the lease ended, or the job was taken away──► LOST: the signal aborts
//
// Who claims by hand asks for the signal, or not: where nobody did, nothing watches the lease. That it aborts changes nothing else.

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
import type { Exchanged, ToldJob } from './exchange.ts'
import { type QueueSource, toId } from '../source/source.ts'
import { PLAIN } from '../jobs/job-options.ts'
import { LeaseWatch } from './lease-watch.ts'
import { type Dependency, dependenciesOf } from '../jobs/dependencies.ts'
import { encodeResult } from '../source/job-parts.ts'

type OutcomeListener = (job: ClaimedJob) => void

/** Called with null, or with what went wrong. */
type AckListener = (error: unknown) => void

const NO_TAGS: readonly string[] = Object.freeze([])

/**
 * A job under a lease: what to do, and the right to say what becomes of it, once. Who has lost it is told by LeaseLostError.
 */
export class ClaimedJob<Payload = unknown> implements AsyncDisposable {
  /** @internal What the scripts call it. */
  readonly number: string
  readonly token: number
  /** What to call the job: its own id, or the one the queue gave it. */
  readonly id: string
  readonly name: string
  /** Which attempt this is, counted from 1. */
  readonly attempt: number
  readonly maxAttempts: number
  readonly priority: number
  /** Empty: none; the trace, too. */
  readonly group: string
  readonly tags: readonly string[]
  readonly trace: string
  /** How long this attempt may take; 0: no bound. */
  readonly maxRunMs: number
  /** Which partition of its queue it is from; null: the queue has none. */
  readonly partition: number | null
  /** @internal The beginning of the keys of the unit that it is from. */
  readonly home: string
  readonly #source: QueueSource
  readonly #settling: Settling
  readonly #encoded: Buffer
  #decoded: { payload: Payload } | null = null
  #aborter: AbortController | null = null
  /** Once the signal was asked for, unless somebody keeps the lease. */
  #watch: LeaseWatch | null = null
  readonly #countdown: Countdown
  readonly #leaseMs: number
  /** Those who want to know of the ack that is under way. */
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
    const told = exchanged.jobs[at] as ToldJob
    this.#source = source
    this.partition = source.partition
    this.home = source.unit.prefix
    this.#settling = settling
    this.#encoded = told.payload
    this.#countdown = new Countdown(source.unit, exchanged.end, exchanged.endsAtMs)
    this.#leaseMs = exchanged.leaseMs
    this.number = told.number
    this.token = told.token
    const { id = this.number } = options ?? {}
    this.id = id === this.number ? toId(source, id) : id
    this.name = told.name
    this.attempt = told.attempt
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

  /** What the codec read, and its schema made of it: a job of which it can read none is dead before anybody has it. */
  get payload(): Payload {
    this.#decoded ??= { payload: this.#source.codec.decode(this.#encoded) as Payload }
    return this.#decoded.payload
  }

  /** Aborts when the job is lost: its lease ended, or somebody cancelled it. */
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

  /** How long the lease lasts for certain, by this process's own clock; 0 when it is settled or lost. */
  get remainingMs(): number {
    return this.#state === 'claimed' ? this.#countdown.leftMs : 0
  }

  /** @internal For whoever settles or keeps it: when it is over, by `performance.now()` alone. */
  get endsAt(): number {
    return this.#countdown.latestEndsAt
  }

  /** True until it is acked, retried, buried, or lost. */
  get isClaimed(): boolean {
    return this.#state === 'claimed'
  }

  /** What became of this attempt, once the server knows; null before, and when it was lost. */
  get outcome(): AttemptOutcome | null {
    return this.#outcome
  }

  /** @internal Calls this once, when the server knows what became of the attempt, whoever said it. */
  onOutcome(told: OutcomeListener): void {
    this.#outcomeListeners.push(told)
  }

  /** @internal One that was cancelled at work goes now, and not with its lease, for nobody works on it. Rejects never; why it is lost. */
  async giveUp(): Promise<LeaseLostError> {
    if (this.#state === 'lost' && this.#lostBecause === 'cancelled' && !this.#isGivenUp) {
      this.#isGivenUp = true
      await this.#settling.release(this, 0).catch(() => undefined)
    }
    return this.#lostError()
  }

  /**
   * The job is done. A second call does nothing. Throws LeaseLostError when it was lost before; where the result cannot be
   * stored, InvalidArgumentError or what the codec throws: the job is still claimed then.
   */
  ack(result?: unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      const encoded = this.isClaimed ? this.encoded(result) : ''
      this.ackThen(encoded, (error) => (error === null ? resolve() : reject(error)))
    })
  }

  /** @internal A result as it is stored. Throws what the codec throws, InvalidArgumentError. */
  encoded(result: unknown): string | Uint8Array {
    return encodeResult(result, this.#source)
  }

  /** @internal As `ack` of an encoded result, without a promise: they are a good part of what a job costs a worker. */
  ackThen(result: string | Uint8Array, told: AckListener): void {
    if (this.#outcome === 'acked') return told(null)
    if (this.#acking !== null) return void this.#acking.push(told)
    if (!this.isClaimed) return void this.giveUp().then(told)
    this.#beginSettling()
    this.#acking = [told]
    this.#settling.ack(this, result)
  }

  /** @internal For whoever sends the ack: it may be sent again. */
  noteAckFailed(error: unknown): void {
    this.#isAckInDoubt ||= error instanceof AmbiguousError
  }

  /** @internal For whoever sent the ack: null, or why the server refused it. */
  noteAckAnswered(refused: LossReason | null): void {
    const why = this.#judgeAck(refused)
    this.noteAckEnded(why === null ? null : this.#lostError(why))
  }

  /** @internal For whoever sent the ack: null, or what went wrong. */
  noteAckEnded(error: unknown): void {
    const acking = this.#acking ?? []
    this.#acking = null
    if (error === null) this.#know('acked')
    else this.#notSettled(error)
    for (const told of acking) told(error)
  }

  /**
   * The job is done, and another one follows, here or in another queue: both or neither happen. Resolves to the new job.
   * Throws LeaseLostError when it was lost before, InvalidArgumentError.
   */
  async ackAndEnqueue(next: NextJob, result?: unknown): Promise<AckedAndEnqueued> {
    // As long as its schema thinks about it, the job is extended.
    const checking = this.isClaimed ? checkNext(next, this.#source) : undefined
    if (checking !== undefined) await checking
    // What follows belongs to the same trace, unless it says so itself.
    const traced = this.trace === '' ? next : { trace: this.trace, ...next }
    return this.#settle('acked', () => this.#settling.ackAndEnqueue(this, traced, result))
  }

  /** The jobs that it waited for, with their results, in the order in which they were named. Large results come in several calls. */
  dependencies(): Promise<Dependency[]> {
    return dependenciesOf(this.#source, this.number)
  }

  /**
   * The job is to be tried again. Resolves to `dead` when that was its last attempt: it is dead now. Throws
   * LeaseLostError when it was lost before, InvalidArgumentError.
   */
  retry(options: RetryOptions = {}): Promise<'retried' | 'dead'> {
    const { delayMs, ...failure } = retryOf(options)
    return this.#settle(null, () => this.#settling.retry(this, delayMs, failure))
  }

  /**
   * The job is not to be tried again: it is dead until somebody requeues it. Throws LeaseLostError when it was
   * lost before, InvalidArgumentError.
   */
  fail(options: FailOptions = {}): Promise<void> {
    const failure = failureFrom(options)
    return this.#settle('dead', () => this.#settling.fail(this, failure))
  }

  /**
   * Gives the job to others, as if this attempt had never begun. Throws LeaseLostError when it was lost before,
   * InvalidArgumentError.
   */
  release(options: ReleaseOptions = {}): Promise<void> {
    const delayMs = releaseMsOf(options)
    return this.#settle('released', () => this.#settling.release(this, delayMs))
  }

  /** Gives the job back, unless it is settled; what no server hears is said until its lease is over. Throws LeaseLostError when it was lost before. */
  async [Symbol.asyncDispose](): Promise<void> {
    const isOver = (): boolean => this.remainingMs === 0
    if (this.#state !== 'settled') await nowOrInTheEnd(() => this.release(), isOver)
  }

  /** Makes the lease last so long from now on, by default as long as it was claimed for. Throws LeaseLostError. */
  async extend(lease?: Duration): Promise<void> {
    this.assertHeld()
    const leaseMs = lease === undefined ? this.#leaseMs : toLeaseMs(lease)
    await this.#countdown.whileAsked(leaseMs, () => {
      const extending = this.#settling.extend(this, leaseMs)
      // It may end earlier from now on, also when no answer comes.
      this.#lookAtLease()
      return extending
    })
  }

  /** Tells others how far the attempt has come; `jobs.find` shows the newest. Throws LeaseLostError, InvalidArgumentError. */
  async progress(value: unknown): Promise<void> {
    await this.#note('progress', encodeProgress(value, this.#source))
  }

  /** Adds a line to the log of the job. Throws LeaseLostError when the job was lost. */
  async log(line: string): Promise<void> {
    await this.#note('log', toLine(line))
  }

  /** Throws LeaseLostError when the job was lost, or its lease is over by this process's own clocks, also after a sleep. */
  assertHeld(): void {
    if (this.remainingMs === 0) throw this.#lostError()
  }

  /** @internal For whoever keeps the lease: until when it lasts. */
  noteExtended(end: End, answer: ExtensionAnswer): void {
    this.#countdown.note(end, answer)
    this.#lookAtLease()
  }

  /** @internal For whoever checked the payload: what it has become. */
  takePayload(payload: unknown): void {
    this.#decoded = { payload: payload as Payload }
  }

  /** @internal For whoever acked it along with others: null, or why the job was lost before. */
  noteAcked(refused: LossReason | null): void {
    const why = this.#judgeAck(refused)
    if (why !== null) return this.lose(why)
    this.#beginSettling()
    this.#know('acked')
  }

  /** @internal For whoever keeps the lease: the job is somebody else's, or nobody's. */
  lose(why: LossReason): void {
    if (this.#state !== 'claimed') return
    this.#state = 'lost'
    this.#watch?.stop()
    this.#lostBecause = why
    this.#aborter?.abort(this.#lostError())
  }

  /** @internal For whoever runs the handler: it is to stop, whatever becomes of the job. */
  stop(reason: Error): void {
    this.#stopped ??= reason
    this.#aborter?.abort(reason)
  }

  #know(outcome: AttemptOutcome): void {
    if (this.#outcome !== null) return
    this.#outcome = outcome
    for (const told of this.#outcomeListeners) told(this)
  }

  /**
   * Why the job was lost, or null: it is done. As long as its lease lasts nobody else ends it, so one that is not there any
   * more was acked by the call before.
   */
  #judgeAck(refused: LossReason | null): LossReason | null {
    const wasAcked = refused === 'absent' && this.#isAckInDoubt && this.endsAt > performance.now()
    return wasAcked ? null : refused
  }

  async #note(what: Note['what'], value: Note['value']): Promise<void> {
    this.assertHeld()
    const why = await this.#settling.note({ number: this.number, token: this.token, what, value })
    if (why === null) return
    this.lose(why)
    throw this.#lostError()
  }

  /** Its outcome is `becomes` then; null: the answer is. */
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

  /** What could not be told may be told again, as long as the lease lasts. */
  #notSettled(error: unknown): void {
    if (this.#state !== 'settled') return
    if (error instanceof LeaseLostError) {
      this.#state = 'lost'
      this.#aborter?.abort(error)
    } else {
      this.#state = 'claimed'
      this.#lookAtLease()
    }
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

  /** It may end at another time than was known. What is settled has no lease. */
  #lookAtLease(): void {
    if (this.#state === 'claimed') this.#watch?.look()
  }

  #lostError(refused: LossReason | null = null, options?: ErrorOptions): LeaseLostError {
    const own = this.#state === 'settled' ? (this.#outcome ?? 'settled') : this.#lostBecause
    const resource = `job '${this.id}' of queue '${this.#source.name}' (${refused ?? own})`
    return new LeaseLostError(resource, this.token, options)
  }
}
