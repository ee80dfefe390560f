// Taking claims from partitions in turn: each is asked until one has something, or waiting for it.

import { claim } from '../generated/feed.ts'
import { checkInteger } from '../runtime/arguments.ts'
import { toMs } from '../runtime/duration.ts'
import { type Attempt, waitFor } from '../runtime/wait.ts'
import { Claim } from './claim.ts'
import type { ClaimOptions, DeadLetterOptions } from './claiming.ts'
import type { FeedOptions } from './feed.ts'
import { MAX_IDS, type Source, toMessage } from './message.ts'
import { PartitionClaim } from './partition-claim.ts'
import { soonest } from './partition-reading.ts'
import type { PartitionSet } from './partition-set.ts'

interface Terms extends DeadLetterOptions {
  limit: number
  leaseMs: number
  graceMs: number
}

export const CLAIM_OPTIONS = ['limit', 'lease', 'grace', 'wait', 'signal'] as const

export class PartitionClaims<Body> {
  readonly #partitions: PartitionSet<Body>
  readonly #dead: DeadLetterOptions
  #turn: number

  constructor(
    partitions: PartitionSet<Body>,
    { maxClaims = 0, deadLettersExpireAfter: deadFor }: FeedOptions<Body>,
  ) {
    this.#partitions = partitions
    this.#dead = { maxClaims, deadMs: deadFor === undefined ? 0 : toMs('deadLettersExpireAfter', deadFor) }
    this.#turn = Math.floor(Math.random() * partitions.count)
  }

  /** Claims free messages of one partition; null when there are none in any within `wait`. */
  claim({
    limit = 10,
    lease = '30s',
    grace = '0ms',
    wait,
    signal,
  }: ClaimOptions): Promise<PartitionClaim<Body> | null> {
    const terms: Terms = {
      ...this.#dead,
      limit: checkInteger('limit', limit, 1, MAX_IDS),
      leaseMs: toMs('lease', lease, { max: '30d' }),
      graceMs: toMs('grace', grace, { min: '0ms' }),
    }
    return waitFor(() => this.#claimInTurn(terms), {
      wakes: this.#partitions.at(0).source.unit.runtime.wakes,
      channel: this.#partitions.channels,
      waitMs: wait === undefined ? 0 : toMs('wait', wait, { min: '0ms', max: '1h' }),
      signal,
    })
  }

  // One after the other: asked at once, several would give, and a claim given back counts as a claim.
  async #claimInTurn(terms: Terms): Promise<Attempt<PartitionClaim<Body>>> {
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

async function claimOnce<Body>(source: Source<Body>, terms: Terms): Promise<Attempt<Claim<Body>>> {
  const { unit, codec } = source
  const askedAt = performance.now()
  const answer = await unit.runOnce(claim, ({ caller, call }) => ({
    ...terms,
    codec: codec.name,
    caller,
    call,
    deadChannel: unit.beside('dead').channel,
    sharded: unit.sharded,
  }))
  if (answer.status === 'empty') {
    // Only dead or expired messages were found so far: look on at once.
    return answer.recheckMs === 1 ? claimOnce(source, terms) : { value: null, recheckMs: answer.recheckMs }
  }
  const messages = answer.messages.map((message) => toMessage(answer, message, codec, answer.token))
  const { token, expiresAtMs, nowMs } = answer
  const state = { token, leaseMs: terms.leaseMs, remainingMs: expiresAtMs - nowMs, expiresAtMs, messages }
  return { value: new Claim(source, state, askedAt), recheckMs: 0 }
}
