// Reads a history and looks for a window in which more was allowed than a limit promises. It knows
// nothing of how a limit counts.

import { STEP_US, type Terms } from './rate-limit-model.ts'

interface Taken {
  readonly token: number
  readonly atUs: number
  /** The limits that it was taken from. */
  readonly names: ReadonlySet<string>
  /** Refunded units do not count. */
  units: number
  released: boolean
}

export class BoundChecker {
  readonly #terms: readonly Terms[]
  readonly #taken: Taken[] = []
  #refunds = 0
  /** Small steps of the clock that may have counted as passed time. */
  #stepsUs = 0

  constructor(terms: readonly Terms[]) {
    this.#terms = terms
  }

  /** The limit that this take breaks, or null. All windows that end with it are checked. */
  take(token: number, atUs: number, cost: number, terms: readonly Terms[]): string | null {
    const newest = this.#taken.at(-1)
    if (newest !== undefined && token <= newest.token) return `token ${token} after ${newest.token}`
    const names = new Set(terms.map(({ name }) => name))
    this.#taken.push({ token, atUs, names, units: cost, released: false })
    const broken = this.#terms.map((each) => this.#brokenBy(each, atUs))
    return broken.find((problem) => problem !== null) ?? null
  }

  stepBack(): void {
    this.#stepsUs += STEP_US
  }

  refund(token: number, cost: number): void {
    const taken = this.#taken.find((each) => each.token === token)
    if (taken === undefined) return
    taken.units = Math.max(0, taken.units - cost)
    this.#refunds += 1
  }

  release(token: number): void {
    for (const each of this.#taken) if (each.token === token) each.released = true
  }

  #brokenBy(terms: Terms, endUs: number): string | null {
    if (terms.algorithm === 'concurrency') return this.#tooMany(terms, endUs)
    for (const { atUs } of this.#taken) {
      const most = this.#most(terms, endUs - atUs)
      const units = this.#unitsFrom(terms.name, atUs)
      if (most !== null && units > most) {
        return `${terms.name}: ${units} units in ${endUs - atUs} µs, where ${most} are allowed`
      }
    }
    return null
  }

  /** The most units in a span between two takes, both included. */
  #most({ algorithm, limit, window_ms, burst }: Terms, spanUs: number): number | null {
    if (algorithm === 'sliding-window') return spanUs + this.#stepsUs < window_ms * 1000 ? limit : null
    // A token may be some microseconds later than its take, one for each take at the same instant.
    const slackUs = this.#refunds === 0 ? 0 : this.#taken.length
    return burst + ((spanUs + slackUs + this.#stepsUs) * limit) / (window_ms * 1000)
  }

  #unitsFrom(name: string, startUs: number): number {
    const inside = this.#taken.filter(({ atUs, names }) => names.has(name) && atUs >= startUs)
    return inside.reduce((sum, { units }) => sum + units, 0)
  }

  #tooMany({ name, limit, window_ms }: Terms, nowUs: number): string | null {
    const startUs = nowUs - window_ms * 1000 + this.#stepsUs
    const held = this.#taken.filter(
      ({ atUs, names, released }) => names.has(name) && !released && atUs > startUs,
    )
    return held.length > limit ? `${name}: ${held.length} places held, of ${limit}` : null
  }
}
