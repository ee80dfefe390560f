// Who is subscribed to which queue: one catalog a queue.
//
// A subscription whose time is over is nowhere to be seen; it is removed when the next one is made.

import { createHash, randomUUID } from 'node:crypto'
import type { Catalog, CatalogEntry, Perilune } from 'perilune'
import type { Limits } from '../limits.ts'
import { conflict, forbidden } from '../problems.ts'
import { feedName, type Place } from '../queues/place.ts'
import { Recollection } from '../queues/recollection.ts'
import { ServerClock } from './server-clock.ts'
import { isOver, type Subscription, type SubscriptionEntry } from './subscription.ts'

export type NewSubscription = Pick<Subscription, 'subscriber' | 'ttl' | 'options' | 'project'>

export interface Page {
  readonly limit: number
  /** Subscriptions behind this id. */
  readonly marker: string | undefined
}

const CHUNK = 1000

export class Subscriptions {
  readonly clock: ServerClock
  readonly #perilune: Perilune
  readonly #limits: Limits
  readonly #recollection: Recollection<readonly SubscriptionEntry[]>

  constructor(perilune: Perilune, limits: Limits) {
    this.clock = new ServerClock(perilune)
    this.#perilune = perilune
    this.#limits = limits
    const { metadataFreshMs, maxRememberedQueues } = limits
    this.#recollection = new Recollection({ freshMs: metadataFreshMs, maxNames: maxRememberedQueues })
  }

  /** Adds a subscription, or finds the one that this subscriber has already. */
  async add(place: Place, wanted: NewSubscription): Promise<SubscriptionEntry & { isNew: boolean }> {
    const nowMs = await this.clock.nowMs()
    const stored = await this.#all(place)
    const live = stored.filter(({ subscription }) => !isOver(subscription, nowMs))
    const known = live.find(({ subscription }) => subscription.subscriber === wanted.subscriber)
    if (known !== undefined) return { ...known, isNew: false }
    const { maxSubscriptionsPerQueue } = this.#limits
    if (live.length >= maxSubscriptionsPerQueue) {
      throw forbidden(`A queue has at most ${maxSubscriptionsPerQueue} subscriptions.`)
    }
    await this.#collect(place, stored, nowMs)
    return this.#put(place, { ...wanted, confirmed: false, key: randomUUID(), startedAtMs: nowMs })
  }

  /** Null when there is none, or its time is over. */
  async get(place: Place, id: string): Promise<Subscription | null> {
    const subscription = await this.#catalog(place).get(id)
    return subscription === null || isOver(subscription, await this.clock.nowMs()) ? null : subscription
  }

  /** Changes a subscription in one step. Resolves to null when there is none. */
  async change(
    place: Place,
    id: string,
    change: (subscription: Subscription, nowMs: number) => Subscription,
  ): Promise<Subscription | null> {
    const nowMs = await this.clock.nowMs()
    const changed = await this.#catalog(place).update(id, (subscription) =>
      isOver(subscription, nowMs) ? subscription : change(subscription, nowMs),
    )
    this.forget(place)
    return changed === null || isOver(changed, nowMs) ? null : changed
  }

  /** Throws a Problem when another subscription of the queue has this subscriber. */
  async refuseTaken(place: Place, subscriber: string, id: string): Promise<void> {
    const nowMs = await this.clock.nowMs()
    for await (const entry of this.#each(place)) {
      const isSame = entry.subscription.subscriber === subscriber && entry.id !== id
      if (isSame && !isOver(entry.subscription, nowMs)) {
        throw conflict('Another subscription of this queue has this subscriber.')
      }
    }
  }

  async remove(place: Place, id: string): Promise<void> {
    await this.#catalog(place).remove(id)
    this.forget(place)
  }

  async clear(place: Place): Promise<void> {
    for (const { id } of await this.#all(place)) await this.#catalog(place).remove(id)
    this.forget(place)
  }

  /** Subscriptions in the order of their ids. */
  async list(place: Place, { limit, marker }: Page): Promise<SubscriptionEntry[]> {
    const nowMs = await this.clock.nowMs()
    const live: SubscriptionEntry[] = []
    for await (const entry of this.#each(place, marker)) {
      if (!isOver(entry.subscription, nowMs)) live.push(entry)
      if (live.length === limit) break
    }
    return live
  }

  /** Those that get messages, as they were a moment ago. */
  async recallConfirmed(place: Place): Promise<readonly SubscriptionEntry[]> {
    const stored = await this.#recollection.recall(feedName(place), () => this.#all(place))
    if (stored.length === 0) return stored
    const nowMs = await this.clock.nowMs()
    return stored.filter(({ subscription }) => subscription.confirmed && !isOver(subscription, nowMs))
  }

  /** Another process has changed something. */
  forget(place: Place): void {
    this.#recollection.forget(feedName(place))
  }

  /** One subscriber has one id, so that two requests at once make one subscription. */
  async #put(
    place: Place,
    subscription: Subscription,
    id: string = idOf(place, subscription.subscriber),
  ): Promise<SubscriptionEntry & { isNew: boolean }> {
    const isNew = await this.#catalog(place).put(id, subscription)
    this.forget(place)
    if (isNew) return { id, subscription, isNew }
    const known = await this.#catalog(place).get(id)
    if (known?.subscriber === subscription.subscriber) return { id, subscription: known, isNew }
    // The one with this id has another subscriber by now, or is gone again.
    return this.#put(place, subscription, known === null ? id : randomUUID())
  }

  /** Looks again before it removes, for someone may have renewed the subscription in the meantime. */
  async #collect(place: Place, stored: readonly SubscriptionEntry[], nowMs: number): Promise<void> {
    for (const { id } of stored.filter(({ subscription }) => isOver(subscription, nowMs))) {
      const present = await this.#catalog(place).get(id)
      if (present !== null && isOver(present, nowMs)) await this.#catalog(place).remove(id)
    }
  }

  async #all(place: Place): Promise<SubscriptionEntry[]> {
    const all: SubscriptionEntry[] = []
    for await (const entry of this.#each(place)) all.push(entry)
    return all
  }

  async *#each(place: Place, marker?: string): AsyncGenerator<SubscriptionEntry> {
    let after = marker
    for (;;) {
      const page = await this.#catalog(place).list({
        limit: CHUNK,
        ...(after === undefined ? {} : { after }),
      })
      yield* page.entries.map(toEntry)
      after = page.entries.at(-1)?.name
      if (!page.more) return
    }
  }

  #catalog(place: Place): Catalog<Subscription> {
    return this.#perilune.catalog(`subscriptions/${feedName(place)}`)
  }
}

function toEntry({ name, document }: CatalogEntry<Subscription>): SubscriptionEntry {
  return { id: name, subscription: document }
}

function idOf(place: Place, subscriber: string): string {
  return createHash('sha256')
    .update(`${feedName(place)}\n${subscriber}`)
    .digest('hex')
    .slice(0, 32)
}
