// Until when a process may believe in what it extends by hand. It is over, too, once this instance has deleted the unit that it is of.

import type { Unit } from '../connection/unit.ts'
import { Belief } from '../keeper/belief.ts'
import type { End } from '../keeper/grant.ts'

export class Countdown extends Belief {
  readonly #unit: Unit
  readonly #askedAt: number

  constructor(unit: Unit, end: End, expiresAtMs: number) {
    super(end, expiresAtMs)
    this.#unit = unit
    this.#askedAt = end.askedAt
  }

  override get leftMs(): number {
    return this.#isCleared ? 0 : super.leftMs
  }

  override get latestEndsAt(): number {
    return this.#isCleared ? this.#askedAt : super.latestEndsAt
  }

  /** Runs an extension by so much, which notes what the server answers. Rejects as that does. */
  async whileAsked<Value>(leaseMs: number, extend: () => Promise<Value>): Promise<Value> {
    const question = this.ask(leaseMs)
    try {
      const value = await extend()
      this.over(question)
      return value
    } catch (error) {
      this.failed(question, error)
      throw error
    }
  }

  get #isCleared(): boolean {
    return this.#unit.runtime.clearings.since(this.#unit.beginning, this.#askedAt)
  }
}
