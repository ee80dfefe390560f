// Attempts by their tokens, so that another process or the client of a service can extend and end them.

import { type Extended, extendByToken, noteEnded, noteUnanswered } from '../runtime/leases/lease-by-token.ts'
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

  /** Like `attempt.complete`. Throws LeaseLostError, InvalidArgumentError, or AmbiguousError like `release`. */
  async complete(key: string, token: number, result: Result): Promise<Completed> {
    const encoded = encodeResult(this.#source, result)
    return this.#ended(key, token, completeAttempt(this.#source, key, checkToken(token), encoded))
  }

  /** Like `attempt.extend`; resolves to the new end. Throws LeaseLostError, InvalidArgumentError. */
  async extend(key: string, token: number, lease: Duration): Promise<Extended> {
    const kind = kindOf(this.#source.runtime)
    const [unit, resource] = [unitOf(this.#source, key), resourceOf(this.#source, key)]
    return extendByToken({ kind, unit, resource }, token, lease)
  }

  /**
   * Like `attempt.release`. Throws LeaseLostError or InvalidArgumentError. Throws AmbiguousError when the first
   * answer was lost and the retry cannot show whether the first call released the attempt.
   */
  async release(key: string, token: number): Promise<void> {
    return this.#ended(key, token, releaseAttempt(this.#source, key, checkToken(token)))
  }

  /** If this process holds the attempt, its lease is marked as ended. */
  async #ended<Value>(key: string, token: number, ending: Promise<Value>): Promise<Value> {
    const [kind, unit] = [kindOf(this.#source.runtime), unitOf(this.#source, key)]
    const over = (): void => noteEnded(kind, unit, token)
    try {
      const value = await ending
      over()
      return value
    } catch (error) {
      if (isLoss(error)) over()
      else noteUnanswered(kind, unit, token, error)
      throw error
    }
  }
}
