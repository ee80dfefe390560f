// A right that ends by itself, and that the keeper extends while it is wanted.
//
//              ┌─────────── extended: until the new end, at the new length, be it longer or shorter
//              │ ┌───────── refused: as before
//              │ │ ┌─────── not answered: until the earlier of both ends, at the shorter of both lengths
//              ▼ ▼ ▼
//   granted ──► HELD ──────── release ────────► RELEASING ──────────────────► RELEASED
//              │ ▲ ▲                             │ ▲ │
//              │ │ └── refused: kept no more ────┘ │ └── not answered ──► UNSURE
//    suspended │ │ still held                      └────── release ──────────┘
//              ▼ │
//            DOUBTED: the server is asked
//
//   The instance closes: the signal aborts. The holder releases it within half a second, or the keeper gives it back: LOST.
//
//   LOST: its time is over, the server does not know it any more, it was cleared or ended by its token, the keeper gave it back,
//   or it was doubted and the server did not say that it is held. The signal aborts.
//
//   LAPSED is what was lost by our own judgement alone: of an extension nobody knows whether the server has carried it out, or our
//   clocks were wrong. The server may have it for longer, for nobody: it is given back until the server has heard it.
//
// Our clock is monotonic and counts from before the lease was asked for, so it never says "held" when the server does
// not; `assertHeld` looks at it anew, for a stalled process learns of nothing else in time. It may leave out the time for
// which the machine was suspended; the wall clock tells that, and may be wrong, so the lease is doubted then, not lost.
//
// Kept no more: whoever could not give a lease back may not be there to try again. It is not to be held for ever. Where it is certain
// that nobody is there, for the task under it or the block is over, it is released again and again until it is RELEASED or LOST.

import { brand } from '../../driver.ts'
import { ListPlace } from '../../linked-list.ts'
import { Joined } from '../time/aborts.ts'
import { Belief, type ExtensionAnswer, type ExtensionQuestion } from '../keeper/belief.ts'
import type { Duration } from '../values/duration.ts'
import { LeaseLostError } from '../errors/errors.ts'
import { ExtensionPlan } from '../keeper/extension-plan.ts'
import { End, type Grant } from '../keeper/grant.ts'
import { nowOrInTheEnd } from '../time/in-the-end.ts'
import { Sleeper } from '../time/sleeper.ts'
import { didNotHappen, isLoss } from '../errors/outage.ts'
import type { TaskLease } from './lease.ts'
import type { KeeperLease, LeaseKeeper, LeaseKind } from '../keeper/lease-keeper.ts'
import { toLeaseMs } from './lease-options.ts'
import type { Trace } from '../calls/runner.ts'
import type { Unit } from '../connection/unit.ts'

export interface LeaseTerms {
  readonly kind: LeaseKind
  readonly unit: Unit
  /** Gives the lease back; false when the server no longer knows it. */
  release(token: number, trace: Trace): Promise<boolean>
  /** What people call what is leased, for errors. */
  readonly resource: string
  readonly leaseMs: number
  /** How long it is extended at most, from its grant on; 0: only its owner extends it. */
  readonly maxHoldMs: number
  /**
   * What is done under it counts also when it has lapsed, until another begins: whoever does it gives it back, and nothing else. Default:
   * false.
   */
  readonly countsLapsed?: true
}

interface AskedLength {
  readonly leaseMs: number
}

/** Most leases are not extended by their holder. */
const NONE: readonly AskedLength[] = []

type State = 'held' | 'doubted' | 'releasing' | 'unsure' | 'released' | 'lost'

/** A lease that the keeper extends until it is released. */
export class KeptLease implements TaskLease, KeeperLease {
  static {
    brand(this, 'KeptLease')
  }

  readonly token: number
  readonly askedAt: number
  isExtendedAlone = false
  readonly #terms: LeaseTerms
  readonly #keeper: LeaseKeeper
  readonly #place = new ListPlace<KeeperLease>(this)
  readonly #belief: Belief
  /** Made when somebody asks for it: most leases are over before. */
  #aborts: Joined | null = null
  #caller: AbortSignal | null = null
  readonly #plan: ExtensionPlan
  #leaseMs: number
  /** The lengths that its holder has asked for, and that are neither done nor refused. */
  #inQuestion = NONE
  #state: State = 'held'
  /** The last one; what is released twice at once is released once. */
  #releasing: Promise<void> = Promise.resolve()
  #isLapsed = false
  /** A task runs under it. */
  #hasTask = false
  /** Why the instance closes; null: it does not. */
  #stoppedBecause: Error | null = null
  /** The keeper, while it leaves it to the holder to release it. */
  #patient: Sleeper | null = null
  readonly #onOver: () => void

