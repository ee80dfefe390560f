// A lease that expires by itself, and that the keeper renews while it is needed.
//
//              ┌─────────── extended: until the new end, with the new length, be it longer or shorter
//              │ ┌───────── refused: as before
//              │ │ ┌─────── not answered: until the earlier of both ends, with the shorter of both lengths
//              ▼ ▼ ▼
//   granted ──► HELD ──────── release ────────► RELEASING ──────────────────► RELEASED
//              │ ▲ ▲                             │ ▲ │
//              │ │ └── refused: not renewed ─────┘ │ └── not answered ──► UNSURE
//    suspended │ │ still held                      └────── release ──────────┘
//              ▼ │
//            DOUBTED: the server is asked
//
//   The instance closes: the signal aborts. Its holder releases it within half a second, or the keeper gives it back.
//   LOST, and the signal aborts: it expired, the server does not know it, it was cleared or ended by its token, the
//   keeper gave it back, or the server did not confirm a doubted one.
//   LAPSED: lost by this process's judgement alone. An extension may have been carried out, or the clocks were wrong.
//   The server may hold it for longer, without a holder: giving it back is retried until the server has received it.
//
// This process's clock is monotonic and counts from before the request, so it never reports "held" when the server does
// not. `assertHeld` reads it each time: nothing else notifies a stalled process in time. It may omit the time of a
// suspension. The wall clock shows that time but may be wrong, so the lease is then doubted, not lost.
// Not renewed: a holder whose release failed may not retry it, and the lease must not be held forever. When its task or
// block is over, the release is retried until the lease is RELEASED or LOST.

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
  /** The name of the leased resource, for errors. */
  readonly resource: string
  readonly leaseMs: number
  /** How long it is renewed at most, from its grant on; 0: only its owner extends it. */
  readonly maxHoldMs: number
  /** Work under the lease is valid even after a lapse, until another attempt begins: only its worker gives it back. */
  readonly countsLapsed?: true
}

interface AskedLength {
  readonly leaseMs: number
}

/** How long a lapsed lease is given back that, as far as this process knows, is over for the server too. */
const UNHEEDED_MS = 1000

/** Most leases are not extended by their holder. */
const NONE: readonly AskedLength[] = []

type State = 'held' | 'doubted' | 'releasing' | 'unsure' | 'released' | 'lost'

