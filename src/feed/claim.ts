import { Countdown } from '../runtime/leases/countdown.ts'
import type { Duration } from '../runtime/values/duration.ts'
import { AmbiguousError, LeaseLostError } from '../runtime/errors/errors.ts'
import { askingAt, End, endOf, endsAtOf } from '../runtime/keeper/grant.ts'
import { nowOrInTheEnd } from '../runtime/time/in-the-end.ts'
import { ClaimByToken, type ExtendOptions, type Refused, toExtension } from './claim-by-token.ts'
import {
  type FoundMessages,
  inPartition,
  type Message,
  type PartitionedMessage,
  type UndecodableMessage,
  type UndecodablePartitionedMessage,
} from './message.ts'
import { toClaimIds } from './addresses.ts'
import type { FeedSource } from './partitions.ts'

/** A claim as the server has granted it. */
export interface GrantedClaim<Body> extends FoundMessages<Body> {
  readonly token: number
  readonly leaseMs: number
  readonly remainingMs: number
  readonly expiresAtMs: number
  /** Whether the claim holds also those that could not be read. */
  readonly keepsUndecodable: boolean
  /** `performance.now()` before it was asked for; from then on its lease is counted. */
  readonly askedAt: number
}

/**
 * Messages that nobody else gets until the lease ends.
 * Ack what is done; leaving an `await using` block gives back what is not.
 */
export class Claim<Body> implements AsyncDisposable {
  /** Proves the claim; greater than that of every earlier claim of the feed, or of its partition. */
  readonly token: number
  /** One at least, but of dead letters and of a claim that was looked up: there the codec may read none of them. */
  readonly messages: readonly Message<Body>[]
  /**
   * Those of the claim that the codec could not read. They are dead letters now. Where they were that before, or the claim was
   * looked up, the claim holds them, and an ack of all leaves them in it.
   */
  readonly undecodable: readonly UndecodableMessage[]
  readonly #source: FeedSource<Body>
  readonly #byToken: ClaimByToken
  readonly #keepsUndecodable: boolean
  readonly #countdown: Countdown
  #leaseMs: number
  #state: 'held' | 'acked' | 'released' | 'lost' = 'held'
  /** Of an ack of these nobody has said whether it was carried out. */
  readonly #doubted = new Set<string>()

  constructor(source: FeedSource<Body>, claim: GrantedClaim<Body>) {
    const { askedAt } = claim
    this.#source = source
    this.#byToken = new ClaimByToken(source, claim.token)
    this.token = claim.token
    this.messages = claim.messages
    this.undecodable = claim.undecodable
    this.#keepsUndecodable = claim.keepsUndecodable && claim.undecodable.length > 0
    this.#leaseMs = claim.leaseMs
    const end = new End(endsAtOf(askedAt, claim.remainingMs), askedAt)
    this.#countdown = new Countdown(source.unit, end, claim.expiresAtMs)
  }

  /** How long the lease was made for, counted from the claim or its last extension. */
  get leaseMs(): number {
    return this.#leaseMs
  }

  /** When the lease ends, in milliseconds of the server's clock. */
  get expiresAtMs(): number {
    return this.#countdown.expiresAtMs
  }

  /** How much of the lease is left by this process's own clock; never more than the server grants. */
  get remainingMs(): number {
    return this.#state === 'held' ? this.#countdown.leftMs : 0
  }

  /** Throws LeaseLostError unless the claim is held now, also when the process has been asleep. */
  assertHeld(): void {
    if (this.remainingMs === 0) throw this.#byToken.lost()
  }

