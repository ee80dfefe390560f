import type { Runtime } from '../runtime/connection/runtime.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { checkOptions } from '../runtime/values/arguments.ts'
import { checkName } from '../runtime/values/keys.ts'
import { type Appended, Appender } from './appender.ts'
import { lookUp, type Removed, type RemoveOptions, removeMessages } from './by-id.ts'
import { Claim } from './claim.ts'
import { CLAIM_OPTIONS, type ClaimOptions, FeedClaims, TAKE_OPTIONS, takeMessages } from './claims.ts'
import { type FeedOptions, type FeedTerms, toFeedTerms } from './feed-options.ts'
import { type FeedInspection, inspectFeed } from './inspection.ts'
import { type Entry, type FoundMessages, type Message, sortOut } from './message.ts'
import { type AppendOptions, checkNewMessage, type NewMessage, toNewMessage } from './new-message.ts'
import { type EntryPage, type Page, READ_OPTIONS, type ReadOptions, readPage, toPage } from './page.ts'
import { feedUnit, Partitions } from './partitions.ts'
import { type ClaimLease, ClaimsByToken } from './claim-by-token.ts'
import { Subscriber, type SubscriberOptions } from './subscriber.ts'
import { type TailedMessage, type TailOptions, tail, tailOptions } from './tail.ts'

const APPEND_OPTIONS = ['ttl', 'delay', 'idempotencyKey'] as const
const NO_OPTIONS: AppendOptions = {}
const TAIL_OPTIONS = tailOptions(READ_OPTIONS)
const SUBSCRIBER_OPTIONS = TAIL_OPTIONS.filter((option) => option !== 'after')

/**
 * An append-only list of messages. Many readers follow it, each with its own cursor, and workers share its messages
 * by claims. A message with a higher cursor never becomes visible before one with a lower cursor.
 */
export class Feed<Body> implements AsyncIterable<TailedMessage<Body>> {
  readonly name: string
  /** Settles and extends claims by their tokens alone, also from another process. */
  readonly byToken: ClaimsByToken<ClaimLease, Claim<Body>>
  readonly #options: FeedOptions<Body>
  readonly #terms: FeedTerms
  /** A single partition: the feed itself. */
  readonly #partitions: Partitions<Body>
  readonly #appender: Appender<Body>
  readonly #claims: FeedClaims<Body, Claim<Body>>

