import type { Runtime } from '../runtime/connection/runtime.ts'
import { checkInteger, checkOptions } from '../runtime/values/arguments.ts'
import { checkName } from '../runtime/values/keys.ts'
import { lookUp, type Removed, type RemoveOptions, removeMessages } from './by-id.ts'
import { PartitionClaim } from './claim.ts'
import { CLAIM_OPTIONS, type ClaimOptions, FeedClaims, TAKE_OPTIONS, takeMessages } from './claims.ts'
import { type FeedOptions, type FeedTerms, toFeedTerms } from './feed-options.ts'
import { inspectPartitions, type PartitionedInspection } from './inspection.ts'
import { readMergedPage } from './merged-page.ts'
import {
  type FoundPartitionedMessages,
  inPartition,
  type PartitionedEntry,
  type PartitionedMessage,
  sortOut,
} from './message.ts'
import {
  type EntryPage,
  PARTITIONED_READ_OPTIONS,
  type PartitionedPage,
  type PartitionedReadOptions,
  toPage,
} from './page.ts'
import { feedUnit, type Partitions, spreadOver } from './partitions.ts'
import {
  type NewPartitionedMessage,
  PARTITIONED_APPEND_OPTIONS,
  type PartitionedAppended,
  type PartitionedAppendOptions,
  MessageRouter,
} from './router.ts'
import { type PartitionClaimLease, ClaimsByToken } from './claim-by-token.ts'
import { PartitionedSubscriber, type SubscriberOptions } from './subscriber.ts'
import { type PartitionedTailOptions, type TailedPartitionedMessage, tail, tailOptions } from './tail.ts'

export interface PartitionedFeedOptions<Body> extends FeedOptions<Body> {
  /** Over how many slots the feed is spread, 1 to 64. It stays so until the feed is cleared. */
  partitions: number
}

const MAX_PARTITIONS = 64
const TAIL_OPTIONS = tailOptions(PARTITIONED_READ_OPTIONS)
const SUBSCRIBER_OPTIONS = TAIL_OPTIONS.filter((option) => option !== 'after')

/**
 * A feed that is spread over several slots, for more than one node can take. Each partition is a feed with
 * an order of its own; messages of one key share a partition. One cursor reads them all.
 */
export class PartitionedFeed<Body> implements AsyncIterable<TailedPartitionedMessage<Body>> {
  readonly name: string
  /** Claims, for whoever knows only their partitions and tokens. */
  readonly byToken: ClaimsByToken<PartitionClaimLease, PartitionClaim<Body>>
  readonly #options: PartitionedFeedOptions<Body>
  readonly #terms: FeedTerms
  readonly #partitions: Partitions<Body>
  readonly #router: MessageRouter<Body>
  readonly #claims: FeedClaims<Body, PartitionClaim<Body>>

