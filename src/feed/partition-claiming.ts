// Taking claims from partitions in turn: each is asked until one has something, or waiting for it.

import { InTurn, SILENT_RECHECK_MS } from '../runtime/time/in-turn.ts'
import { type Attempt, toWaitMs, waitFor } from '../runtime/waiting/wait.ts'
import {
  type ClaimOptions,
  type ClaimTerms,
  claimOnce,
  type DeadLetterOptions,
  toClaimTerms,
  toDeadLetterOptions,
} from './claims.ts'
import type { FeedOptions } from './feed.ts'
import { PartitionClaim } from './partition-claim.ts'
import { soonest } from './merged-page.ts'
import type { Partition, PartitionSet } from './partitions.ts'

export class PartitionClaims<Body> {
  readonly #partitions: PartitionSet<Body>
  readonly #dead: DeadLetterOptions
  readonly #inTurn: InTurn<Partition<Body>>

  constructor(partitions: PartitionSet<Body>, { maxClaims, deadLettersExpireAfter }: FeedOptions<Body>) {
    this.#partitions = partitions
    this.#dead = toDeadLetterOptions(maxClaims, deadLettersExpireAfter)
    this.#inTurn = new InTurn(partitions.all, partitions.runtime.runner.deadlineMs)
  }

  /** Claims free messages of one partition; null when there are none in any within `wait`. */
  claim(options: ClaimOptions): Promise<PartitionClaim<Body> | null> {
    const terms = toClaimTerms(options, this.#dead)
    const waitMs = toWaitMs(options)
    return waitFor(() => this.#claimInTurn(terms, waitMs > 0), {
      runtime: this.#partitions.runtime,
      channel: this.#partitions.channels,
      waitMs,
      signal: options.signal,
      giveBack: (late) => late.giveBack(),
    })
  }

  // One after the other: asked at once, several would give, and hold from others what they give back.
  async #claimInTurn(terms: ClaimTerms, waits: boolean): Promise<Attempt<PartitionClaim<Body>>> {
    const rechecks: number[] = []
    let claimed: PartitionClaim<Body> | null = null
    const claim = async (
      { number, source }: Partition<Body>,
      by: number,
    ): Promise<Attempt<PartitionClaim<Body>>> => {
      const { value, recheckMs } = await claimOnce(source, terms, { by })
      return { value: value && new PartitionClaim(value, number, this.#partitions.count), recheckMs }
    }
    const giveBack = async ({ value }: Attempt<PartitionClaim<Body>>): Promise<void> => value?.giveBack()
    const { failures, isWhole } = await this.#inTurn.askAll(this.#inTurn.next(), {
      ask: (partition, by) => (claimed === null ? claim(partition, by) : null),
      take: async (attempt) => {
        rechecks.push(attempt.recheckMs)
        if (claimed !== null) await giveBack(attempt)
        else claimed = attempt.value
      },
      giveBack,
      hasEnough: () => claimed !== null,
      comesAgain: waits,
    })
    if (claimed !== null) return { value: claimed, recheckMs: 0 }
    if (failures.length > 0) throw failures[0]
    await this.#partitions.agreement.checkNowAndThen()
    if (!isWhole) rechecks.push(SILENT_RECHECK_MS)
    return { value: null, recheckMs: soonest(rechecks) }
  }
}
