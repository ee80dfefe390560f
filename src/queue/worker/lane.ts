// The connection of a worker to one queue, or to one partition of it: one call sends acks and claims new jobs. At
// most two calls are under way.
//
// A worker that has got fewer jobs than it asked for is woken up when there are more. Until then it does not poll, so
// idle workers cost nothing. A worker without room passes the wake-up on to another one. A single job comes in the
// letter itself: it is already claimed (lua/shared/queue/idle).
//
//   ASKING ──fewer than wanted──► IDLE ──woken up, or it is time to poll──► ASKING
//      └───────────────────────────── stopAsking ───────────► only acks are sent
//
// After a failed call it PAUSES, in each of these states: nothing is sent until the pause is over, then one call tries
// again. Each pause is longer than the one before, up to five seconds, in an outage up to one second. An ack is retried
// until its job's lease is over, or the server's refusal is final. So are other outcomes, each by itself.

import { randomInt } from 'node:crypto'
import { isFinal } from '../../runtime/errors/outage.ts'
import { inTheEnd } from '../../runtime/time/in-the-end.ts'
import { PATIENCE_MS } from '../../runtime/time/in-turn.ts'
import { Retries } from '../../runtime/time/retries.ts'
import { startTimer, type Timer } from '../../runtime/time/timer.ts'
import { toClaimedJobs } from '../claims/claim.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'
import { type Exchanged, leave } from '../claims/exchange.ts'
import { Insistence } from '../claims/insistence.ts'
import type { AckedAndEnqueued, JobAttempt, Failure, NextJob, Settling } from '../claims/outcomes.ts'
import { type Retried, Settler } from '../claims/settler.ts'
import { CALL } from '../jobs/job-options.ts'
import type { Leased, LossReason, Note } from '../jobs/attempt.ts'
import type { QueueSource } from '../source/source.ts'
import { LETTER_MS, Letters } from './letters.ts'

/** The worker, as its lanes see it. */
export interface LaneOwner {
  readonly leaseMs: number
  /** There may be something to send. */
  plan(): void
  hasRoom(): boolean
  /** Jobs have arrived; the settler extends their leases. */
  take(jobs: ClaimedJob[], settler: Settler): void
  /** The end of a job's lease has changed. */
  noteExtended(job: JobAttempt): void
  /** A call to the server failed; it is retried. */
  onError(error: unknown): void
}

/** An ack that is retried until it is sent, or the lease is over. */
interface PendingAck {
  readonly job: JobAttempt
  readonly result: string | Uint8Array
}

const UNDER_WAY = 2
// Keeps a call below a millisecond, for the sake of other clients.
const MOST_A_CALL = 200
/**
 * From so many acks on they are split over two calls: the server processes one while this process handles the other.
 */
const WORTH_TWO_CALLS = 32
const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 5000

/** How many of the first acks fit into one call: up to the one whose result reaches the limit of bytes. */
function countOf(acks: readonly PendingAck[], most: number): number {
  let bytes = 0
  for (let count = 1; count < most; count += 1) {
    bytes += Buffer.byteLength(acks[count - 1]?.result ?? '')
    if (bytes >= CALL.bytes) return count
  }
  return most
}

/** After `begin` it claims jobs when there is room. The outcomes of its jobs are sent through it. */
export class WorkerLane implements Settling {
  readonly keepsLeases: boolean = true
  readonly #source: QueueSource
  readonly #owner: LaneOwner
  /** Other lanes of the worker could use the room that a slow answer keeps reserved here. */
  readonly #hasOthers: boolean
  readonly #settler: Settler
  readonly #insistence: Insistence
  readonly #letters: Letters
  #isOver = false
  /** Acks are not retried any more. */
  #isHurried = false
  #acks: PendingAck[] = []
  #asked = 0
  #underWay = 0
  #isSilent = false
  readonly #retries = new Retries(FIRST_RETRY_MS, LAST_RETRY_MS)
  /** Runs after a failed call; nothing is sent meanwhile. */
  #pause: Timer | null = null
  #idle = false
  /** Counts wake-ups and leaves: a letter may arrive before the answer of the call that it belongs to. */
  #called = 0
  /** Whether the server has promised a letter that has not arrived yet. */
  #expects = false
  #recheck: Timer | null = null
  #onSettled: (() => void) | null = null
  #onLetter: (() => void) | null = null

