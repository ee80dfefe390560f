import { checkInteger, checkOptions, checkToken } from '../runtime/values/arguments.ts'
import { checkName } from '../runtime/values/keys.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { findClaim } from './claim.ts'
import { CLAIM_OPTIONS, type ClaimOptions, TAKE_OPTIONS } from './claims.ts'
import type { FeedOptions } from './feed.ts'
import {
  APPEND_OPTIONS,
  type NewPartitionedMessage,
  PartitionAppender,
  type PartitionedAppended,
  type PartitionedAppendOptions,
} from './router.ts'
import { PartitionClaim, placesOver } from './partition-claim.ts'
import { PartitionClaims } from './partition-claiming.ts'
import { inspectPartitions, type PartitionedInspection } from './partition-inspection.ts'
import {
  type FoundPartitionedMessages,
  inPartition,
  type PartitionedEntry,
  type PartitionedMessage,
  placedIds,
  toPartitionedId,
} from './partition-message.ts'
import { lookUp } from './by-id.ts'
import { sortOut } from './message.ts'
import {
  type PartitionedEntryPage,
  type PartitionedPage,
  type PartitionedReadOptions,
  READ_OPTIONS,
  readPartitions,
  toPartitionedPage,
} from './merged-page.ts'
import { PartitionSet } from './partitions.ts'
import { PartitionedSubscriber } from './partition-subscriber.ts'
import {
  type PartitionedTailOptions,
  type TailedPartitionedMessage,
  tailPartitions,
} from './partition-tail.ts'
import type { Removed, RemoveOptions } from './removing.ts'
import { type PartitionClaimLease, SettlingClaims } from './settlement.ts'
import type { SubscriberOptions } from './subscriber.ts'
import { takeMessages } from './take.ts'

export interface PartitionedFeedOptions<Body> extends FeedOptions<Body> {
  /** Over how many slots the feed is spread, 1 to 64; default 16. It stays so until the feed is cleared. */
  partitions?: number
}

const MAX_PARTITIONS = 64

/**
 * A feed that is spread over several slots, for more than one node can take. Each partition is a feed with
 * an order of its own; messages of one key share a partition. One marker reads them all.
 */
export class PartitionedFeed<Body> implements AsyncIterable<TailedPartitionedMessage<Body>> {
  readonly name: string
  /** Claims, for whoever knows only their partitions and tokens. */
  readonly settle: SettlingClaims<PartitionClaimLease>
  readonly #runtime: Runtime
  readonly #options: PartitionedFeedOptions<Body>
  readonly #partitions: PartitionSet<Body>
  readonly #appender: PartitionAppender<Body>
  readonly #claims: PartitionClaims<Body>