  /** `unit`: the place of a feed that is not stored under its name alone, such as dead letters. */
  constructor(runtime: Runtime, name: string, options: FeedOptions<Body> = {}, unit?: Unit) {
    this.#terms = toFeedTerms(options)
    this.name = checkName('name', name)
    this.#options = options
    this.#partitions = new Partitions([unit ?? feedUnit(runtime, this.name)], options.codec)
    this.#appender = new Appender(this.#partitions.first, this.#terms)
    this.#claims = new FeedClaims(this.#partitions, this.#terms.deadLetters, {
      hold: (source, granted) => new Claim(source, granted),
    })
    this.byToken = new ClaimsByToken(this.#partitions, (partition, token) =>
      this.#claims.find(this.#partitions.at(partition), token),
    )
  }

  /** Appends one message. Resolves to its id and cursor when the server has stored it. Throws InvalidArgumentError. */
  append(body: Body, options: AppendOptions = NO_OPTIONS): Promise<Appended> {
    // Not an async function: the extra promise would add ten percent to the cost of an append.
    try {
      if (options !== NO_OPTIONS) checkOptions('options', options, APPEND_OPTIONS)
      return this.#appender.append(this.#appender.prepare(body, options))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /**
   * Appends messages in order; no other message comes between them. More than 1,000 messages or 4 MiB need several
   * calls: other messages may come between the calls, and an error leaves the earlier ones appended. Resolves to the
   * id and cursor of each, in their order. Throws InvalidArgumentError.
   */
  async appendMany(messages: readonly NewMessage<Body>[]): Promise<Appended[]> {
    if (!Array.isArray(messages)) throw new InvalidArgumentError('messages', 'must be a list')
    // Not `forEach`, which skips holes.
    for (const message of messages) checkNewMessage(message)
    return this.#appender.appendMany(messages.map((message) => this.#appender.prepare(message.body, message)))
  }

  /**
   * Reads a page of messages after a cursor, oldest first. Resolves to an empty page when no message arrives within
   * `wait`. Throws InvalidArgumentError, or the signal's reason.
   */
  async read(options: ReadOptions = {}): Promise<Page<Body>> {
    return toPage(await this.#readEntries(options))
  }

  /**
   * Yields every message after `after` and then each new one, and continues after an outage. Throws the signal's
   * reason, and errors that no retry can fix.
   */
  tail(options: TailOptions = {}): AsyncGenerator<TailedMessage<Body>> {
    return this.#tail(options, TAIL_OPTIONS)
  }

  /** Like `tail`, from the oldest message. */
  [Symbol.asyncIterator](): AsyncGenerator<TailedMessage<Body>> {
    return this.tail()
  }

  /**
   * Looks messages up by id, in the order requested; ids that are not in the feed are omitted. Throws
   * InvalidArgumentError.
   */
  async get(ids: readonly string[]): Promise<FoundMessages<Body>> {
    return sortOut(await lookUp(this.#partitions, ids, (_, entry) => entry))
  }

  /**
   * Removes messages by id. Messages that a live claim holds are kept, unless `evenClaimed` is true. Resolves to the
   * number of removed messages and the ids of those kept. Throws InvalidArgumentError.
   */
  async remove(ids: readonly string[], options: RemoveOptions = {}): Promise<Removed> {
    return removeMessages(this.#partitions, ids, options)
  }

  /**
   * Claims the oldest free messages. Resolves to null when none is free within `wait`. Throws InvalidArgumentError,
   * or the signal's reason.
   */
  async claim(options: ClaimOptions = {}): Promise<Claim<Body> | null> {
    checkOptions('options', options, CLAIM_OPTIONS)
    return this.#claims.claim(options)
  }

  /**
   * Takes the oldest free messages out of the feed: a claim that is acked at once. If this process dies in between,
   * no message is lost: they are free again after 30 seconds. If the ack is not answered, the messages are returned
   * all the same and may be delivered again. Undecodable messages become dead letters. Resolves to an empty list when
   * none is free within `wait`. Throws InvalidArgumentError, or the signal's reason.
   */
  async pop(options: Omit<ClaimOptions, 'lease' | 'grace'> = {}): Promise<Message<Body>[]> {
    checkOptions('options', options, TAKE_OPTIONS)
    return takeMessages((waiting) => this.claim({ ...options, ...waiting }), options)
  }

  /**
   * A reader whose cursor is stored with the feed. `cursor`, `page` and `read` create it when it does not exist;
   * `commit` and `forget` do not. Throws InvalidArgumentError.
   */
  subscriber(name: string, options: SubscriberOptions = {}): Subscriber<Body> {
    checkOptions('options', options, ['from', 'protect'])
    const feed = {
      partitions: this.#partitions,
      known: READ_OPTIONS,
      read: (page: ReadOptions) => this.read(page),
      tail: (page: TailOptions, begin: () => Promise<string>) => this.#tail(page, SUBSCRIBER_OPTIONS, begin),
    }
    return new Subscriber<Body>(feed, checkName('name', name), options)
  }

  /**
   * The dead letters: messages that were claimed `maxClaims` times without an ack, in a separate feed in the same
   * slot.
   */
  get deadLetters(): Feed<Body> {
    const { maxClaims: _, ...options } = this.#options
    const { unit } = this.#partitions.first
    return new Feed(unit.runtime, this.name, options, unit.beside('dead'))
  }

  /**
   * Moves dead letters to another feed, except undecodable ones. Resolves to their number. Safe to repeat and to
   * interrupt: a dead letter is appended there at most once within `idempotencyTtl`, and removed here only
   * afterwards.
   */
  async moveDeadLetters(to: Feed<Body>): Promise<number> {
    let moved = 0
    for (let after: string | undefined; ; ) {
      const { messages, more, next } = await this.deadLetters.read({
        limit: 100,
        ...(after === undefined ? {} : { after }),
      })
      if (messages.length > 0) {
        await to.appendMany(messages.map((message) => toNewMessage(this.name, message)))
        await this.deadLetters.remove(
          messages.map(({ id }) => id),
          { evenClaimed: true },
        )
      }
      moved += messages.length
      after = next
      if (!more) return moved
    }
  }

  /** Reads the state of the feed; its counts are exact. */
  async inspect(): Promise<FeedInspection<Body>> {
    return inspectFeed(this.#partitions.first)
  }

  /**
   * Deletes the feed with its subscribers and dead letters. Claims are lost, and waiting calls ask again. Resolves to
   * false when the feed did not exist.
   */
  async clear(): Promise<boolean> {
    return this.#partitions.clear()
  }

  /** Like `read`, with undecodable messages in their places. */
  async #readEntries(options: ReadOptions): Promise<EntryPage<Entry<Body>>> {
    checkOptions('options', options, READ_OPTIONS)
    return readPage(this.#partitions.first, options, this.#terms.origin)
  }

  #tail(
    options: TailOptions,
    known: readonly string[],
    begin?: () => Promise<string>,
  ): AsyncGenerator<TailedMessage<Body>> {
    const read = (page: ReadOptions) => this.#readEntries(page)
    return tail({ partitions: this.#partitions, read, begin, known }, options)
  }
}
