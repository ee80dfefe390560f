// How long to pause between tries of what goes on for ever and others wait for: an office, a job. What is refused may be refused
// for long. A store that could not decide may do so again at any moment, and then nothing that is free is to lie about.

import { ExponentialBackoff } from './backoff.ts'
import { isOutage } from '../errors/outage.ts'

/** A try in an outage mostly takes as long as calls do; so it is not tried more than about once a second in any case. */
const LONGEST_IN_OUTAGE_MS = 1000

export class Retries {
  readonly #refused: ExponentialBackoff
  readonly #away: ExponentialBackoff

  /** As for Backoff; in an outage no pause is longer than a second. */
  constructor(firstMs: number, longestMs: number) {
    this.#refused = new ExponentialBackoff(firstMs, longestMs)
    this.#away = new ExponentialBackoff(firstMs, Math.min(longestMs, LONGEST_IN_OUTAGE_MS))
  }

  /** How many tries have failed since the last one that did not. */
  get failures(): number {
    return this.#refused.failures + this.#away.failures
  }

  /** How long to pause after a try that failed so, in whole milliseconds. */
  after(error: unknown): number {
    return (isOutage(error) ? this.#away : this.#refused).next()
  }

  /** A try did not fail. */
  reset(): void {
    this.#refused.reset()
    this.#away.reset()
  }
}