  constructor(grant: Grant, terms: LeaseTerms, keeper: LeaseKeeper) {
    const now = performance.now()
    this.token = grant.token
    this.askedAt = grant.askedAt
    this.#terms = terms
    this.#keeper = keeper
    this.#belief = new Belief(new End(grant.endsAt), grant.expiresAtMs)
    this.#onOver = grant.onOver ?? nothing
    this.#leaseMs = terms.leaseMs
    this.#plan = new ExtensionPlan(now + terms.maxHoldMs)
    this.#plan.renew(Math.max(0, grant.endsAt - now), terms.leaseMs, now)
    keeper.keep(this.#place)
  }

  get kind(): LeaseKind {
    return this.#terms.kind
  }

  /** What it is a lease on. */
  get unit(): Unit {
    return this.#terms.unit
  }

  get beginning(): string {
    return this.#terms.unit.beginning
  }

  get slotName(): string {
    return this.#terms.unit.slotName
  }

  get expiresAtMs(): number {
    return this.#belief.expiresAtMs
  }

  get remainingMs(): number {
    return this.#state === 'held' ? this.#belief.leftMs : 0
  }

  get signal(): AbortSignal {
    this.expireIfOver()
    this.#aborts ??= this.#makeAborts()
    return this.#aborts.signal
  }

  heed(signal: AbortSignal): void {
    this.#caller = signal
  }

  begin(): void {
    this.#hasTask = true
  }

  assertHeld(): void {
    if (this.remainingMs > 0) return
    this.expireIfOver()
    throw this.lostError()
  }

  async extend(lease?: Duration): Promise<void> {
    const leaseMs = lease === undefined ? this.#leaseMs : toLeaseMs(lease)
    this.expireIfOver()
    if (!this.#mayBeHeld) throw this.lostError()
    await this.#extendTo(leaseMs)
    if (this.#state === 'lost') throw this.lostError()
  }

  release(): Promise<void> {
    if (this.#state === 'released') return Promise.resolve()
    if (this.#state === 'lost') return Promise.reject(this.lostError())
    if (this.#state !== 'releasing') this.#releasing = this.#release()
    return this.#releasing
  }

  end(): Promise<void> {
    return nowOrInTheEnd(() => this.release(), isLoss)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end()
  }

  /** True when its time is over, or it was taken away. */
  get isLost(): boolean {
    this.expireIfOver()
    return this.#state === 'lost'
  }

  /** It is lost by our own judgement alone: the server was not asked. */
  get isLapsed(): boolean {
    this.expireIfOver()
    return this.#isLapsed
  }

  /** For leases that are this one, too. */
  lostError(): LeaseLostError {
    const cause = this.#stoppedBecause
    return new LeaseLostError(this.#terms.resource, this.token, cause === null ? undefined : { cause })
  }

  /** It is not extended by itself any more: it ends in time, also when nobody gives it back. */
  letGo(): void {
    this.#plan.wanted = false
    this.replan()
  }

  /** For the keeper: when it has something to do for this lease, by `performance.now()`. */
  get dueAt(): number {
    const endsAt = this.#state === 'held' ? this.#belief.endsAt : this.#belief.latestEndsAt
    return Math.min(this.#plan.at, endsAt)
  }

  /** For the keeper: from when on it may extend this lease along with others. */
  get mayExtendAt(): number {
    return this.#plan.togetherAt
  }

  /** For the keeper: how long to extend the lease now. */
  get wantedMs(): number {
    const now = performance.now()
    const wantedMs = this.#plan.wantedMs(this.#keptMs, now)
    // Who only asks leaves the end where it is.
    const leftMs = this.#state === 'doubted' ? this.#belief.latestEndsAt - now : 0
    return Math.max(1, Math.floor(Math.max(wantedMs, leftMs)))
  }

  /** For the keeper: it is asked for an extension; if that fails, another is tried later. */
  ask(leaseMs: number): ExtensionQuestion {
    const question = this.#belief.ask(leaseMs)
    // In doubt one question is enough.
    if (this.#state === 'doubted') this.#plan.set(Infinity)
    else this.replan()
    return question
  }

  /** For the keeper: what the server said. */
  noteExtended(question: ExtensionQuestion, extension: ExtensionAnswer): void {
    this.isExtendedAlone = false
    if (extension.expiresAtMs === 0) {
      this.#belief.over(question)
      if (this.#mayBeHeld) this.#lose()
      return
    }
    this.#belief.answered(question, extension)
    if (this.#state === 'doubted') this.#resolveDoubt()
    this.replan()
  }

  /** The server has said of a question that the lease is held: it may be one of before the doubt, or carried out along with one. */
  #resolveDoubt(): void {
    if (this.#belief.leftMs > 0) this.#state = 'held'
    else if (!this.#belief.isAsked) this.#doubt()
  }

  /** For the keeper: the server refused, or did not answer. */
  noteNotExtended(question: ExtensionQuestion, error: unknown): void {
    this.#belief.failed(question, error)
    if (!didNotHappen(error)) this.#leaseMs = Math.min(this.#leaseMs, question.leaseMs)
    if (this.#state === 'doubted') this.#lapse()
    else this.replan()
  }

  /** For the keeper: the unit was deleted, or this lease was ended by its token. */
  noteEnded(): void {
    if (this.#mayBeHeld || this.#state === 'unsure') this.#lose()
  }

  /** For the keeper: ends the lease when its time is over. */
  expireIfOver(): void {
    if (this.remainingMs > 0 || !(this.#mayBeHeld || this.#state === 'unsure')) return
    if (performance.now() >= this.#belief.latestEndsAt) this.#lapse()
    else if (this.#state === 'held') this.#doubt()
  }

  /** The instance closes. Nothing extends the lease any more. */
  stop(cause: Error): void {
    this.#stoppedBecause = cause
    this.#aborts?.abort(this.lostError())
  }

  /** For the keeper: who has its signal, or a task under it, has so long to release it himself. */
  async giveBackWithin(ms: number): Promise<void> {
    const isHeard = this.#hasTask || this.#aborts !== null
    if (isHeard && ms > 0 && this.#mayBeHeld) {
      this.#patient = new Sleeper()
      await this.#patient.sleep(ms, undefined)
    }
    const givingBack = this.#mayBeHeld ? this.#giveBack() : this.release()
    await givingBack.catch(() => undefined)
  }

  /** Not by its holder, who may still be at work: for him it is lost, from before another may have it. */
  async #giveBack(): Promise<void> {
    this.#lose()
    await this.#terms.release(this.token, { repeated: false, atClose: 'gives back' })
  }

  /** For the keeper: when it is to be extended. One in doubt is asked for already. */
  replan(): void {
    if (this.#state === 'held') this.#plan.renew(this.#belief.leftMs, this.#keptMs, performance.now())
  }

  /** The server knows. */
  get #mayBeHeld(): boolean {
    return this.#state === 'held' || this.#state === 'doubted'
  }

  /** How long it lasts again each time: what may have been shortened is not lengthened meanwhile. */
  get #keptMs(): number {
    return Math.min(this.#leaseMs, ...this.#inQuestion.map(({ leaseMs }) => leaseMs))
  }

  #makeAborts(): Joined {
    const aborts = new Joined()
    if (this.#stoppedBecause !== null || this.#state === 'lost') aborts.abort(this.lostError())
    else if (this.#caller !== null) aborts.join(this.#caller)
    if (this.#state === 'released') aborts.part()
    return aborts
  }

  #doubt(): void {
    this.#state = 'doubted'
    this.#plan.set(-Infinity)
    this.#keeper.replan(this.#place)
  }

  async #extendTo(leaseMs: number): Promise<void> {
    const question = { leaseMs }
    this.#inQuestion = [...this.#inQuestion, question]
    try {
      await this.#keeper.extendNow(this.#place, leaseMs)
      this.#leaseMs = leaseMs
      this.#plan.wanted = true
    } finally {
      this.#inQuestion = this.#inQuestion.filter((each) => each !== question)
      this.replan()
      this.#keeper.replan(this.#place)
    }
  }

  async #release(): Promise<void> {
    const wasUnsure = this.#state === 'unsure'
    const trace: Trace = { repeated: wasUnsure, atClose: 'gives back' }
    this.#state = 'releasing'
    this.#keeper.drop(this.#place)
    this.#patient?.wake()
    try {
      const known = await this.#terms.release(this.token, trace)
      // A live lease that is unknown after the call was sent twice was given back by the first.
      const isGiven = known || (trace.repeated === true && performance.now() < this.#belief.endsAt)
      if (!isGiven) throw this.lostError()
      this.#state = 'released'
      this.#aborts?.part()
      this.#onOver()
    } catch (error) {
      this.#notReleased(error, wasUnsure)
      throw error
    }
  }

  #notReleased(error: unknown, wasUnsure: boolean): void {
    if (error instanceof LeaseLostError) return this.#lose()
    this.#state = wasUnsure || !didNotHappen(error) ? 'unsure' : 'held'
    this.#plan.set(Infinity)
    this.letGo()
    this.#keeper.watch(this.#place)
    this.expireIfOver()
  }

  /** By our own judgement. */
  #lapse(): void {
    const lastsUntil = this.#belief.mayLastUntil
    this.#isLapsed = true
    this.#lose()
    if (performance.now() < lastsUntil && this.#terms.countsLapsed !== true) this.#giveBackUntil(lastsUntil)
  }

  /** Until the server has heard it, or it is over for the server, too. */
  #giveBackUntil(lastsUntil: number): void {
    const { unit, release } = this.#terms
    const say = async (): Promise<unknown> =>
      performance.now() < lastsUntil && release(this.token, { repeated: false, atClose: 'gives back' })
    const word = { say, node: () => unit.node, mayComeLate: false }
    unit.runtime.mailbox.abandoned.add(`${unit.beginning}${this.token}`, word)
  }

  #lose(): void {
    this.#state = 'lost'
    this.#keeper.drop(this.#place)
    this.#aborts?.abort(this.lostError())
    this.#onOver()
  }
}

function nothing(): void {}
