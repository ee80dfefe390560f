// Over how many partitions something is spread, kept in the unit of the name alone. All who use it say the number, and have to
// say the same one.

import { AmbiguousError, DriverError } from '../errors/errors.ts'
import { PATIENCE_MS } from '../time/in-turn.ts'
import type { Operation } from '../calls/operation.ts'
import { otherNumber } from '../errors/other-number.ts'
import type { Trace } from '../calls/runner.ts'
import type { Unit } from '../connection/unit.ts'

type Known =
  | { readonly status: 'agreed'; readonly agreedUs: string }
  | { readonly status: 'other'; readonly partitions: number }
  | { readonly status: 'unknown' }

/** What the structure calls these. */
export interface NumberOperations {
  readonly agree: Operation<{ readonly partitions: number; readonly begin: boolean }, Known>
  readonly disband: Operation<
    { readonly agreedUs: string },
    { readonly status: 'forgotten' } | { readonly status: 'kept' }
  >
}

const LOOK_AGAIN_MS = 10_000

export class PartitionNumber {
  readonly partitions: number
  readonly #home: Unit
  readonly #operations: NumberOperations
  /** When it was asked after last. */
  #lookedAt = -Infinity

  /** `home`: the unit of the name alone. */
  constructor(home: Unit, partitions: number, operations: NumberOperations) {
    this.#home = home
    this.partitions = partitions
    this.#operations = operations
  }

  /** A partition is about to be used for the first time. Throws InvalidArgumentError where there is another number, and DriverError. */
  async agree(by?: number, atClose?: Trace['atClose']): Promise<void> {
    this.#refuseOther(await this.#ask(true, by, atClose))
  }

  /**
   * Throws InvalidArgumentError where there is another number of partitions. Whoever cannot ask does without: what is asked
   * after that tells why.
   */
  async check(by?: number): Promise<void> {
    await this.#look(by)
  }

  /** As `check`; where no number is known, this one is from now on. Throws DriverError, too. */
  async ensure(by: number): Promise<void> {
    if ((await this.#look(by)) === 'unknown') await this.agree(by)
  }

  /** As `check`, now and then, and not for long: for whoever found nothing, perhaps for looking in the wrong places. */
  async checkNowAndThen(): Promise<void> {
    if (performance.now() - this.#lookedAt < LOOK_AGAIN_MS) return
    this.#lookedAt = performance.now()
    await this.check(performance.now() + PATIENCE_MS)
  }

  /** Clears with this, and forgets the number unless somebody uses a partition anew. Throws InvalidArgumentError. */
  async clear(all: () => Promise<readonly boolean[]>): Promise<boolean> {
    const known = this.#refuseOther(await this.#ask(false))
    const cleared = await all()
    if (known.status === 'agreed')
      await this.#home.run(this.#operations.disband, { agreedUs: known.agreedUs })
    return known.status === 'agreed' || cleared.includes(true)
  }

  async #look(by?: number): Promise<'agreed' | 'unknown'> {
    const known = await this.#ask(false, by).catch((error: unknown) => {
      // That was asked in vain for as long as it was to take, too.
      if (error instanceof DriverError || error instanceof AmbiguousError) return null
      throw error
    })
    return known === null || this.#refuseOther(known).status === 'agreed' ? 'agreed' : 'unknown'
  }

  #ask(begin: boolean, by?: number, atClose?: Trace['atClose']): Promise<Known> {
    const { partitions } = this
    const trace = { ...(by === undefined ? {} : { by }), ...(atClose === undefined ? {} : { atClose }) }
    return this.#home.run(this.#operations.agree, { partitions, begin }, trace)
  }

  #refuseOther(known: Known): Exclude<Known, { readonly status: 'other' }> {
    this.#lookedAt = known.status === 'other' ? -Infinity : performance.now()
    if (known.status === 'other') throw otherNumber(known.partitions)
    return known
  }
}
