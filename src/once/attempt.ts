import type { Duration } from '../runtime/values/duration.ts'
import type { Grant } from '../runtime/keeper/grant.ts'
import { KeptLease } from '../runtime/leases/kept-lease.ts'
import type { Lease } from '../runtime/leases/lease.ts'
import type { Trace } from '../runtime/calls/runner.ts'
import { type Completed, completeAttempt, releaseAttempt, tryToRelease } from './end.ts'
import { insisting } from './insist.ts'
import { endOthers } from './other-objects.ts'
import { kindOf } from './lease-kind.ts'
import { encodeResult, resourceOf, type OnceSource, unitOf } from './source.ts'

/**
 * The right to do the work of a key, under a lease. The lease is extended while the process lives, up to `maxHold`.
 * Leaving an `await using` block releases an attempt that was not completed.
 *
 *   UNDER WAY ──complete──► COMPLETED: the key replays the result
 *      │ ──release──► RELEASED: the key is free
 *      │ ──its lease ended──► LAPSED: the signal aborts; `complete` and `release` work until another attempt begins
 *
 * A failed `complete` or `release` may be repeated.
 */
export class Attempt<Result> implements Lease {
  readonly key: string
  /** Its caller chose the id: there may be other objects of this attempt, and other callers. */
  readonly #isNamed: boolean
  readonly #source: OnceSource<Result>
  readonly #lease: KeptLease
  /** The call that ends the lease. False: the server no longer knows the attempt. */
  #end: (trace: Trace) => Promise<boolean>
  /** The work is done: the key must not be released for another attempt. */
  #wasDone = false
  #completed: Completed | null = null

  constructor(source: OnceSource<Result>, key: string, grant: Grant, isNamed: boolean) {
    this.key = key
    this.#isNamed = isNamed
    this.#source = source
    this.#end = (trace) => tryToRelease(source, key, grant.token, trace)
    this.#lease = new KeptLease(grant, this.#terms(), source.runtime.keeper)
  }

  /**
   * The fencing token, greater than that of every earlier attempt at the key. Pass it to the resources that you
   * change.
   */
  get token(): number {
    return this.#lease.token
  }

  /** When the lease ends, in milliseconds of the server's clock. */
  get expiresAtMs(): number {
    return this.#lease.expiresAtMs
  }

  /**
   * The time left on the lease in milliseconds, by this process's clock; never more than the server grants, 0 when it
   * has ended.
   */
  get remainingMs(): number {
    return this.#lease.remainingMs
  }

  /** Aborts when the lease is lost, with the LeaseLostError as its reason. */
  get signal(): AbortSignal {
    return this.#lease.signal
  }

  /** @internal Until the attempt ends, its signal also aborts when this one does. */
  heed(signal: AbortSignal): void {
    this.#lease.heed(signal)
  }

  /** @internal From now on a task runs under this attempt, and ends it. */
  begin(): void {
    this.#lease.begin()
  }

  /** Throws LeaseLostError unless the lease is held now. */
  assertHeld(): void {
    this.#lease.assertHeld()
  }

  /**
   * Makes the lease last `lease` from now; by default as long as the attempt requested. Throws LeaseLostError when it
   * has ended.
   */
  extend(lease?: Duration): Promise<void> {
    return this.#lease.extend(lease)
  }

  /**
   * Stores the result. Resolves to the time until which it is kept. Throws LeaseLostError when another attempt has
   * begun since. When the result cannot be stored, throws InvalidArgumentError or the error of the codec; `complete`
   * may then be called with another result.
   */
  async complete(result: Result): Promise<Completed> {
    // A closing instance ends what is held: it must not free the key if this result cannot be encoded.
    if (!this.#wasDone) this.#end = () => Promise.resolve(true)
    this.#wasDone = true
    return this.#complete(encodeResult(this.#source, result))
  }

  /**
   * @internal Like `complete`, for work that cannot be repeated. If the result cannot be stored, the server records
   * that the work was done, so that later callers of the key get ResultNotKeptError; then the original error is
   * thrown. After an outage the call is retried until the server accepts it.
   */
  async completeAnyway(result: Result): Promise<Completed> {
    this.#wasDone = true
    let encoded: string | Uint8Array
    try {
      encoded = encodeResult(this.#source, result)
    } catch (error) {
      await this.#completeInsisting(null).catch(() => undefined)
      throw error
    }
    return this.#completeInsisting(encoded)
  }

  #completeInsisting(result: string | Uint8Array | null): Promise<Completed> {
    const again = () => completeAttempt(this.#source, this.key, this.token, result)
    return this.#insisting(this.#complete(result), again)
  }

  async #complete(result: string | Uint8Array | null): Promise<Completed> {
    if (this.#completed !== null) return this.#completed
    const complete = async (): Promise<Completed> => {
      this.#completed = await completeAttempt(this.#source, this.key, this.token, result)
      return this.#completed
    }
    // The script decides: a lapsed attempt may still be the newest.
    if (this.#lease.isLost) return complete()
    this.#end = () => complete().then(() => true)
    await this.#ending(this.#lease.release())
    return this.#completed ?? complete()
  }

  /** Frees the key without a result. Throws LeaseLostError when another attempt has begun since. */
  async release(): Promise<void> {
    // As in `complete`: a lapsed attempt may still be the newest, and then the key still belongs to this request.
    if (this.#lease.isLapsed) return this.#ending(releaseAttempt(this.#source, this.key, this.token))
    this.#end = (trace) => tryToRelease(this.#source, this.key, this.token, trace)
    return this.#ending(this.#lease.release())
  }

  #ending(ending: Promise<void>): Promise<void> {
    return this.#isNamed ? endOthers(this.#lease, ending) : ending
  }

  /** @internal Like `release`, for work that failed; retried like `completeAnyway`. */
  releaseAnyway(): Promise<void> {
    return this.#insisting(this.release(), () => tryToRelease(this.#source, this.key, this.token))
  }

  #insisting<Value>(first: Promise<Value>, again: () => Promise<unknown>): Promise<Value> {
    const unit = unitOf(this.#source, this.key)
    return insisting(unit, `${unit.beginning}${this.token}`, first, again)
  }

  /**
   * Releases the attempt unless `complete` was called. After a failed `complete` it only stops the renewal, because
   * no caller may be left to complete it. A release that failed is repeated, unless the caller chose the id: a caller
   * that has begun again with this id has the attempt.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#wasDone) return this.#isNamed ? this.release() : this.releaseAnyway()
    this.#lease.letGo()
  }

  #terms(): ConstructorParameters<typeof KeptLease>[1] {
    const { runtime, leaseMs, maxHoldMs } = this.#source
    return {
      kind: kindOf(runtime, this.#isNamed),
      unit: unitOf(this.#source, this.key),
      release: (_token, trace) => this.#end(trace),
      resource: resourceOf(this.#source, this.key),
      leaseMs,
      maxHoldMs,
      countsLapsed: true,
    }
  }
}