/** A lease that the keeper renews until it is released. */
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
  /** Created on first use: most leases end before. */
  #aborts: Joined | null = null
  #caller: AbortSignal | null = null
  readonly #plan: ExtensionPlan
  #leaseMs: number
  /** The lengths that its holder has requested, and that are neither carried out nor rejected. */
  #inQuestion = NONE
  #state: State = 'held'
  /** The last release; concurrent releases are combined. */
  #releasing: Promise<void> = Promise.resolve()
  #isLapsed = false
  /** A task runs under the lease. */
  #hasTask = false
  /** The reason for closing; null while the instance is open. */
  #stoppedBecause: Error | null = null
  /** The keeper, while it waits for the holder to release the lease. */
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

  /** The unit to which the lease belongs. */
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

  /** True when the lease has expired or was taken away. */
  get isLost(): boolean {
    this.expireIfOver()
    return this.#state === 'lost'
  }

  /** Lost by this process's judgement alone: the server was not asked. */
  get isLapsed(): boolean {
    this.expireIfOver()
    return this.#isLapsed
  }

  /** Also for nested leases on this one. */
  lostError(): LeaseLostError {
    const cause = this.#stoppedBecause
    return new LeaseLostError(this.#terms.resource, this.token, cause === null ? undefined : { cause })
  }

  /** Stops the renewal: the lease expires in time, even if it is not given back. */
  letGo(): void {
    this.#plan.wanted = false
    this.replan()
  }

  /** For the keeper: when it must act on this lease next, by `performance.now()`. */
  get dueAt(): number {
    const endsAt = this.#state === 'held' ? this.#belief.endsAt : this.#belief.latestEndsAt
    return Math.min(this.#plan.at, endsAt)
  }

  /** For the keeper: from when on it may extend this lease together with others. */
  get mayExtendAt(): number {
    return this.#plan.togetherAt
  }

  /** For the keeper: the length for which to extend the lease now. */
  get wantedMs(): number {
    const now = performance.now()
    const wantedMs = this.#plan.wantedMs(this.#keptMs, now)
    // A question alone leaves the end unchanged.
    const leftMs = this.#state === 'doubted' ? this.#belief.latestEndsAt - now : 0
    return Math.max(1, Math.floor(Math.max(wantedMs, leftMs)))
  }

  /** For the keeper: an extension is requested; if it fails, another one is tried later. */
  ask(leaseMs: number): ExtensionQuestion {
    const question = this.#belief.ask(leaseMs)
    // In doubt, one question is enough.
    if (this.#state === 'doubted') this.#plan.set(Infinity)
    else this.replan()
    return question
  }

  /** For the keeper: the server's answer. */
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

  /** The server confirmed the lease, to a request of before the doubt or one carried out together with it. */
  #resolveDoubt(): void {
    if (this.#belief.leftMs > 0) this.#state = 'held'
    else if (!this.#belief.isAsked) this.#doubt()
  }

  /** For the keeper: the server rejected, or did not answer. */
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

  /** The instance closes: the lease is no longer renewed. */
  stop(cause: Error): void {
    this.#stoppedBecause = cause
    this.#aborts?.abort(this.lostError())
  }

  /** For the keeper: gives the lease back after at most `ms`; until then a user of its signal, or a task, may release it. */
  async giveBackWithin(ms: number): Promise<void> {
    const isHeard = this.#hasTask || this.#aborts !== null
    if (isHeard && ms > 0 && this.#mayBeHeld) {
      this.#patient = new Sleeper()
      await this.#patient.sleep(ms, undefined)
    }
    const givingBack = this.#mayBeHeld ? this.#giveBack() : this.release()
    await givingBack.catch(() => undefined)
  }

  /** By the keeper, while the holder may still be working, for whom it is lost before another can get it. */
  async #giveBack(): Promise<void> {
    this.#lose()
    await this.#terms.release(this.token, { repeated: false, atClose: 'gives back' })
  }

  /** For the keeper: plans the next extension. A doubted lease has been asked for already. */
  replan(): void {
    if (this.#state === 'held') this.#plan.renew(this.#belief.leftMs, this.#keptMs, performance.now())
  }

  /** Only the server knows. */
  get #mayBeHeld(): boolean {
    return this.#state === 'held' || this.#state === 'doubted'
  }

  /** The length of each renewal. A length that may have been shortened is not increased in the meantime. */
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

  /** For the keeper: a call may have ended it. The server is asked at once, and nothing is believed until it answers. */
  doubt(): void {
    if (this.#state === 'held') this.#doubt()
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
      // A live lease that is unknown after a repeated call was given back by the first call.
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

  /** Lost by this process's judgement. */
  #lapse(): void {
    // A server whose clock has stepped back still holds the lease.
    const lastsUntil = Math.max(this.#belief.mayLastUntil, performance.now() + UNHEEDED_MS)
    this.#isLapsed = true
    this.#lose()
    if (this.#terms.countsLapsed !== true) this.#giveBackUntil(lastsUntil)
  }

  /** Gives back until the server has received it, or the lease is over for the server too. */
  #giveBackUntil(lastsUntil: number): void {
    const { unit, release } = this.#terms
    const say = async (): Promise<unknown> =>
      performance.now() < lastsUntil && release(this.token, { repeated: false, atClose: 'gives back' })
    unit.lastWord(`${unit.beginning}${this.token}`, say)
  }

  #lose(): void {
    this.#state = 'lost'
    this.#keeper.drop(this.#place)
    this.#aborts?.abort(this.lostError())
    this.#onOver()
  }
}

function nothing(): void {}
