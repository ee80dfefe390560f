// A right that ends by itself, and that the keeper extends while it is wanted.
//
//   HELD ──release──► RELEASED
//    │ ──the lease ended, by the server's word or by our own clock──► LOST: the signal aborts
//    │ ──the instance closes──► STOPPED: the signal aborts ──its holder releases it, or half a second is over──► RELEASED
//
// Our clock is monotonic and counts from before the lease was asked for, so it never says "held" when the
// server does not; `assertHeld` looks at it anew, for a stalled process learns of nothing else in time.

import { brand } from '../driver.ts'
import type { Duration } from './duration.ts'
import { LeaseLostError } from './errors.ts'
import type { Grant } from './grant.ts'
import type { TaskLease } from './lease.ts'
import type { Kept, LeaseKeeper, LeaseKind } from './lease-keeper.ts'
import { toLeaseMs } from './lease-options.ts'
import type { Trace } from './runner.ts'
import type { Unit } from './unit.ts'

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
}

/** A lease that the keeper extends until it is released. */
export class KeptLease implements TaskLease, Kept {
  static {
    brand(this, 'KeptLease')
  }

  readonly token: number
  readonly #terms: LeaseTerms
  readonly #keeper: LeaseKeeper
  /** Made when somebody asks for it: most leases are over before. */
  #aborter: AbortController | null = null
  #caller: AbortSignal | null = null
  /** Made when somebody asks for it, of the lease's own signal and the caller's. */
  #both: AbortSignal | null = null
  readonly #holdUntil: number
  #leaseMs: number
  #expiresAtMs: number
  #endsAt: number
  #extendAt = Infinity
  #mayExtendAt = Infinity
  #state: 'held' | 'released' | 'lost' = 'held'
  /** A task runs under it. */
  #hasTask = false
  /** With what the signal aborts, or has, because the instance closes. */
  #stopped: LeaseLostError | null = null
  /** Called when it is released by its holder. */
  #onRelease: (() => void) | null = null

  constructor(grant: Grant, terms: LeaseTerms, keeper: LeaseKeeper) {
    const now = performance.now()
    this.token = grant.token
    this.#terms = terms
    this.#keeper = keeper
    this.#leaseMs = terms.leaseMs
    this.#expiresAtMs = grant.expiresAtMs
    this.#endsAt = grant.endsAt
    this.#holdUntil = now + terms.maxHoldMs
    this.#planExtension()
    keeper.keep(this)
  }

  get kind(): LeaseKind {
    return this.#terms.kind
  }

  get beginning(): string {
    return this.#terms.unit.beginning
  }

  get slotName(): string {
    return this.#terms.unit.slotName
  }

  get expiresAtMs(): number {
    return this.#expiresAtMs
  }

  get remainingMs(): number {
    return this.#state === 'held' ? Math.max(0, this.#endsAt - performance.now()) : 0
  }

  get signal(): AbortSignal {
    if (this.#aborter === null) {
      this.#aborter = new AbortController()
      if (this.#stopped !== null) this.#aborter.abort(this.#stopped)
      else if (this.#state === 'lost') this.#aborter.abort(this.#lostError())
    }
    const { signal } = this.#aborter
    if (this.#caller === null) return signal
    return (this.#both ??= AbortSignal.any([signal, this.#caller]))
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
    throw this.#lostError()
  }

  async extend(lease?: Duration): Promise<void> {
    const leaseMs = lease === undefined ? this.#leaseMs : toLeaseMs(lease)
    this.assertHeld()
    await this.#keeper.extendNow(this, leaseMs)
    if (this.#state === 'lost') throw this.#lostError()
    this.#leaseMs = leaseMs
  }

  async release(): Promise<void> {
    if (this.#state === 'released') return
    if (this.#state === 'lost') throw this.#lostError()
    this.#state = 'released'
    this.#keeper.drop(this)
    this.#onRelease?.()
    const trace: Trace = { repeated: false, atClose: 'gives back' }
    const known = await this.#terms.release(this.token, trace)
    // A live lease that is unknown after the call was sent twice was given back by the first.
    if (known || (trace.repeated && performance.now() < this.#endsAt)) return
    this.#lose()
    throw this.#lostError()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }

  /** For the keeper: when it has something to do for this lease, by `performance.now()`. */
  get dueAt(): number {
    return Math.min(this.#extendAt, this.#endsAt)
  }

  /** For the keeper: from when on it may extend this lease along with others. */
  get mayExtendAt(): number {
    return this.#mayExtendAt
  }

  /** For the keeper: how long to extend the lease now. */
  get wantedMs(): number {
    return Math.max(1, Math.min(this.#leaseMs, Math.floor(this.#holdUntil - performance.now())))
  }

  /** For the keeper: what the server said. `askedAt`: `performance.now()` before it was asked. */
  noteExtended(expiresAtMs: number, endsAt: number): void {
    if (this.#state !== 'held') return
    if (expiresAtMs === 0) return this.#lose()
    this.#expiresAtMs = expiresAtMs
    this.#endsAt = endsAt
    this.#planExtension()
  }

  /** For the keeper: an extension is under way; if it fails, another is tried later. */
  putOff(): void {
    this.#planExtension()
  }

  /** For the keeper: ends the lease when its time is over. */
  expireIfOver(): void {
    if (this.#state === 'held' && performance.now() >= this.#endsAt) this.#lose()
  }

  /** For the keeper: the instance closes. Nothing extends the lease any more. */
  stop(cause: Error): void {
    this.#stopped = new LeaseLostError(this.#terms.resource, this.token, { cause })
    this.#aborter?.abort(this.#stopped)
  }

  /** For the keeper: who has its signal, or a task under it, has so long to release it himself. */
  async giveBackWithin(ms: number): Promise<void> {
    const isHeard = this.#hasTask || this.#aborter !== null
    if (isHeard && ms > 0 && this.#state === 'held') await this.#releasedWithin(ms)
    await this.release().catch(() => undefined)
  }

  #releasedWithin(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#onRelease = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** When a third of what is left has passed; together with others when a sixth has. */
  #planExtension(): void {
    const now = performance.now()
    const leftMs = Math.max(0, this.#endsAt - now)
    const longer = Math.min(this.#leaseMs, this.#holdUntil - now - leftMs / 3) > (leftMs * 2) / 3
    this.#extendAt = longer ? now + Math.max(20, leftMs / 3) : Infinity
    this.#mayExtendAt = longer ? now + Math.max(20, leftMs / 6) : Infinity
  }

  #lose(): void {
    this.#state = 'lost'
    this.#keeper.drop(this)
    this.#aborter?.abort(this.#lostError())
  }

  #lostError(): LeaseLostError {
    return new LeaseLostError(this.#terms.resource, this.token)
  }
}