  constructor(source: QueueSource, owner: LaneOwner, hasOthers: boolean) {
    this.#source = source
    this.#owner = owner
    this.#hasOthers = hasOthers
    const { leaseMs, onError } = owner
    this.#settler = new Settler(source)
    this.#insistence = new Insistence(onError)
    this.#letters = new Letters(source, {
      leaseMs,
      onError,
      onLetter: (handed) => this.#read(handed),
      isClaimed: async (job) => (await this.#settler.sendExtensions([job], leaseMs)).outcomes[0] === null,
      onHeard: () => this.#heard(),
    })
  }

  begin(): void {
    this.#letters.begin()
  }

  /** Acks travel with the next claim. */
  ack(job: JobAttempt, result: string | Uint8Array): void {
    this.#acks.push({ job, result })
    this.#owner.plan()
  }

  ackAndEnqueue(job: Leased, next: NextJob, result: unknown): Promise<AckedAndEnqueued> {
    return this.#settler.ackAndEnqueue(job, next, result)
  }

  retry(job: JobAttempt, delayMs: number, failure: Failure): Promise<Retried> {
    return this.#insistence.settle(job, (inDoubt) => this.#settler.retry(job, delayMs, failure, inDoubt))
  }

  fail(job: JobAttempt, failure: Failure): Promise<void> {
    return this.#insistence.settle(job, (inDoubt) => this.#settler.fail(job, failure, inDoubt))
  }

  release(job: JobAttempt, delayMs: number): Promise<void> {
    return this.#insistence.settle(job, (inDoubt) => this.#settler.release(job, delayMs, inDoubt))
  }

  note(note: Note): Promise<LossReason | null> {
    return this.#settler.note(note)
  }

  async extend(job: JobAttempt, leaseMs: number): Promise<void> {
    const extending = this.#settler.extend(job, leaseMs)
    // The lease may end earlier from now on, even when no answer arrives.
    this.#owner.noteExtended(job)
    await extending.finally(() => this.#owner.noteExtended(job))
  }

  /** How many jobs the calls under way ask for. */
  get asked(): number {
    return this.#isSilent ? 0 : this.#asked
  }

  get mayAsk(): boolean {
    return !this.#idle && !this.#isOver && this.#pause === null && this.#underWay < this.#mostUnderWay
  }

  /** A call was not answered soon, and none has been since. Late answers may bring more jobs than there is room for. */
  get isSilent(): boolean {
    return this.#isSilent
  }

  get #mostUnderWay(): number {
    return this.#isSilent ? 1 : UNDER_WAY
  }

  /** Asks for no more jobs from now on; the calls under way may still bring some. */
  stopAsking(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#letters.waitForNoAnswer()
    this.#recheck?.cancel()
    // Lets the server wake up other workers instead, while the last jobs are still at work.
    if (this.#idle) void this.#leave()
  }

  /** The worker or its instance has no time left: pending outcomes are sent now, and not retried. */
  hurry(): void {
    this.#isHurried = true
    // A closed instance has no subscriptions any more.
    if (!this.#letters.areHeard && this.#source.unit.runtime.runner.closed) this.#letters.close()
    if (this.#pause !== null) this.#resume()
    this.#insistence.hurry()
  }

  /**
   * Resolves when all acks are sent, and no job can arrive any more. If the server could not be notified that the
   * worker left, it may still hand off jobs; these are released, and the notification is retried.
   */
  async end(): Promise<void> {
    this.stopAsking()
    while (this.#underWay > 0 || this.#acks.length > 0) {
      await new Promise<void>((resolve) => (this.#onSettled = resolve))
    }
    this.#pause?.cancel()
    let isGone = true
    await this.#leave((error) => {
      isGone = false
      void this.#insistOnLeaving(error)
    })
    if (isGone) await this.#hearNoMore()
  }

  async #insistOnLeaving(failure: unknown): Promise<void> {
    await inTheEnd(() => this.#announceLeaving(), failure)
    await this.#hearNoMore()
  }

  /** The server knows that the worker left. */
  async #hearNoMore(): Promise<void> {
    if (this.#expects && this.#letters.areHeard) await this.#letter()
    this.#letters.close()
  }

  #letter(): Promise<void> {
    return new Promise((resolve) => {
      const timer = startTimer(resolve, LETTER_MS).unref()
      this.#onLetter = () => {
        timer.cancel()
        resolve()
      }
    })
  }

  /** Sends the pending acks, and asks for at most so many jobs. */
  exchange(wanted: number): void {
    const count = this.#acks.length
    if (this.#pause !== null) return
    const isAlone = this.#underWay > 0 || count < WORTH_TWO_CALLS || this.#retries.failures > 0
    if (isAlone) return this.#exchange(wanted, count)
    const half = Math.ceil(wanted / 2)
    this.#exchange(half, Math.ceil(count / 2))
    this.#exchange(wanted - half, count)
  }

  #exchange(wanted: number, acks: number): void {
    if (this.#underWay >= UNDER_WAY) return
    const limit = Math.min(wanted, MOST_A_CALL)
    if (this.#acks.length === 0 && limit === 0) return
    const pending = this.#acks.splice(0, countOf(this.#acks, Math.min(acks, MOST_A_CALL)))
    this.#asked += limit
    this.#underWay += 1
    void this.#send(pending, limit).finally(() => this.#settled())
  }

  async #send(pending: PendingAck[], limit: number): Promise<void> {
    const acks = pending.map(({ job: { number, token }, result }) => ({ number, token, result }))
    const worker = limit > 0 ? this.#letters.name : ''
    const called = this.#called
    const patience = this.#hasOthers ? startTimer(() => this.#fallSilent(), PATIENCE_MS).unref() : null
    try {
      const { leaseMs } = this.#owner
      const exchanged = await this.#settler.exchange({ acks, limit, leaseMs, worker })
      this.#asked -= limit
      this.#isSilent = false
      this.#retries.reset()
      this.#takeEarly(exchanged)
      // Of two calls under way, the later one decides whether the worker waits for a wake-up.
      if (exchanged.waits && called === this.#called) this.#rest(exchanged.recheckMs)
      else if (limit > 0) this.#idle = this.#expects = false
      for (const [at, { job }] of pending.entries()) job.noteAckAnswered(exchanged.refused.get(at) ?? null)
      this.#take(exchanged)
    } catch (error) {
      this.#asked -= limit
      this.#again(error, pending)
    } finally {
      patience?.cancel()
    }
  }

  /** Frees the room that is reserved here for other lanes. */
  #fallSilent(): void {
    this.#isSilent = true
    this.#owner.plan()
  }

  #settled(): void {
    this.#underWay -= 1
    this.#onSettled?.()
    this.#owner.plan()
  }

  #take(exchanged: Exchanged): void {
    this.#owner.take(toClaimedJobs(this.#source, this, exchanged), this.#settler)
  }

  /** There are no more jobs now: the server sends a wake-up when there are. */
  #rest(recheckMs: number): void {
    this.#idle = this.#expects = true
    const longest = this.#letters.longestSleepMs
    // Spread at random, so that workers do not poll at the same time.
    const ms = longest + randomInt(longest / 10)
    this.#wakeIn(recheckMs === 0 ? ms : Math.min(recheckMs, ms))
  }

  #wakeIn(ms: number): void {
    if (this.#isOver) return
    this.#recheck?.cancel()
    this.#recheck = startTimer(() => this.#wake(), ms)
  }

  #wake(): void {
    this.#idle = false
    // After the pause it asks again anyway.
    if (this.#pause !== null) return
    if (this.#owner.hasRoom()) this.#owner.plan()
    else void this.#leave()
  }

  /**
   * Stops waiting for a wake-up. If there are jobs, the server wakes up another worker that has room. Answers of
   * calls under way, or of this call's repetitions, must not put this worker back to IDLE: the server would not wake
   * it up.
   */
  async #leave(onFailure: (error: unknown) => void = () => undefined): Promise<void> {
    this.#called += 1
    try {
      if (!(await this.#announceLeaving())) return
    } catch (error) {
      this.#owner.onError(error)
      onFailure(error)
    }
    if (!this.#idle || this.#isOver) return
    this.#idle = false
    this.#owner.plan()
  }

  /** Whether it waited until now, and was not woken up. */
  async #announceLeaving(): Promise<boolean> {
    const left = await leave(this.#source, this.#letters.name)
    this.#takeEarly(left)
    if (left.waits) this.#expects = false
    return left.waits
  }

  #takeEarly(answer: Exchanged): void {
    for (const handed of this.#letters.takeClock(answer)) this.#take(handed)
  }

  /** Wake-ups until now may have been missed, also those that the answers under way do not know of. */
  #heard(): void {
    this.#called += 1
    if (this.#idle && !this.#isOver) this.#wake()
  }

  #read(handed: Exchanged | null): void {
    this.#called += 1
    this.#expects = false
    if (handed !== null) this.#take(handed)
    this.#onLetter?.()
    if (!this.#isOver) this.#wake()
  }

  /** The call may have taken effect. Acks are sent again; jobs that it claimed become ready when their leases end. */
  #again(error: unknown, pending: readonly PendingAck[]): void {
    const now = performance.now()
    const isOver = this.#isHurried || isFinal(error)
    for (const each of pending) {
      each.job.noteAckFailed(error)
      if (each.job.endsAt > now && !isOver) this.#acks.push(each)
      else each.job.noteAckEnded(error)
    }
    // Two calls that failed together count as one failure.
    if (!this.#isHurried) this.#pause ??= startTimer(() => this.#resume(), this.#retries.after(error))
    this.#owner.onError(error)
  }

  #resume(): void {
    this.#pause?.cancel()
    this.#pause = null
    this.#idle = false
    this.#owner.plan()
  }
}
