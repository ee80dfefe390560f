import { clear } from '../generated/feed.ts'
import type { Agreement } from '../runtime/partitions/agreement.ts'
import { checkOptions, checkToken } from '../runtime/values/arguments.ts'
import { type Codec, codecOr, json } from '../runtime/values/codec.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { checkName } from '../runtime/values/keys.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { Unit } from '../runtime/connection/unit.ts'
import { type Appended, Appender, type Keep, toAppendTerms } from './appender.ts'
import { type Claim, findClaim } from './claim.ts'
import {
  CLAIM_OPTIONS,
  type ClaimOptions,
  claimMessages,
  type DeadLetterOptions,
  TAKE_OPTIONS,
  toDeadLetterOptions,
} from './claims.ts'
import { type FeedInspection, inspectFeed } from './inspection.ts'
import { lookUp } from './by-id.ts'
import { type FoundMessages, type Message, type Source, sortOut } from './message.ts'
import {
  type AppendOptions,
  checkNewMessage,
  type Defaults,
  type NewMessage,
  toNewMessage,
  toOutgoing,
} from './new-message.ts'
import { type EntryPage, type Page, READ_OPTIONS, type ReadOptions, readPage, toPage } from './page.ts'
import { type Removed, type RemoveOptions, removeMessages } from './removing.ts'
import { type ClaimLease, placesIn, SettlingClaims } from './settlement.ts'
import { Subscriber, type SubscriberOptions } from './subscriber.ts'
import { type TailedMessage, type TailOptions, tail } from './tail.ts'
import { takeMessages } from './take.ts'

export interface FeedOptions<Body> {
  /** What to keep when appending; default: everything. */
  keep?: number | Keep
  /** How long messages live that say nothing themselves; default: until they are removed. */
  expireAfter?: Duration
  /** Who appends through this handle: `read({ echo: false })` hides the same origin's messages. Default: nobody. */
  origin?: string
  /** Claims after which a message becomes a dead letter; default: never. */
  maxClaims?: number
  /** How long a dead letter lives; default: as long as the message would have. */
  deadLettersExpireAfter?: Duration
  /** How long idempotency keys are known; default one hour. */
  rememberFor?: Duration
  /** How bodies become bytes; default JSON. */
  codec?: Codec<Body>
}

const OPTIONS = [
  'keep',
  'expireAfter',
  'origin',
  'maxClaims',
  'deadLettersExpireAfter',
  'rememberFor',
  'codec',
] as const
const APPEND_OPTIONS = ['expireAfter', 'delay', 'idempotencyKey'] as const
const NO_OPTIONS: AppendOptions = {}
const SINCE = '6.2.0'

/** Where a feed is that is not under its name alone: the dead letters of one, a partition of it. */
interface FeedUnit {
  readonly unit: Unit
  readonly agreement?: Agreement | null
}

/**
 * An append-only list of messages. Many readers follow it, each with its own marker; workers share it
 * out by claims. A message with a higher marker is never visible before one with a lower.
 */
export class Feed<Body> implements AsyncIterable<TailedMessage<Body>> {
  readonly name: string
  /** Claims, for whoever knows only their tokens. */
  readonly settle: SettlingClaims<ClaimLease>
  readonly #source: Source<Body>
  readonly #options: FeedOptions<Body>
  readonly #appender: Appender<Body>
  readonly #defaults: Defaults
  readonly #dead: DeadLetterOptions

  constructor(runtime: Runtime, name: string, options: FeedOptions<Body> = {}, partition?: FeedUnit) {
    checkOptions('options', options, OPTIONS)
    this.name = checkName('name', name)
    this.#options = options
    const { unit, agreement = null } = partition ?? {}
    this.#source = {
      unit: unit ?? new Unit(runtime, { structure: 'feed', name: this.name, since: SINCE }),
      codec: codecOr(options.codec, json<Body>),
      spread: agreement?.partitions ?? 0,
      agreement,
    }
    this.settle = new SettlingClaims(placesIn(this.#source))
    this.#appender = new Appender(this.#source, toAppendTerms(options))
    this.#defaults = {
      expireMs: options.expireAfter === undefined ? 0 : toMs('expireAfter', options.expireAfter),
      origin: checkOrigin(options.origin ?? ''),
    }
    this.#dead = toDeadLetterOptions(options.maxClaims, options.deadLettersExpireAfter)
  }

