// The subscriptions of each queue: one catalog per queue, and a second one with the options, which may be large.
// Adding, moving or removing one holds the lock of its queue, so that two subscriptions never have one subscriber, nor
// a queue more than its limit. An expired subscription is never shown.

import { createHash, randomUUID } from 'node:crypto'
import type { Catalog, CatalogEntry, Perilune } from 'perilune'
import type { Limits } from '../settings/limits.ts'
import { conflict, forbidden } from '../../http/answers/problems.ts'
import { feedName, type QueuePlace } from '../queues/place.ts'
import { Recollection } from '../../process/recollection.ts'
import type { JsonObject } from '../requests/body.ts'
import type { SubscriptionTerms } from './terms.ts'
import { RedisClock } from './server-clock.ts'
import {
  isActive,
  isOver,
  nothingPushed,
  type QueueSubscription,
  type SubscriptionEntry,
} from './subscription.ts'

export type NewSubscription = SubscriptionTerms & Pick<QueueSubscription, 'project'>

export interface SubscriptionPage {
  readonly limit: number
  /** Subscriptions after this id. */
  readonly marker: string | undefined
}

type Change = (subscription: QueueSubscription, nowMs: number) => QueueSubscription

const CHUNK = 100
const WAIT = '10s' // for other requests that change the same queue
const NO_OPTIONS: JsonObject = {}

export class QueueSubscriptions {
  readonly clock: RedisClock
  readonly #perilune: Perilune
  readonly #limits: Limits
  /** Whether a queue has a subscription that gets messages. */
  readonly #active: Recollection<boolean>

  constructor(perilune: Perilune, limits: Limits) {
    this.clock = new RedisClock(perilune)
    this.#perilune = perilune
    this.#limits = limits
    const { metadataFreshMs, maxRememberedQueues } = limits
    this.#active = new Recollection({ freshMs: metadataFreshMs, maxNames: maxRememberedQueues })
  }

  /** Adds a subscription, or finds the one that this subscriber has already. */
  add(place: QueuePlace, wanted: NewSubscription): Promise<SubscriptionEntry & { isNew: boolean }> {
    return this.#alone(place, async () => {
      const { live, nowMs } = await this.#sort(place)
      const known = live.find(({ subscription }) => subscription.subscriber === wanted.subscriber)
      if (known !== undefined) return { ...known, isNew: false }
      const { maxSubscriptionsPerQueue } = this.#limits
      if (live.length >= maxSubscriptionsPerQueue) {
        throw forbidden(`A queue has at most ${maxSubscriptionsPerQueue} subscriptions.`)
      }
      // The id that this subscriber would have may belong to one that has moved.
      const usual = idOf(place, wanted.subscriber)
      const id = live.some((entry) => entry.id === usual) ? randomUUID() : usual
      return { ...(await this.#put(place, id, wanted, nowMs)), isNew: true }
    })
  }

  /** Null if there is none, or it has expired. */
  async get(place: QueuePlace, id: string): Promise<QueueSubscription | null> {
    const subscription = await this.#catalog(place).get(id)
    return subscription === null || isOver(subscription, await this.clock.nowMs()) ? null : subscription
  }

  async options(place: QueuePlace, { id, subscription }: SubscriptionEntry): Promise<JsonObject> {
    return (subscription.hasOptions ? await this.#options(place).get(id) : null) ?? NO_OPTIONS
  }

  /** Changes a subscription atomically. Resolves to null if there is none. */
  async change(place: QueuePlace, id: string, change: Change): Promise<QueueSubscription | null> {
    const nowMs = await this.clock.nowMs()
    const changed = await this.#catalog(place).update(id, (subscription) =>
      isOver(subscription, nowMs) ? subscription : change(subscription, nowMs),
    )
    return changed === null || isOver(changed, nowMs) ? null : changed
  }

