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

/** A claim as granted by the server. */
export interface GrantedClaim<Body> extends FoundMessages<Body> {
  readonly token: number
  readonly leaseMs: number
  readonly remainingMs: number
  readonly expiresAtMs: number
  /** Whether the claim also holds the undecodable messages. */
  readonly keepsUndecodable: boolean
  /** `performance.now()` before the request; the lease is counted from then. */
  readonly askedAt: number
}

/**
 * Messages that no other consumer gets until the lease ends. Ack the finished messages; leaving an `await using`
 * block gives back the others.
 */
export class Claim<Body> implements AsyncDisposable {
  /** The token of the claim, greater than that of every earlier claim of the feed or partition. */
  readonly token: number
  /**
   * The claimed messages, at least one. May be empty in a claim of dead letters or a looked-up claim, when the codec
   * can decode none of them.
   */
  readonly messages: readonly Message<Body>[]
  /**
   * The messages that the codec could not decode. They have become dead letters. In a claim of dead letters or a
   * looked-up claim, the claim still holds them, and an ack of all messages leaves them in it.
   */
  readonly undecodable: readonly UndecodableMessage[]
  readonly #source: FeedSource<Body>
  readonly #byToken: ClaimByToken
  readonly #keepsUndecodable: boolean
  readonly #countdown: Countdown
  #leaseMs: number
  #state: 'held' | 'acked' | 'released' | 'lost' = 'held'
  /** The ids of messages whose ack was not answered. */
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

  /** The length of the lease in milliseconds, counted from the claim or its last extension. */
  get leaseMs(): number {
    return this.#leaseMs
  }

  /** When the lease ends, in milliseconds of the server's clock. */
  get expiresAtMs(): number {
    return this.#countdown.expiresAtMs
  }

  /**
   * The time left on the lease in milliseconds, by this process's clock; never more than the server grants, 0 when it
   * has ended.
   */
  get remainingMs(): number {
    return this.#state === 'held' ? this.#countdown.leftMs : 0
  }

  /** @internal This instance may have cleared the feed since: only the server knows. */
  get isInDoubt(): boolean {
    return this.#countdown.isInDoubt
  }

  /** Throws LeaseLostError unless the claim is held now; correct also after a suspension. */
  assertHeld(): void {
    if (this.remainingMs === 0) throw this.#byToken.lost()
  }

  /** Makes the claim last `lease` from now; by default as long as before. Throws LeaseLostError when it has ended. */
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
   * Acks messages: removes them from the feed, by default all of the claim. Resolves to those that the claim did not
   * hold. Throws LeaseLostError when the claim has ended. A second ack of all messages does nothing; an ack whose
   * answer was lost may be repeated.
   */
  async ack(ids: readonly string[] | 'all' = 'all'): Promise<Refused[]> {
    if (ids === 'all' && this.#state === 'acked') return []
    const refused = await this.#whileHeld(this.#ackOrDoubt(ids))
    if (ids !== 'all') return refused
    this.#state = 'acked'
    return this.#keepsUndecodable ? [] : refused
  }

  /**
   * Gives messages back, by default all that are left: they are free again. Throws LeaseLostError when the claim has
   * already ended. A second call, or a call after an ack of all messages, does nothing.
   */
  async release(ids: readonly string[] | 'all' = 'all'): Promise<void> {
    if (ids === 'all' && (this.#state === 'acked' || this.#state === 'released')) return
    await this.#whileHeld(this.#byToken.release(toClaimIds(this.#source, ids)))
    if (ids === 'all') this.#state = 'released'
  }

  /** @internal Gives back a claim that no consumer received. Throws LeaseLostError. */
  async giveBack(): Promise<void> {
    await this.#whileHeld(this.#byToken.giveBack())
    this.#state = 'released'
  }

  /**
   * Gives back the messages that were not acked. In an outage the call is retried until the lease ends. Does nothing
   * when the lease has ended.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state !== 'held') return
    const isOver = (): boolean => this.remainingMs === 0
    await nowOrInTheEnd(() => this.release(), isOver).catch((error: unknown) => {
      if (!(error instanceof LeaseLostError)) throw error
    })
  }

  /** While the lease lasts, no other process can end the claim, so a missing message was acked by the earlier call. */
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

  /** Excludes undecodable messages, which the consumer has not processed. */
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

/** A claim in a feed with partitions, on messages of one partition. */
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
