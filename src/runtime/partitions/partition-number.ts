// The partition count of a name, stored in the unit of the name itself. All users pass the count, and it must be the
// same.

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

/** The operations of one structure. */
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
  /** When it was last asked for. */
  #lookedAt = -Infinity

  /** `home`: the unit of the name itself. */
  constructor(home: Unit, partitions: number, operations: NumberOperations) {
    this.#home = home
    this.partitions = partitions
    this.#operations = operations
  }

  /**
   * Call this before the first use of a partition. Throws InvalidArgumentError when another count is stored, and
   * DriverError.
   */
  async agree(by?: number, atClose?: Trace['atClose']): Promise<void> {
    this.#refuseOther(await this.#ask(true, by, atClose))
  }

  /**
   * Throws InvalidArgumentError when another partition count is stored. An unavailable answer is ignored: the calls
   * that follow report the problem.
   */
  async check(by?: number): Promise<void> {
    await this.#look(by)
  }

  /** Like `check`; stores this count when none is stored. Throws DriverError too. */
  async ensure(by: number): Promise<void> {
    if ((await this.#look(by)) === 'unknown') await this.agree(by)
  }

  /**
   * Like `check`, but occasionally and with a short time limit: for callers that found nothing, perhaps because they
   * looked in the wrong partitions.
   */
  async checkNowAndThen(): Promise<void> {
    if (performance.now() - this.#lookedAt < LOOK_AGAIN_MS) return
    this.#lookedAt = performance.now()
    await this.check(performance.now() + PATIENCE_MS)
  }

  /**
   * Runs `all`, which clears the partitions, and deletes the count unless a partition was used again. Throws
   * InvalidArgumentError.
   */
  async clear(all: () => Promise<readonly boolean[]>): Promise<boolean> {
    const known = this.#refuseOther(await this.#ask(false))
    const cleared = await all()
    if (known.status === 'agreed')
      await this.#home.run(this.#operations.disband, { agreedUs: known.agreedUs })
    return known.status === 'agreed' || cleared.includes(true)
  }

  async #look(by?: number): Promise<'agreed' | 'unknown'> {
    const known = await this.#ask(false, by).catch((error: unknown) => {
      // A second question would fail after its whole time limit too.
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