  /**
   * Changes the members that a request names. Resolves to null if there is none; throws a Problem if another
   * subscription of the queue has this subscriber.
   */
  async patch(
    place: QueuePlace,
    id: string,
    { options, ...terms }: Partial<SubscriptionTerms>,
  ): Promise<QueueSubscription | null> {
    if ((await this.get(place, id)) === null) return null
    return this.#alone(place, async () => {
      if ((await this.get(place, id)) === null) return null
      if (terms.subscriber !== undefined) await this.#refuseTaken(place, terms.subscriber, id)
      if (options !== undefined) await this.#setOptions(place, id, options)
      const hasOptions = options === undefined ? {} : { hasOptions: isAny(options) }
      const changed = await this.change(place, id, (known, nowMs) => ({
        ...apply(known, terms, nowMs),
        ...hasOptions,
      }))
      this.forget(place)
      return changed
    })
  }

  /** Resolves to false if there was none. */
  async remove(place: QueuePlace, id: string): Promise<boolean> {
    if ((await this.#catalog(place).get(id)) === null) return false
    return this.#alone(place, () => this.#remove(place, id))
  }

  /** Removes expired ones. */
  tidy(place: QueuePlace): Promise<void> {
    return this.#alone(place, async () => void (await this.#sort(place)))
  }

  /** Resolves to false if there was none. */
  async clear(place: QueuePlace): Promise<boolean> {
    if ((await this.#catalog(place).list({ limit: 1 })).total === 0) return false
    await this.#alone(place, async () => {
      for await (const { id } of this.each(place)) await this.#remove(place, id)
    })
    return true
  }

  /** Subscriptions in the order of their ids. */
  async list(place: QueuePlace, { limit, marker }: SubscriptionPage): Promise<SubscriptionEntry[]> {
    const nowMs = await this.clock.nowMs()
    const live: SubscriptionEntry[] = []
    for await (const entry of this.each(place, marker)) {
      if (!isOver(entry.subscription, nowMs)) live.push(entry)
      if (live.length === limit) break
    }
    return live
  }

  /** All that are stored, including expired ones. */
  async *each(place: QueuePlace, marker?: string): AsyncGenerator<SubscriptionEntry> {
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

  /** Whether the queue has a subscription that gets messages, as it was a moment ago. */
  areActive(place: QueuePlace): Promise<boolean> {
    return this.#active.recall(feedName(place), () => this.#lookForActive(place))
  }

  /** To be called after a change. */
  forget(place: QueuePlace): void {
    this.#active.forget(feedName(place))
  }

  async #lookForActive(place: QueuePlace): Promise<boolean> {
    const nowMs = await this.clock.nowMs()
    for await (const { subscription } of this.each(place)) if (isActive(subscription, nowMs)) return true
    return false
  }

  #alone<Value>(place: QueuePlace, work: () => Promise<Value>): Promise<Value> {
    return this.#perilune.lock(`subscriptions/${feedName(place)}`).run(work, { wait: WAIT })
  }

  /** The live ones. Expired ones are removed. */
  async #sort(place: QueuePlace): Promise<{ live: SubscriptionEntry[]; nowMs: number }> {
    const nowMs = await this.clock.nowMs()
    const live: SubscriptionEntry[] = []
    for await (const entry of this.each(place)) {
      if (!isOver(entry.subscription, nowMs)) live.push(entry)
      else await this.#remove(place, entry.id)
    }
    return { live, nowMs }
  }

  async #refuseTaken(place: QueuePlace, subscriber: string, id: string): Promise<void> {
    const { live } = await this.#sort(place)
    if (live.some((entry) => entry.subscription.subscriber === subscriber && entry.id !== id)) {
      throw conflict('Another subscription of this queue has this subscriber.')
    }
  }

  async #put(
    place: QueuePlace,
    id: string,
    { options, ...terms }: NewSubscription,
    nowMs: number,
  ): Promise<SubscriptionEntry> {
    const hasOptions = isAny(options)
    const rest = { confirmed: false, key: randomUUID(), startedAtMs: nowMs, progress: nothingPushed }
    const subscription = { ...terms, ...rest, hasOptions }
    // In this order: an existing subscription has its options.
    if (hasOptions) await this.#setOptions(place, id, options)
    await this.#catalog(place).put(id, subscription)
    this.forget(place)
    return { id, subscription }
  }

  /**
   * In this order: an existing subscription has its options, and leftovers of a process that died are removed like an
   * expired one.
   */
  async #remove(place: QueuePlace, id: string): Promise<boolean> {
    const ended = await this.#catalog(place).update(id, (known) => ({ ...known, ttl: 0 }))
    if (ended === null) return false
    await this.#options(place).remove(id)
    await this.#catalog(place).remove(id)
    this.forget(place)
    return true
  }

  async #setOptions(place: QueuePlace, id: string, options: JsonObject): Promise<void> {
    const stored = this.#options(place)
    if (!isAny(options)) await stored.remove(id)
    else if (!(await stored.put(id, options))) await stored.update(id, () => options)
  }

  #catalog(place: QueuePlace): Catalog<QueueSubscription> {
    return this.#perilune.catalog(`subscriptions/${feedName(place)}`)
  }

  #options(place: QueuePlace): Catalog<JsonObject> {
    return this.#perilune.catalog(`subscription-options/${feedName(place)}`)
  }
}

function isAny(options: JsonObject): boolean {
  return Object.keys(options).length > 0
}

/** A receiver at a new URL has not confirmed anything. A new ttl begins now. */
function apply(
  known: QueueSubscription,
  terms: Partial<Pick<QueueSubscription, 'subscriber' | 'ttl'>>,
  nowMs: number,
): QueueSubscription {
  const isMoved = terms.subscriber !== undefined && terms.subscriber !== known.subscriber
  return {
    ...known,
    ...terms,
    ...(isMoved ? { confirmed: false, progress: nothingPushed } : {}),
    ...(terms.ttl === undefined ? {} : { startedAtMs: nowMs }),
  }
}

function toEntry({ name, document }: CatalogEntry<QueueSubscription>): SubscriptionEntry {
  return { id: name, subscription: document }
}

function idOf(place: QueuePlace, subscriber: string): string {
  return createHash('sha256')
    .update(`${feedName(place)}\n${subscriber}`)
    .digest('hex')
    .slice(0, 32)
}
