// Taking claims from partitions in turn: each is asked until one has something, or waiting for it.

import { type Attempt, toWaitMs, waitFor } from '../runtime/wait.ts'
import {
  type ClaimOptions,
  type ClaimTerms,
  claimOnce,
  type DeadLetterOptions,
  toClaimTerms,
  toDeadLetterOptions,
} from './claiming.ts'
import type { FeedOptions } from './feed.ts'
import { PartitionClaim } from './partition-claim.ts'
import { soonest } from './partition-reading.ts'
import type { PartitionSet } from './partition-set.ts'

export class PartitionClaims<Body> {
  readonly #partitions: PartitionSet<Body>
  readonly #dead: DeadLetterOptions
  #turn: number

  constructor(partitions: PartitionSet<Body>, { maxClaims, deadLettersExpireAfter }: FeedOptions<Body>) {
    this.#partitions = partitions
    this.#dead = toDeadLetterOptions(maxClaims, deadLettersExpireAfter)
    this.#turn = Math.floor(Math.random() * partitions.count)
  }

  /** Claims free messages of one partition; null when there are none in any within `wait`. */
  claim(options: ClaimOptions): Promise<PartitionClaim<Body> | null> {
    const terms = toClaimTerms(options, this.#dead)
    return waitFor(() => this.#claimInTurn(terms), {
      runtime: this.#partitions.at(0).source.unit.runtime,
      channel: this.#partitions.channels,
      waitMs: toWaitMs(options),
      signal: options.signal,
      giveBack: (late) => late.release(),
    })
  }

  // One after the other: asked at once, several would give, and a claim given back counts as a claim.
  async #claimInTurn(terms: ClaimTerms): Promise<Attempt<PartitionClaim<Body>>> {
    const { count } = this.#partitions
    let recheckMs = 0
    for (let asked = 0; asked < count; asked++) {
      this.#turn = (this.#turn + 1) % count
      const { number, source } = this.#partitions.at(this.#turn)
      const attempt = await claimOnce(source, terms)
      if (attempt.value !== null) {
        return { value: new PartitionClaim(attempt.value, number, count), recheckMs: 0 }
      }
      recheckMs = soonest([recheckMs, attempt.recheckMs])
    }
    return { value: null, recheckMs }
  }
}
