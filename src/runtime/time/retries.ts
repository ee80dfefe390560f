// Pauses between attempts of endless work that others wait for: an election, a job. A rejection may last. A store that
// could not decide may recover at any moment, and free work should not wait then.

import { ExponentialBackoff } from './backoff.ts'
import { isOutage } from '../errors/outage.ts'

/** An attempt in an outage usually takes as long as calls do, so attempts are about a second apart in any case. */
const LONGEST_IN_OUTAGE_MS = 1000

export class Retries {
  readonly #refused: ExponentialBackoff
  readonly #away: ExponentialBackoff

  /** As for Backoff; in an outage no pause is longer than a second. */
  constructor(firstMs: number, longestMs: number) {
    this.#refused = new ExponentialBackoff(firstMs, longestMs)
    this.#away = new ExponentialBackoff(firstMs, Math.min(longestMs, LONGEST_IN_OUTAGE_MS))
  }

  /** The number of failures since the last success. */
  get failures(): number {
    return this.#refused.failures + this.#away.failures
  }

  /** The pause after a failure with this error, in whole milliseconds. */
  after(error: unknown): number {
    return (isOutage(error) ? this.#away : this.#refused).next()
  }

  /** An attempt has succeeded. */
  reset(): void {
    this.#refused.reset()
    this.#away.reset()
  }
}
