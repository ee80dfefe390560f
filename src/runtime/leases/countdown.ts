// Until when a process may believe in what it extends by hand. While it is not known whether an extension was carried out,
// the earlier of both ends counts. It is over, too, once this instance has deleted the unit that it is of.

import { askingAt, End, ROUNDING_MS } from '../keeper/grant.ts'
import { didNotHappen } from '../errors/outage.ts'
import type { Unit } from '../connection/unit.ts'

const NONE: readonly End[] = Object.freeze([])

export class Countdown {
  readonly #unit: Unit
  readonly #askedAt: number
  #end: End
  /** When it ends at the earliest, of extensions that are under way. */
  #asked = NONE

  constructor(unit: Unit, end: End) {
    this.#unit = unit
    this.#askedAt = end.askedAt
    this.#end = end
  }

  /** Looks for suspensions of the machine; never below 0. */
  get leftMs(): number {
    if (this.#isCleared) return 0
    // Nearly always: a worker asks this before each job.
    if (this.#asked === NONE) return this.#end.leftMs
    return this.#asked.reduce((leftMs, end) => Math.min(leftMs, end.leftMs), this.#end.leftMs)
  }

  /** When it is over by `performance.now()` alone. */
  get latest(): number {
    if (this.#isCleared) return this.#askedAt
    if (this.#asked === NONE) return this.#end.latest
    return this.#asked.reduce((at, { latest }) => Math.min(at, latest), this.#end.latest)
  }

  /** An extension was carried out. */
  set(end: End): void {
    this.#end = end
  }

  /** Runs an extension by so much; what it resolves to is for `set`. */
  async whileAsked<Value>(leaseMs: number, extend: () => Promise<Value>): Promise<Value> {
    const asked = new End(askingAt() + leaseMs - ROUNDING_MS)
    this.#asked = [...this.#asked, asked]
    try {
      return await extend()
    } catch (error) {
      if (!didNotHappen(error) && asked.at < this.#end.at) this.#end = asked
      throw error
    } finally {
      const others = this.#asked.filter((end) => end !== asked)
      this.#asked = others.length === 0 ? NONE : others
    }
  }

  get #isCleared(): boolean {
    return this.#unit.runtime.clearings.since(this.#unit.beginning, this.#askedAt)
  }
}