  /** `beside`: the dead letters of the feed of that name. */
  constructor(runtime: Runtime, name: string, options: PartitionedFeedOptions<Body> = {}, beside?: 'dead') {
    const { partitions = 16, ...each } = options
    const count = checkInteger('partitions', partitions, 1, MAX_PARTITIONS)
    this.#runtime = runtime
    this.#options = options
    this.#partitions = new PartitionSet(runtime, name, count, each, beside)
    this.#appender = new PartitionAppender(this.#partitions)
    this.#claims = new PartitionClaims(this.#partitions, each)
    this.settle = new SettlingClaims(placesOver(this.#partitions))
    this.name = this.#partitions.name
  }

  /** How many partitions the feed has. */
  get partitions(): number {
    return this.#partitions.count
  }

  /**
   * Appends one message to the partition of its key; without a key to that of its idempotency key; without
   * either to each partition in turn. Resolves to what it is called, once the server has it. Throws InvalidArgumentError.
   */
  async append(body: Body, options: PartitionedAppendOptions = {}): Promise<PartitionedAppended> {
    checkOptions('options', options, APPEND_OPTIONS)
    return this.#appender.append(body, options)
  }

  /**
   * Appends messages; the results are in their order. Those of one partition stay together and in order, as
   * in a feed; those without a key share one. Several partitions are several calls: an error leaves what
   * the others did, and repeating is safe with idempotency keys. Throws InvalidArgumentError.
   */
  async appendMany(messages: readonly NewPartitionedMessage<Body>[]): Promise<PartitionedAppended[]> {
    return this.#appender.appendMany(messages)
  }

  /**
   * Reads the messages after a marker in all partitions; an empty page when nothing comes within `wait`.
   * They are merged oldest first, as far as the clocks of the servers agree; within a partition the order
   * is exact. Throws the signal's reason.
   */
  async read(options: PartitionedReadOptions = {}): Promise<PartitionedPage<Body>> {
    return toPartitionedPage(await this.#readEntries(options))
  }

  async #readEntries(options: PartitionedReadOptions): Promise<PartitionedEntryPage<Body>> {
    checkOptions('options', options, READ_OPTIONS)
    return readPartitions(this.#partitions, options, this.#options.origin ?? '')
  }

  /**
   * Yields every message after `after` and then those that come, also after an outage. Throws the signal's reason, and
   * what no retry would change.
   */
  tail(options: PartitionedTailOptions = {}): AsyncGenerator<TailedPartitionedMessage<Body>> {
    return tailPartitions({ partitions: this.#partitions, read: (page) => this.#readEntries(page) }, options)
  }

  /** As `tail`, from the oldest message. */
  [Symbol.asyncIterator](): AsyncGenerator<TailedPartitionedMessage<Body>> {
    return this.tail()
  }

  /**
   * Looks messages up by id, in the order asked; ids that are not in the feed are left out. Throws InvalidArgumentError.
   */
  async get(ids: readonly string[]): Promise<FoundPartitionedMessages<Body>> {
    const found = new Map<string, PartitionedEntry<Body>>()
    const placed = placedIds(ids, this.partitions)
    await this.#eachPartition(ids, async (number, own) => {
      for (const entry of await lookUp(this.#partitions.at(number).source, own)) {
        found.set(toPartitionedId(number, entry.id), inPartition(number, entry, null))
      }
    })
    if (found.size < new Set(ids).size) await this.#partitions.agreement.check()
    const asked = new Set(placed.map(({ partition, id }) => toPartitionedId(partition, id)))
    return sortOut([...asked].flatMap((id) => found.get(id) ?? []))
  }

  /**
   * Removes messages by id. Those that a live claim holds stay and are named, unless `evenClaimed`. Resolves to how many were
   * removed, and which stayed. Throws InvalidArgumentError.
   */
  async remove(ids: readonly string[], options: RemoveOptions = {}): Promise<Removed> {
    checkOptions('options', options, ['evenClaimed'])
    const removed = await this.#eachPartition(ids, async (number, own) => {
      const { count, held } = await this.#partitions.at(number).feed.remove(own, options)
      return { count, held: held.map((id) => toPartitionedId(number, id)) }
    })
    const count = removed.reduce((sum, each) => sum + each.count, 0)
    const held = removed.flatMap((each) => each.held)
    if (count + held.length < new Set(ids).size) await this.#partitions.agreement.check()
    return { count, held }
  }

  /**
   * Claims the oldest free messages of one partition, the partitions taking turns: a claim never spans two.
   * Resolves to null when there are none in any within `wait`. Throws the signal's reason.
   */
  async claim(options: ClaimOptions = {}): Promise<PartitionClaim<Body> | null> {
    checkOptions('options', options, CLAIM_OPTIONS)
    return this.#claims.claim(options)
  }

  /** A live claim by its partition and token. Null when it has ended or never was. */
  async findClaim(partition: number, token: number): Promise<PartitionClaim<Body> | null> {
    const { source } = this.#partitions.at(partition)
    const claim = await findClaim(source, checkToken(token))
    if (claim !== null) return new PartitionClaim(claim, partition, this.partitions)
    await this.#partitions.agreement.check()
    return null
  }

  /**
   * Takes the oldest free messages of one partition out of the feed: a claim that is acked at once. Should
   * this process die in between, they are free again after half a minute; none is lost. Where the server does not say that they are
   * acked, they are had all the same, and may come once more. What the codec cannot read becomes a
   * dead letter. Resolves to an empty list when there was none in time. Throws InvalidArgumentError, or the signal's reason.
   */
  async take(options: Omit<ClaimOptions, 'lease' | 'grace'> = {}): Promise<PartitionedMessage<Body>[]> {
    checkOptions('options', options, TAKE_OPTIONS)
    return takeMessages((waiting) => this.claim({ ...options, ...waiting }), options)
  }

  /** A reader whose position is stored with every partition. It is made by its first use. */
  subscriber(name: string, options: SubscriberOptions = {}): PartitionedSubscriber<Body> {
    checkOptions('options', options, ['from', 'protect'])
    return new PartitionedSubscriber(
      this.#partitions,
      checkName('name', name),
      (page) => this.#readEntries(page),
      options,
    )
  }

  /** The messages that were claimed `maxClaims` times in vain: a feed of its own, in the same slots. */
  get deadLetters(): PartitionedFeed<Body> {
    const { maxClaims: _, ...options } = this.#options
    return new PartitionedFeed(this.#runtime, this.name, options, 'dead')
  }

  /** A read-only picture, with one of each partition. */
  async inspect(): Promise<PartitionedInspection<Body>> {
    return inspectPartitions(this.#partitions)
  }

  /**
   * Deletes all partitions with their subscribers and dead letters, and then the number of partitions is
   * forgotten. Resolves to false when there was nothing.
   */
  async clear(): Promise<boolean> {
    return this.#partitions.clear()
  }

  async #eachPartition<Value>(
    ids: readonly string[],
    call: (partition: number, ids: string[]) => Promise<Value>,
  ): Promise<Value[]> {
    const owned = new Map<number, string[]>()
    for (const { partition, id } of placedIds(ids, this.partitions)) {
      const own = owned.get(partition)
      if (own === undefined) owned.set(partition, [id])
      else own.push(id)
    }
    return Promise.all([...owned].map(([partition, own]) => call(partition, own)))
  }
}
