// A queue is a feed, and an entry in the registry of its project; its subscribers are notified of posts.

import type { Appended, Claim, ClaimOptions, Feed, FeedOptions, NewMessage, Perilune } from 'perilune'
import { storedJson } from '../../json/stored.ts'
import type { QueueTerms } from '../requests/metadata.ts'
import { BoundedMap } from '../../process/bounded-map.ts'
import { DeadLetters } from './dead-letters.ts'
import { besides, feedName, openFeedBytes, type QueuePlace } from './place.ts'
import type { Registry } from './registry.ts'

const KEPT_FEEDS = 10_000

type DeadLetterTerms = QueueTerms['deadLetters']

/** The notifications for the subscribers of a queue. */
export interface Subscribers {
  /** Once this has resolved, none of them misses one of these messages. */
  announce(
    place: QueuePlace,
    messages: readonly NewMessage<string>[],
    appended: readonly Appended[],
  ): Promise<void>
  /** Removes all of them. */
  clear(place: QueuePlace): Promise<void>
}

export interface QueuesParts {
  readonly perilune: Perilune
  readonly registry: Registry
  readonly subscribers: Subscribers
  /** Receives errors of background work. */
  readonly onError: (error: unknown) => void
}

export class Queues {
  readonly registry: Registry
  readonly #perilune: Perilune
  readonly #subscribers: Subscribers
  readonly #deadLetters: DeadLetters
  readonly #feeds = new BoundedMap<Feed<string>>(KEPT_FEEDS)

  constructor({ perilune, registry, subscribers, onError }: QueuesParts) {
    this.#perilune = perilune
    this.registry = registry
    this.#subscribers = subscribers
    this.#deadLetters = new DeadLetters(onError)
  }

  /** For pages: bodies as they are stored. */
  feedBytes(place: QueuePlace): Feed<Buffer> {
    return openFeedBytes(this.#perilune, place)
  }

  /** Cached, because a handle learns the fastest way to append to its feed. */
  feed(place: QueuePlace, deadLetters: DeadLetterTerms = null): Feed<string> {
    const name = feedName(place)
    const key = `${place.tenant.origin} ${deadLetters === null ? '' : JSON.stringify(deadLetters)} ${name}`
    const known = this.#feeds.get(key)
    if (known !== undefined) return known
    const feed = this.#perilune.feed(name, feedOptions(place, deadLetters))
    this.#feeds.set(key, feed)
    return feed
  }

  /** Registers the queue unless it is registered. */
  async ensure(place: QueuePlace): Promise<void> {
    if ((await this.registry.recall(place)) === null) await this.registry.register(place, {})
  }

  /**
   * Appends messages and stores their pushes. Registers the queue unless it is, also if it was deleted since this
   * process looked.
   */
  async post(place: QueuePlace, messages: NewMessage<string>[], isRegistered: boolean): Promise<Appended[]> {
    if (!isRegistered) await this.registry.register(place, {})
    const appended = await this.feed(place).appendMany(messages)
    if (isRegistered && appended.some(({ began }) => began)) await this.registry.register(place, {})
    await this.#subscribers.announce(place, messages, appended)
    return appended
  }

  /** Claims messages, and starts moving those that were claimed too often to their queue, without waiting for it. */
  async claim(
    place: QueuePlace,
    options: ClaimOptions,
    deadLetters: DeadLetterTerms,
  ): Promise<Claim<string> | null> {
    const feed = this.feed(place, deadLetters)
    const claim = await feed.claim(options)
    if (deadLetters !== null) {
      const target = besides(place, deadLetters.queue)
      this.#deadLetters.move(feed.name, () => this.#moveDeadLetters(feed, target))
    }
    return claim
  }

  async delete(place: QueuePlace): Promise<void> {
    // In this order: a post in between registers the queue again.
    await this.registry.remove(place)
    await this.feed(place).clear()
    await this.#subscribers.clear(place)
  }

  /** Removes the content of a queue, claimed or not; the queue itself stays. */
  async purge(place: QueuePlace, what: { messages: boolean; subscriptions: boolean }): Promise<void> {
    if (what.messages) await this.feed(place).clear()
    if (what.subscriptions) await this.#subscribers.clear(place)
  }

  /** Ends background work. */
  close(withinMs: number): Promise<void> {
    return this.#deadLetters.close(withinMs)
  }

  async #moveDeadLetters(feed: Feed<string>, target: QueuePlace): Promise<void> {
    const moved = await feed.moveDeadLetters(this.feed(target))
    if (moved > 0) await this.registry.register(target, {})
  }
}

function feedOptions({ tenant }: QueuePlace, deadLetters: DeadLetterTerms): FeedOptions<string> {
  const options = { codec: storedJson, origin: tenant.origin }
  if (deadLetters === null) return options
  const { maxClaims, ttl } = deadLetters
  return { ...options, maxClaims, ...(ttl === null ? {} : { deadLettersTtl: `${ttl}s` }) }
}
