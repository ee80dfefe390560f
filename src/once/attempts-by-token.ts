// Attempts by their tokens: another process, or the client of a service, extends and ends them.

import { type Extended, extendByToken, noteEnded } from '../runtime/leases/lease-by-token.ts'
import { isLoss } from '../runtime/errors/outage.ts'
import { checkToken } from '../runtime/values/arguments.ts'
import type { Duration } from '../runtime/values/duration.ts'
import { type Completed, completeAttempt, releaseAttempt } from './end.ts'
import { kindOf } from './lease-kind.ts'
import { encodeResult, type OnceSource, resourceOf, unitOf } from './source.ts'

/** Attempts at the keys of one `Once`. */
export class AttemptsByToken<Result> {
  readonly #source: OnceSource<Result>

  constructor(source: OnceSource<Result>) {
    this.#source = source
  }

  /** As `attempt.complete`. Throws LeaseLostError, InvalidArgumentError, or AmbiguousError as `release`. */
  async complete(key: string, token: number, result: Result): Promise<Completed> {
    const encoded = encodeResult(this.#source, result)
    return this.#ended(key, token, completeAttempt(this.#source, key, checkToken(token), encoded))
  }

  /** As `attempt.extend`. Throws LeaseLostError, InvalidArgumentError. */
  async extend(key: string, token: number, lease: Duration): Promise<Extended> {
    const kind = kindOf(this.#source.runtime)
    const [unit, resource] = [unitOf(this.#source, key), resourceOf(this.#source, key)]
    return extendByToken({ kind, unit, resource }, token, lease)
  }

  /**
   * As `attempt.release`. Throws LeaseLostError, InvalidArgumentError, or AmbiguousError when the first answer was lost and the second
   * does not tell.
   */
  async release(key: string, token: number): Promise<void> {
    return this.#ended(key, token, releaseAttempt(this.#source, key, checkToken(token)))
  }

  /** Where this process has the attempt, it learns that it is over. */
  async #ended<Value>(key: string, token: number, ending: Promise<Value>): Promise<Value> {
    const over = (): void => noteEnded(kindOf(this.#source.runtime), unitOf(this.#source, key), token)
    try {
      const value = await ending
      over()
      return value
    } catch (error) {
      if (isLoss(error)) over()
      throw error
    }
  }
}
