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
  /** The number of partitions, each in its own slot, 1 to 64. It cannot change until the feed is cleared. */
  partitions: number
}

const MAX_PARTITIONS = 64
const TAIL_OPTIONS = tailOptions(PARTITIONED_READ_OPTIONS)
const SUBSCRIBER_OPTIONS = TAIL_OPTIONS.filter((option) => option !== 'after')

/**
 * A feed over several slots, for more load than one node can take. Each partition is a feed with its own order, and
 * messages of one key share a partition. One cursor reads all partitions.
 */
export class PartitionedFeed<Body> implements AsyncIterable<TailedPartitionedMessage<Body>> {
  readonly name: string
  /** Settles and extends claims by their partitions and tokens alone, also from another process. */
  readonly byToken: ClaimsByToken<PartitionClaimLease, PartitionClaim<Body>>
  readonly #options: PartitionedFeedOptions<Body>
  readonly #terms: FeedTerms
  readonly #partitions: Partitions<Body>
  readonly #router: MessageRouter<Body>
  readonly #claims: FeedClaims<Body, PartitionClaim<Body>>

  /** `beside`: opens the dead letters of the feed of that name. */
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

  /** The number of partitions. */
  get partitions(): number {
    return this.#partitions.spread
  }

  /**
   * Appends one message to the partition of its key, without a key to that of its idempotency key, without either to
   * each partition in turn. Resolves to its id when the server has stored it. Throws InvalidArgumentError.
   */
  async append(body: Body, options: PartitionedAppendOptions = {}): Promise<PartitionedAppended> {
    checkOptions('options', options, PARTITIONED_APPEND_OPTIONS)
    return this.#router.append(body, options)
  }

  /**
   * Appends messages; resolves to results in their order. Messages of one partition stay together and in order;
   * messages without a key share one partition. Each partition needs its own call: an error leaves the messages of
   * the others appended, and a repeat is safe with idempotency keys. Throws InvalidArgumentError.
   */
  async appendMany(messages: readonly NewPartitionedMessage<Body>[]): Promise<PartitionedAppended[]> {
    return this.#router.appendMany(messages)
  }

  /**
   * Reads a page of messages after a cursor in all partitions. They are merged oldest first, as far as the clocks of
   * the servers agree; within a partition the order is exact. Resolves to an empty page when no message arrives
   * within `wait`. Throws InvalidArgumentError, or the signal's reason.
   */
  async read(options: PartitionedReadOptions = {}): Promise<PartitionedPage<Body>> {
    const page = await this.#readEntries(options)
    return { ...toPage(page), gaps: page.gaps, resets: page.resets }
  }

  /**
   * Yields every message after `after` and then each new one, and continues after an outage. Throws the signal's
   * reason, and errors that no retry can fix.
   */
  tail(options: PartitionedTailOptions = {}): AsyncGenerator<TailedPartitionedMessage<Body>> {
    return this.#tail(options, TAIL_OPTIONS)
  }

  /** Like `tail`, from the oldest message. */
  [Symbol.asyncIterator](): AsyncGenerator<TailedPartitionedMessage<Body>> {
    return this.tail()
  }

  /**
   * Looks messages up by id, in the order requested; ids that are not in the feed are omitted. Throws
   * InvalidArgumentError.
   */
  async get(ids: readonly string[]): Promise<FoundPartitionedMessages<Body>> {
    const found = await lookUp(this.#partitions, ids, ({ partition }, entry) =>
      inPartition(partition, entry, null),
    )
    return sortOut(found)
  }

  /**
   * Removes messages by id. Messages that a live claim holds are kept, unless `evenClaimed` is true. Resolves to the
   * number of removed messages and the ids of those kept. Throws InvalidArgumentError.
   */
  async remove(ids: readonly string[], options: RemoveOptions = {}): Promise<Removed> {
    return removeMessages(this.#partitions, ids, options)
  }

  /**
   * Claims the oldest free messages of one partition; the partitions take turns, and a claim never spans two.
   * Resolves to null when no partition has a free message within `wait`. Throws InvalidArgumentError, or the signal's
   * reason.
   */
  async claim(options: ClaimOptions = {}): Promise<PartitionClaim<Body> | null> {
    checkOptions('options', options, CLAIM_OPTIONS)
    return this.#claims.claim(options)
  }

  /**
   * Takes the oldest free messages of one partition out of the feed: a claim that is acked at once. If this process
   * dies in between, no message is lost: they are free again after 30 seconds. If the ack is not answered, the
   * messages are returned all the same and may be delivered again. Undecodable messages become dead letters. Resolves
   * to an empty list when none is free within `wait`. Throws InvalidArgumentError, or the signal's reason.
   */
  async pop(options: Omit<ClaimOptions, 'lease' | 'grace'> = {}): Promise<PartitionedMessage<Body>[]> {
    checkOptions('options', options, TAKE_OPTIONS)
    return takeMessages((waiting) => this.claim({ ...options, ...waiting }), options)
  }

  /**
   * A reader whose position is stored in every partition. `cursor`, `page` and `read` create it when it does not
   * exist; `commit` and `forget` do not. Throws InvalidArgumentError.
   */
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

  /**
   * The dead letters: messages that were claimed `maxClaims` times without an ack, in a separate feed in the same
   * slots.
   */
  get deadLetters(): PartitionedFeed<Body> {
    const { maxClaims: _, ...options } = this.#options
    return new PartitionedFeed(this.#partitions.runtime, this.name, options, 'dead')
  }

  /** Reads the state of the feed and of each partition. */
  async inspect(): Promise<PartitionedInspection<Body>> {
    return inspectPartitions(this.#partitions)
  }

  /**
   * Deletes all partitions with their subscribers and dead letters, and then the partition count, so that another
   * count may be chosen. Resolves to false when the feed did not exist.
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