  /** Makes the claim last `lease` from now; default: as long as before. Throws LeaseLostError. */
  async extend(lease: Duration = `${this.#leaseMs}ms`, options: ExtendOptions = {}): Promise<void> {
    const extension = toExtension(lease, options)
    await this.#countdown.whileAsked(extension.leaseMs, async () => {
      const askedAt = askingAt()
      const extended = await this.#whileHeld(this.#byToken.extend(extension))
      const { leaseMs, expiresAtMs } = extended
      this.#countdown.note(endOf(askedAt, leaseMs), { nowMs: expiresAtMs - leaseMs, expiresAtMs })
      this.#leaseMs = leaseMs
    })
  }

  /**
   * Removes messages that are done, all of the claim by default. Resolves to those that the claim did
   * not hold. Throws LeaseLostError when the claim has ended. A second ack of all does nothing, and one whose answer was lost may be
   * told again.
   */
  async ack(ids: readonly string[] | 'all' = 'all'): Promise<Refused[]> {
    if (ids === 'all' && this.#state === 'acked') return []
    const refused = await this.#whileHeld(this.#ackOrDoubt(ids))
    if (ids !== 'all') return refused
    this.#state = 'acked'
    return this.#keepsUndecodable ? [] : refused
  }

  /**
   * Gives messages back, all that are left by default: they are free again. Throws LeaseLostError when the claim
   * had ended before. A second call, or one after an ack of all, does nothing.
   */
  async release(ids: readonly string[] | 'all' = 'all'): Promise<void> {
    if (ids === 'all' && (this.#state === 'acked' || this.#state === 'released')) return
    await this.#whileHeld(this.#byToken.release(toClaimIds(this.#source, ids)))
    if (ids === 'all') this.#state = 'released'
  }

  /** @internal Nobody got it. Throws LeaseLostError. */
  async giveBack(): Promise<void> {
    await this.#whileHeld(this.#byToken.giveBack())
    this.#state = 'released'
  }

  /**
   * Gives back what has not been acked; what no server hears is said until the lease is over. A claim whose lease has ended has
   * nothing left to give.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state !== 'held') return
    const isOver = (): boolean => this.remainingMs === 0
    await nowOrInTheEnd(() => this.release(), isOver).catch((error: unknown) => {
      if (!(error instanceof LeaseLostError)) throw error
    })
  }

  /** As long as the lease lasts nobody else ends it: what is not there any more was acked by the call before. */
  async #ackOrDoubt(ids: readonly string[] | 'all'): Promise<Refused[]> {
    try {
      const refused = await this.#byToken.ack(toClaimIds(this.#source, this.#toAck(ids)))
      return refused.filter(({ id, reason }) => reason !== 'absent' || !this.#doubted.has(id))
    } catch (error) {
      if (error instanceof AmbiguousError) for (const id of this.#named(ids)) this.#doubted.add(id)
      if (error instanceof LeaseLostError && this.remainingMs > 0 && this.#areDoubted(ids)) return []
      throw error
    }
  }

  #areDoubted(ids: readonly string[] | 'all'): boolean {
    return this.#named(ids).every((id) => this.#doubted.has(id))
  }

  #named(ids: readonly string[] | 'all'): readonly string[] {
    return ids === 'all' ? this.messages.map(({ id }) => id) : ids
  }

  /** What could not be read is not done. */
  #toAck(ids: readonly string[] | 'all'): readonly string[] | 'all' {
    return this.#keepsUndecodable ? this.#named(ids) : ids
  }

  async #whileHeld<Value>(call: Promise<Value>): Promise<Value> {
    try {
      return await call
    } catch (error) {
      if (error instanceof LeaseLostError) this.#state = 'lost'
      throw error
    }
  }
}

/** A claim of a feed in partitions: of messages of one of them. */
export class PartitionClaim<Body> extends Claim<Body> {
  readonly partition: number
  declare readonly messages: readonly PartitionedMessage<Body>[]
  declare readonly undecodable: readonly UndecodablePartitionedMessage[]

  constructor(source: FeedSource<Body>, claim: GrantedClaim<Body>) {
    const { partition } = source
    super(source, {
      ...claim,
      messages: claim.messages.map((message) => inPartition(partition, message, null)),
      undecodable: claim.undecodable.map((message) => inPartition(partition, message, null)),
    })
    this.partition = partition
  }
}