  /** `beside`: the dead letters of the feed of that name. */
  constructor(runtime: Runtime, name: string, options: PartitionedFeedOptions<Body>, beside?: 'dead') {
    const { partitions, ...each } = options
    const count = checkInteger('partitions', partitions, 1, MAX_PARTITIONS)
    this.#terms = toFeedTerms(each)
    this.name = checkName('name', name)
    this.#options = options
    this.#partitions = spreadOver(feedUnit(runtime, this.name), count, each.codec, beside)
    this.#router = new MessageRouter(this.#partitions, this.#terms)
    this.#claims = new FeedClaims(this.#partitions, this.#terms.deadLetters, {
      hold: (source, granted) => new PartitionClaim(source, granted),
    })
    this.byToken = new ClaimsByToken(this.#partitions, (partition, token) =>
      this.#claims.find(this.#partitions.at(partition), token),
    )
  }

  /** How many partitions the feed has. */
  get partitions(): number {
    return this.#partitions.spread
  }

  /**
   * Appends one message to the partition of its key; without a key to that of its idempotency key; without
   * either to each partition in turn. Resolves to what it is called, once the server has it. Throws InvalidArgumentError.
   */
  async append(body: Body, options: PartitionedAppendOptions = {}): Promise<PartitionedAppended> {
    checkOptions('options', options, PARTITIONED_APPEND_OPTIONS)
    return this.#router.append(body, options)
  }

  /**
   * Appends messages; the results are in their order. Those of one partition stay together and in order, as
   * in a feed; those without a key share one. Several partitions are several calls: an error leaves what
   * the others did, and repeating is safe with idempotency keys. Throws InvalidArgumentError.
   */
  async appendMany(messages: readonly NewPartitionedMessage<Body>[]): Promise<PartitionedAppended[]> {
    return this.#router.appendMany(messages)
  }

  /**
   * Reads the messages after a cursor in all partitions; an empty page when nothing comes within `wait`.
   * They are merged oldest first, as far as the clocks of the servers agree; within a partition the order
   * is exact. Throws the signal's reason.
   */
  async read(options: PartitionedReadOptions = {}): Promise<PartitionedPage<Body>> {
    const page = await this.#readEntries(options)
    return { ...toPage(page), gaps: page.gaps, resets: page.resets }
  }

  /**
   * Yields every message after `after` and then those that come, also after an outage. Throws the signal's reason, and
   * what no retry would change.
   */
  tail(options: PartitionedTailOptions = {}): AsyncGenerator<TailedPartitionedMessage<Body>> {
    return this.#tail(options, TAIL_OPTIONS)
  }

  /** As `tail`, from the oldest message. */
  [Symbol.asyncIterator](): AsyncGenerator<TailedPartitionedMessage<Body>> {
    return this.tail()
  }

  /**
   * Looks messages up by id, in the order asked; ids that are not in the feed are left out. Throws InvalidArgumentError.
   */
  async get(ids: readonly string[]): Promise<FoundPartitionedMessages<Body>> {
    const found = await lookUp(this.#partitions, ids, ({ partition }, entry) =>
      inPartition(partition, entry, null),
    )
    return sortOut(found)
  }

  /**
   * Removes messages by id. Those that a live claim holds stay and are named, unless `evenClaimed`. Resolves to how many were
   * removed, and which stayed. Throws InvalidArgumentError.
   */
  async remove(ids: readonly string[], options: RemoveOptions = {}): Promise<Removed> {
    return removeMessages(this.#partitions, ids, options)
  }

  /**
   * Claims the oldest free messages of one partition, the partitions taking turns: a claim never spans two.
   * Resolves to null when there are none in any within `wait`. Throws the signal's reason.
   */
  async claim(options: ClaimOptions = {}): Promise<PartitionClaim<Body> | null> {
    checkOptions('options', options, CLAIM_OPTIONS)
    return this.#claims.claim(options)
  }

  /**
   * Takes the oldest free messages of one partition out of the feed: a claim that is acked at once. Should
   * this process die in between, they are free again after half a minute; none is lost. Where the server does not say that they are
   * acked, they are had all the same, and may come once more. What the codec cannot read becomes a
   * dead letter. Resolves to an empty list when there was none in time. Throws InvalidArgumentError, or the signal's reason.
   */
  async pop(options: Omit<ClaimOptions, 'lease' | 'grace'> = {}): Promise<PartitionedMessage<Body>[]> {
    checkOptions('options', options, TAKE_OPTIONS)
    return takeMessages((waiting) => this.claim({ ...options, ...waiting }), options)
  }

  /** A reader whose position is stored with every partition. It is made by its first use. */
  subscriber(name: string, options: SubscriberOptions = {}): PartitionedSubscriber<Body> {
    checkOptions('options', options, ['from', 'protect'])
    const feed = {
      partitions: this.#partitions,
      known: PARTITIONED_READ_OPTIONS,
      read: (page: PartitionedReadOptions) => this.read(page),
      tail: (page: PartitionedTailOptions, begin: () => Promise<string>) =>
        this.#tail(page, SUBSCRIBER_OPTIONS, begin),
    }
    return new PartitionedSubscriber<Body>(feed, checkName('name', name), options)
  }

  /** The messages that were claimed `maxClaims` times in vain: a feed of its own, in the same slots. */
  get deadLetters(): PartitionedFeed<Body> {
    const { maxClaims: _, ...options } = this.#options
    return new PartitionedFeed(this.#partitions.runtime, this.name, options, 'dead')
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

  async #readEntries(options: PartitionedReadOptions): Promise<EntryPage<PartitionedEntry<Body>>> {
    checkOptions('options', options, PARTITIONED_READ_OPTIONS)
    return readMergedPage(this.#partitions, options, this.#terms.origin)
  }

  #tail(
    options: PartitionedTailOptions,
    known: readonly string[],
    begin?: () => Promise<string>,
  ): AsyncGenerator<TailedPartitionedMessage<Body>> {
    const read = (page: PartitionedReadOptions) => this.#readEntries(page)
    return tail({ partitions: this.#partitions, read, begin, known }, options)
  }
}
