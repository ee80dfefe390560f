import type { Duration } from '../runtime/values/duration.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import type { Claim, ExtendOptions, Refused } from './claim.ts'
import {
  inPartition,
  type PartitionedMessage,
  placedIds,
  toPartitionedId,
  type UndecodablePartitionedMessage,
} from './partition-message.ts'
import type { PartitionSet } from './partitions.ts'
import type { ClaimPlaces, PartitionClaimLease } from './settlement.ts'

/**
 * Messages of one partition that nobody else gets until the lease ends.
 * Ack what is done; leaving an `await using` block gives back what is not.
 */
export class PartitionClaim<Body> implements AsyncDisposable {
  readonly partition: number
  readonly messages: readonly PartitionedMessage<Body>[]
  /** As those of a claim of a feed without partitions. */
  readonly undecodable: readonly UndecodablePartitionedMessage[]
  readonly #claim: Claim<Body>
  readonly #count: number

  /** `count`: how many partitions the feed has. */
  constructor(claim: Claim<Body>, partition: number, count: number) {
    this.#claim = claim
    this.#count = count
    this.partition = partition
    this.messages = claim.messages.map((message) => inPartition(partition, message, null))
    this.undecodable = claim.undecodable.map((message) => inPartition(partition, message, null))
  }

  /** Proves the claim; greater than that of every earlier claim of the same partition. */
  get token(): number {
    return this.#claim.token
  }

  /** How long the lease was made for, counted from the claim or its last extension. */
  get leaseMs(): number {
    return this.#claim.leaseMs
  }

  /** When the lease ends, in milliseconds of the server's clock. */
  get expiresAtMs(): number {
    return this.#claim.expiresAtMs
  }

  /** How much of the lease is left by this process's own clock; never more than the server grants. */
  get remainingMs(): number {
    return this.#claim.remainingMs
  }

  /** Throws LeaseLostError unless the claim is held now, also when the process has been asleep. */
  assertHeld(): void {
    this.#claim.assertHeld()
  }

  /** Makes the claim last `lease` from now; default: as long as before. Throws LeaseLostError. */
  extend(lease?: Duration, options: ExtendOptions = {}): Promise<void> {
    return this.#claim.extend(lease, options)
  }

  /**
   * Removes messages that are done, all of the claim by default. Resolves to those that the claim did
   * not hold. Throws LeaseLostError when the claim has ended. A second ack of all does nothing.
   */
  async ack(ids: readonly string[] | 'all' = 'all'): Promise<Refused[]> {
    const refused = await this.#claim.ack(ids === 'all' ? ids : plain(ids, this.partition, this.#count))
    return refused.map(({ id, reason }) => ({ id: toPartitionedId(this.partition, id), reason }))
  }

  /**
   * Gives messages back, all that are left by default: they are free again. Throws LeaseLostError when the claim
   * had ended before. A second call, or one after an ack of all, does nothing.
   */
  async release(ids: readonly string[] | 'all' = 'all'): Promise<void> {
    await this.#claim.release(ids === 'all' ? ids : plain(ids, this.partition, this.#count))
  }

  /** @internal Nobody got it. Throws LeaseLostError. */
  async giveBack(): Promise<void> {
    await this.#claim.giveBack()
  }

  /** Gives back what has not been acked. A claim whose lease has ended has nothing left to give. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#claim[Symbol.asyncDispose]()
  }
}

/** What the messages of a claim are called in its partition. Throws InvalidArgumentError for those of another one. */
function plain(ids: readonly string[], partition: number, count: number): string[] {
  const placed = placedIds(ids, count)
  if (placed.length !== ids.length || placed.some((each) => each.partition !== partition)) {
    throw new InvalidArgumentError('ids', `must be of partition ${partition}, as the claim`)
  }
  return placed.map(({ id }) => id)
}

/** Each claim is in its partition. */
export function placesOver<Body>(partitions: PartitionSet<Body>): ClaimPlaces<PartitionClaimLease> {
  return {
    named: ['partition', 'token'],
    sourceOf: ({ partition }) => partitions.at(partition).source,
    toOwn: ({ partition }, ids) => plain(ids, partition, partitions.count),
    toShown: ({ partition }, id) => toPartitionedId(partition, id),
  }
}
