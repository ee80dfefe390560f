// The way of a worker to one queue, or to one partition of it, and back: what is done goes to the server, and new jobs come, in the
// same call. Two calls at most are under way.
//
// A worker that has got fewer jobs than it could take is called when there are more, and asks nothing before; so
// idle workers cost nothing. One that is called and has no room by then passes the call on. A single job comes in the
// letter itself: it is claimed already (lua/shared/queue/idle).
//
//   ASKING ──fewer than wanted──► IDLE ──called, or it is time to look again──► ASKING
//      └───────────────────────────── stopAsking ───────────► only acks are sent
//
// After a call that failed it PAUSES, in each of these states: nothing is sent until the pause is over, then one call
// tries again. Each pause is longer than the one before,
// up to five seconds; in an outage to one. An ack is tried again until its job's lease is over, or the
// server refuses it in a way that cannot pass. So are other outcomes, each by itself.

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
import { Letters } from './letters.ts'

/** The worker, as its lanes see it. */
export interface LaneOwner {
  readonly leaseMs: number
  /** There may be something to send. */
  plan(): void
  hasRoom(): boolean
  /** Jobs have come; the settler extends their leases. */
  take(jobs: ClaimedJob[], settler: Settler): void
  /** The lease of a job has another end. */
  noteExtended(job: JobAttempt): void
  /** Something went wrong between the worker and the server; it is tried again. */
  onError(error: unknown): void
}

/** An outcome on its way; tried until it is told, or the lease is over. */
interface PendingAck {
  readonly job: JobAttempt
  readonly result: string | Uint8Array
}

const UNDER_WAY = 2
// So that a call keeps others waiting for a millisecond at most.
const MOST_A_CALL = 200
/** So many acks are worth two calls: the server is busy with one while this process is with what the other brought. */
const WORTH_TWO_CALLS = 32
// A letter that was sent is here by then.
const LETTER_MS = 1000
const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 5000

/** How many of the first go together: none behind the one with which their results reach what a call carries. */
function countOf(acks: readonly PendingAck[], most: number): number {
  let bytes = 0
  for (let count = 1; count < most; count += 1) {
    bytes += Buffer.byteLength(acks[count - 1]?.result ?? '')
    if (bytes >= CALL.bytes) return count
  }
  return most
}

/** Once it has begun it asks when there is room. Jobs that come by it tell their outcomes by it. */
export class WorkerLane implements Settling {
  readonly keepsLeases: boolean = true
  readonly #source: QueueSource
  readonly #owner: LaneOwner
  /** Others of the same worker could take what is asked for here, and not answered soon. */
  readonly #hasOthers: boolean
  readonly #settler: Settler
  readonly #insistence: Insistence
  readonly #letters: Letters
  #isOver = false
  /** No ack is tried again. */
  #isHurried = false
  #acks: PendingAck[] = []
  #asked = 0
  #underWay = 0
  #isSilent = false
  readonly #retries = new Retries(FIRST_RETRY_MS, LAST_RETRY_MS)
  /** Runs while nothing is sent, after a call that failed. */
  #pause: Timer | null = null
  #idle = false
  /** How often it was called, or has left; a letter may come before the answer of the call that it is about. */
  #called = 0
  /** Whether the server said that it sends a letter, and none has come since. */
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
    return this.#insistence.tell(job, (inDoubt) => this.#settler.retry(job, delayMs, failure, inDoubt))
  }

  fail(job: JobAttempt, failure: Failure): Promise<void> {
    return this.#insistence.tell(job, (inDoubt) => this.#settler.fail(job, failure, inDoubt))
  }

  release(job: JobAttempt, delayMs: number): Promise<void> {
    return this.#insistence.tell(job, (inDoubt) => this.#settler.release(job, delayMs, inDoubt))
  }

  note(note: Note): Promise<LossReason | null> {
    return this.#settler.note(note)
  }

  async extend(job: JobAttempt, leaseMs: number): Promise<void> {
    const extending = this.#settler.extend(job, leaseMs)
    // It may end earlier from now on, also when no answer comes.
    this.#owner.noteExtended(job)
    await extending.finally(() => this.#owner.noteExtended(job))
  }

  /** Jobs that are asked for now, and may come soon. */
  get asked(): number {
    return this.#isSilent ? 0 : this.#asked
  }

  get mayAsk(): boolean {
    return !this.#idle && !this.#isOver && this.#pause === null && this.#underWay < this.#mostUnderWay
  }

  /** A call was not answered soon, and none has been since. What comes late may be more than there is room for. */
  get isSilent(): boolean {
    return this.#isSilent
  }

  get #mostUnderWay(): number {
    return this.#isSilent ? 1 : UNDER_WAY
  }

  /** Asks for no more jobs from now on; those that are on their way come nevertheless. */
  stopAsking(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#letters.waitForNoAnswer()
    this.#recheck?.cancel()
    // Others are called instead, also while the last jobs are at work.
    if (this.#idle) void this.#leave()
  }

  /** Its worker or its instance has no time left: what waits is sent now, and not tried again. */
  hurry(): void {
    this.#isHurried = true
    // Nothing is subscribed to any more.
    if (!this.#letters.areHeard && this.#source.unit.runtime.runner.closed) this.#letters.close()
    if (this.#pause !== null) this.#resume()
    this.#insistence.hurry()
  }

  /**
   * Resolves when all acks are told, and no job can come any more, unless the server did not hear that it leaves: until it does, it
   * may be given some, which are given back.
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
    await inTheEnd(() => this.#tellLeaving(), failure)
    await this.#hearNoMore()
  }

  /** The server knows that it left. */
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

  /** Sends what there is to send, and asks for so many jobs at most. */
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
      // Of two calls that were under way, the later one says whether the server waits to call.
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

  /** Others are asked for what could come from here. */
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

  /** Nothing more is to be had now: somebody calls when there is. */
  #rest(recheckMs: number): void {
    this.#idle = this.#expects = true
    const longest = this.#letters.longestSleepMs
    // Not all at once.
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
    // What it was called for it learns when it asks again.
    if (this.#pause !== null) return
    if (this.#owner.hasRoom()) this.#owner.plan()
    else void this.#leave()
  }

  /**
   * Waits no more. Where there is work, another one is called that has room for it. What answers say of waiting that were under
   * way before, or behind it where it is sent again, holds no more: nobody would call it.
   */
  async #leave(inVain: (error: unknown) => void = () => undefined): Promise<void> {
    this.#called += 1
    try {
      if (!(await this.#tellLeaving())) return
    } catch (error) {
      this.#owner.onError(error)
      inVain(error)
    }
    if (!this.#idle || this.#isOver) return
    this.#idle = false
    this.#owner.plan()
  }

  /** Whether it waited until now, and was not called. */
  async #tellLeaving(): Promise<boolean> {
    const left = await leave(this.#source, this.#letters.name)
    this.#takeEarly(left)
    if (left.waits) this.#expects = false
    return left.waits
  }

  #takeEarly(answer: Exchanged): void {
    for (const handed of this.#letters.takeClock(answer)) this.#take(handed)
  }

  /** Until now it may have been called in vain, also by what the answers under way know. */
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

  /** The call may have happened. Acks are sent again; what was claimed comes back when its lease is over. */
  #again(error: unknown, pending: readonly PendingAck[]): void {
    const now = performance.now()
    const isOver = this.#isHurried || isFinal(error)
    for (const each of pending) {
      each.job.noteAckFailed(error)
      if (each.job.endsAt > now && !isOver) this.#acks.push(each)
      else each.job.noteAckEnded(error)
    }
    // Two calls that failed together are one failure.
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
