// How long this process may use a lease that it extends by hand. Also over once this instance has deleted its unit. If
// that is in doubt, nothing is believed until an extension shows that the server still has the lease.

import type { Clearings } from '../calls/clearings.ts'
import type { Unit } from '../connection/unit.ts'
import { Belief, type ExtensionAnswer } from '../keeper/belief.ts'
import type { End } from '../keeper/grant.ts'

export class Countdown extends Belief {
  readonly #clearings: Clearings
  readonly #beginning: string
  /** When the server was asked that has confirmed it last. */
  #askedAt: number
  /**
   * It was requested before a deletion, and came after the answer to that: it may have waited to be sent, or have been
   * sent again, and been granted after the deletion.
   */
  #isLate: boolean

  constructor(unit: Unit, end: End, expiresAtMs: number) {
    super(end, expiresAtMs)
    this.#clearings = unit.runtime.clearings
    this.#beginning = unit.beginning
    this.#askedAt = end.askedAt
    this.#isLate = this.#clearings.since(this.#beginning, end.askedAt)
  }

  override get leftMs(): number {
    const isSure = !this.#isLate && !this.#clearings.concerns(this.#beginning, this.#askedAt)
    return isSure ? super.leftMs : 0
  }

  override get latestEndsAt(): number {
    return this.#isCleared ? this.#askedAt : super.latestEndsAt
  }

  /** Only the server knows whether it is over. */
  get isInDoubt(): boolean {
    return this.#isLate || this.#clearings.mayBeSince(this.#beginning, this.#askedAt)
  }

  override note(end: End, answer: ExtensionAnswer): void {
    super.note(end, answer)
    this.#askedAt = Math.max(this.#askedAt, end.askedAt)
    this.#isLate = false
  }

  /** Runs an extension by `leaseMs`, which notes the server's answer. Rejects as `extend` does. */
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
    return !this.#isLate && this.#clearings.since(this.#beginning, this.#askedAt)
  }
}