  /** Appends one message. Resolves to what it is called, once the server has it. Throws InvalidArgumentError. */
  append(body: Body, options: AppendOptions = NO_OPTIONS): Promise<Appended> {
    // Not an async function: its promise about a promise would cost a tenth of an append.
    try {
      if (options !== NO_OPTIONS) checkOptions('options', options, APPEND_OPTIONS)
      return this.#appender.append(toOutgoing(this.#source, body, options, this.#defaults))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /**
   * Appends messages in order; no other message falls between them. More than 1,000 of them, or more
   * than 4 MiB, go in several calls: between those others may fall, and an error leaves the earlier ones. Resolves to
   * what each is called, in their order. Throws InvalidArgumentError.
   */
  async appendMany(messages: readonly NewMessage<Body>[]): Promise<Appended[]> {
    if (!Array.isArray(messages)) throw new InvalidArgumentError('messages', 'must be a list')
    // Not `forEach`, which passes over holes.
    for (const message of messages) checkNewMessage(message)
    const outgoing = messages.map((message) =>
      toOutgoing(this.#source, message.body, message, this.#defaults),
    )
    return this.#appender.appendMany(outgoing)
  }

  /**
   * Reads the messages after a marker, oldest first; an empty page when nothing comes within `wait`. Throws the
   * signal's reason.
   */
  async read(options: ReadOptions = {}): Promise<Page<Body>> {
    return toPage(await this.#readEntries(options))
  }

  /**
   * Yields every message after `after` and then those that come, also after an outage. Throws the signal's reason, and
   * what no retry would change.
   */
  tail(options: TailOptions = {}): AsyncGenerator<TailedMessage<Body>> {
    return tail({ runtime: this.#source.unit.runtime, read: (page) => this.#readEntries(page) }, options)
  }

  /** As `tail`, from the oldest message. */
  [Symbol.asyncIterator](): AsyncGenerator<TailedMessage<Body>> {
    return this.tail()
  }

  /**
   * Looks messages up by id, in the order asked; ids that are not in the feed are left out. Throws InvalidArgumentError.
   */
  async get(ids: readonly string[]): Promise<FoundMessages<Body>> {
    return sortOut(await lookUp(this.#source, ids))
  }

  /**
   * Removes messages by id. Those that a live claim holds stay and are named, unless `evenClaimed`. Resolves to how many were
   * removed, and which stayed. Throws InvalidArgumentError.
   */
  async remove(ids: readonly string[], options: RemoveOptions = {}): Promise<Removed> {
    return removeMessages(this.#source, ids, options)
  }

  /** Claims the oldest free messages; null when there are none within `wait`. Throws the signal's reason. */
  async claim(options: ClaimOptions = {}): Promise<Claim<Body> | null> {
    checkOptions('options', options, CLAIM_OPTIONS)
    return claimMessages(this.#source, options, this.#dead)
  }

  /** A live claim by its token, as another process made it. Null when it has ended or never was. */
  async findClaim(token: number): Promise<Claim<Body> | null> {
    return findClaim(this.#source, checkToken(token))
  }

  /**
   * Takes the oldest free messages out of the feed: a claim that is acked at once. Should this process
   * die in between, they are free again after half a minute; none is lost. Where the server does not say that they are acked, they
   * are had all the same, and may come once more. What the codec cannot read becomes a dead letter.
   * Resolves to an empty list when there was none in time. Throws InvalidArgumentError, or the signal's reason.
   */
  async take(options: Omit<ClaimOptions, 'lease' | 'grace'> = {}): Promise<Message<Body>[]> {
    checkOptions('options', options, TAKE_OPTIONS)
    return takeMessages((waiting) => this.claim({ ...options, ...waiting }), options)
  }

  /** A reader whose marker is stored with the feed. It is made by its first use. */
  subscriber(name: string, options: SubscriberOptions = {}): Subscriber<Body> {
    checkOptions('options', options, ['from', 'protect'])
    return new Subscriber(this.#source, checkName('name', name), (page) => this.#readEntries(page), options)
  }

  /** The messages that were claimed `maxClaims` times in vain: a feed of its own, in the same slot. */
  get deadLetters(): Feed<Body> {
    const { maxClaims: _, ...options } = this.#options
    const { unit, agreement } = this.#source
    return new Feed(unit.runtime, this.name, options, { unit: unit.beside('dead'), agreement })
  }

  /**
   * Moves dead letters to another feed, but for those that the codec cannot read; resolves to how many. Safe to repeat and to interrupt: a letter
   * is appended there at most once within `rememberFor`, and goes from here only after that.
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

  /** A read-only picture; its counts are exact. */
  async inspect(): Promise<FeedInspection<Body>> {
    return inspectFeed(this.#source)
  }

  /**
   * Deletes the feed with its subscribers and dead letters: claims are lost, and those who wait go on. Resolves to
   * false when there was nothing.
   */
  async clear(): Promise<boolean> {
    const { unit } = this.#source
    const { clearings } = unit.runtime
    const clearIt = () => unit.run(clear, { channel: unit.channel, sharded: unit.sharded })
    const clearAll = () => clearings.run(unit.beside('dead').beginning, clearIt)
    const { existed } = await clearings.run(unit.beginning, clearAll)
    return existed
  }

  /** As `read`, with what the codec cannot read in its place. */
  async #readEntries(options: ReadOptions): Promise<EntryPage<Body>> {
    checkOptions('options', options, READ_OPTIONS)
    return readPage(this.#source, options, this.#defaults.origin)
  }
}

function checkOrigin(origin: unknown): string {
  if (typeof origin !== 'string' || !/^[A-Za-z0-9_.-]{0,64}$/.test(origin)) {
    throw new InvalidArgumentError('origin', 'must be at most 64 of A-Z a-z 0-9 _ . -')
  }
  return origin
}

export type { Keep } from './appender.ts'
export type { Removed, RemoveOptions } from './removing.ts'
