import { brand } from '../../driver.ts'
import { Joined } from '../time/aborts.ts'
import type { Duration } from '../values/duration.ts'
import type { LeaseLostError } from '../errors/errors.ts'
import type { KeptLease } from './kept-lease.ts'
import type { TaskLease } from './lease.ts'
import type { LeaseKind } from '../keeper/lease-keeper.ts'
import type { Unit } from '../connection/unit.ts'

/** A second handle on the same lease: for code that may be called by its holder. */
export class NestedLease implements TaskLease {
  static {
    brand(this, 'NestedLease')
  }

  readonly #outer: KeptLease | NestedLease
  #caller: AbortSignal | null = null
  /** Combines the lease's own signal and the caller's; created on first use. */
  #both: Joined | null = null
  #released = false

  constructor(outer: KeptLease | NestedLease) {
    outer.assertHeld()
    this.#outer = outer
  }

  get token(): number {
    return this.#outer.token
  }

  get beginning(): string {
    return this.#outer.beginning
  }

  get kind(): LeaseKind {
    return this.#outer.kind
  }

  get unit(): Unit {
    return this.#outer.unit
  }

  get expiresAtMs(): number {
    return this.#outer.expiresAtMs
  }

  get remainingMs(): number {
    return this.#released ? 0 : this.#outer.remainingMs
  }

  get signal(): AbortSignal {
    const { signal } = this.#outer
    if (this.#caller === null) return signal
    this.#both ??= new Joined([signal, this.#caller])
    if (this.#released) this.#both.part()
    return this.#both.signal
  }

  heed(signal: AbortSignal): void {
    this.#caller = signal
  }

  /** The task that has the outer lease releases it. */
  begin(): void {}

  assertHeld(): void {
    if (this.#released) throw this.lostError()
    this.#outer.assertHeld()
  }

  async extend(lease?: Duration): Promise<void> {
    if (this.#released) throw this.lostError()
    await this.#outer.extend(lease)
  }

  lostError(): LeaseLostError {
    return this.#outer.lostError()
  }

  /** Leaves the outer lease unchanged. Throws LeaseLostError when that has ended. */
  async release(): Promise<void> {
    if (this.#released) return
    this.#released = true
    this.#both?.part()
    this.#outer.assertHeld()
  }

  end(): Promise<void> {
    return this.release()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }
}
