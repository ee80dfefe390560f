import type { Duration } from '../runtime/values/duration.ts'
import type { Grant } from '../runtime/keeper/grant.ts'
import { KeptLease } from '../runtime/leases/kept-lease.ts'
import type { Lease } from '../runtime/leases/lease.ts'
import type { Trace } from '../runtime/calls/runner.ts'
import { type Completed, completeAttempt, releaseAttempt, tryToRelease } from './end.ts'
import { insisting } from './insist.ts'
import { kindOf } from './lease-kind.ts'
import { encodeResult, resourceOf, type OnceSource, unitOf } from './source.ts'

/**
 * The right to do the work of a key. It is extended while the process lives, up to `maxHold`. Leaving an
 * `await using` block releases an attempt that was not completed.
 *
 *   UNDER WAY ──complete──► COMPLETED: the key replays the result
 *      │ ──release──► RELEASED: the key is free
 *      │ ──its lease ended──► LAPSED: the signal aborts; `complete` and `release` still count until another attempt begins
 *
 * A `complete` or `release` that failed may be repeated.
 */
export class Attempt<Result> implements Lease {
  readonly key: string
  readonly #source: OnceSource<Result>
  readonly #lease: KeptLease
  /** What the end of the lease does. False: the server knows it no more. */
  #end: (trace: Trace) => Promise<boolean>
  /** The work is done: the key is not to be freed for another. */
  #wasDone = false
  #completed: Completed | null = null

  constructor(source: OnceSource<Result>, key: string, grant: Grant) {
    this.key = key
    this.#source = source
    this.#end = (trace) => tryToRelease(source, key, grant.token, trace)
    this.#lease = new KeptLease(grant, this.#terms(), source.runtime.keeper)
  }

  /** Greater than that of every earlier attempt at the key: hand it to what you change. */
  get token(): number {
    return this.#lease.token
  }

  /** When the lease ends, in milliseconds of the server's clock. */
  get expiresAtMs(): number {
    return this.#lease.expiresAtMs
  }

  /** How much of the lease is left by this process's own clock; never more than the server grants. */
  get remainingMs(): number {
    return this.#lease.remainingMs
  }

  /** Aborts when the lease is lost, with the LeaseLostError as its reason. */
  get signal(): AbortSignal {
    return this.#lease.signal
  }

  /** @internal Its signal aborts with this one, too, until the attempt ends. */
  heed(signal: AbortSignal): void {
    this.#lease.heed(signal)
  }

  /** @internal A task runs under it from now on, and ends it. */
  begin(): void {
    this.#lease.begin()
  }

  /** Throws LeaseLostError unless the lease is held now. */
  assertHeld(): void {
    this.#lease.assertHeld()
  }

  /** Makes the lease last `lease` from now; default: as long as it was asked for. Throws LeaseLostError. */
  extend(lease?: Duration): Promise<void> {
    return this.#lease.extend(lease)
  }

  /**
   * Stores the result. Throws LeaseLostError when another attempt has begun since; where the result cannot be stored,
   * InvalidArgumentError or what the codec throws: another result may be given then.
   */
  async complete(result: Result): Promise<Completed> {
    this.#wasDone = true
    return this.#complete(encodeResult(this.#source, result))
  }

  /**
   * @internal As `complete`, for work that cannot be done again. A result that cannot be stored is none: whoever comes with the
   * key learns that it was done. Throws what kept it from being stored once the server knows that. What an outage keeps from the server is
   * said again until it has heard it.
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
    await this.#lease.release()
    return this.#completed ?? complete()
  }

  /** Gives the key back without a result. Throws LeaseLostError when another attempt has begun since. */
  async release(): Promise<void> {
    // As for `complete`: nobody else may have begun, and the key is still that of this request.
    if (this.#lease.isLapsed) return releaseAttempt(this.#source, this.key, this.token)
    this.#end = (trace) => tryToRelease(this.#source, this.key, this.token, trace)
    return this.#lease.release()
  }

  /** @internal As `release`, for work that failed; said again as of `completeAnyway`. */
  releaseAnyway(): Promise<void> {
    return this.#insisting(this.release(), () => tryToRelease(this.#source, this.key, this.token))
  }

  #insisting<Value>(first: Promise<Value>, again: () => Promise<unknown>): Promise<Value> {
    const unit = unitOf(this.#source, this.key)
    return insisting(unit, `${unit.beginning}${this.token}`, first, again)
  }

  /** Releases an attempt that nobody tried to complete. Nobody may be there to complete the others: they are extended no more. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#wasDone) return this.releaseAnyway()
    this.#lease.letGo()
  }

  #terms(): ConstructorParameters<typeof KeptLease>[1] {
    const { runtime, leaseMs, maxHoldMs } = this.#source
    return {
      kind: kindOf(runtime),
      unit: unitOf(this.#source, this.key),
      release: (_token, trace) => this.#end(trace),
      resource: resourceOf(this.#source, this.key),
      leaseMs,
      maxHoldMs,
      countsLapsed: true,
    }
  }
}
