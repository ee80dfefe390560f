// One courier for each queue that has subscriptions or pushes that wait, in every process of the service.
//
// Which queues these are stands in a catalog. Changes are told to the other processes through a feed; a
// process that could not listen for a while reads the catalog again.

import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Catalog, Feed, Perilune } from 'perilune'
import { feedName, type Place, placeOf } from '../queues/place.ts'

export interface CouriersParts {
  readonly perilune: Perilune
  /** Works for one queue until there is nothing left to do, or the signal aborts. */
  readonly work: (place: Place, signal: AbortSignal) => Promise<void>
  /** Whether a queue has neither subscriptions nor pushes that wait. */
  readonly isDone: (place: Place) => Promise<boolean>
  /** Another process has changed the subscriptions of this queue. */
  readonly onChange: (place: Place) => void
  readonly onError: (error: unknown) => void
}

const PAUSE_MS = 1000
const CHUNK = 1000

export class Couriers {
  readonly #parts: CouriersParts
  readonly #places: Catalog<true>
  readonly #news: Feed<string>
  readonly #working = new Map<string, Promise<void>>()
  readonly #end = new AbortController()
  #listening: Promise<void> = Promise.resolve()

  constructor(parts: CouriersParts) {
    setMaxListeners(0, this.#end.signal) // one for each queue
    this.#parts = parts
    this.#places = parts.perilune.catalog('webhooks')
    this.#news = parts.perilune.feed('webhooks/news', { keep: 1000, expireAfter: '1h' })
  }

  /** Begins to listen and to work, until `close`. */
  start(): void {
    this.#listening = this.#listen()
  }

  /** Notes that a queue needs a courier, and tells the others that its subscriptions have changed. */
  async tell(place: Place): Promise<void> {
    await this.register(place)
    await this.#news.append(feedName(place))
  }

  async register(place: Place): Promise<void> {
    await this.#places.put(feedName(place), true)
    this.employ(place)
  }

  /** Takes on nothing new and waits for what is under way. */
  async close(): Promise<void> {
    this.#end.abort()
    await Promise.all([this.#listening, ...this.#working.values()])
  }

  async #listen(): Promise<void> {
    while (!this.#end.signal.aborted) {
      try {
        await this.#follow()
      } catch (error) {
        if (this.#end.signal.aborted) return
        this.#parts.onError(error)
        await sleep(PAUSE_MS, undefined, { ref: false })
      }
    }
  }

  async #follow(): Promise<void> {
    // First the place in the news, then the catalog: what happens in between is told.
    const { next } = await this.#news.read({ after: 'end', signal: this.#end.signal })
    await this.#employAll()
    for await (const { body: name } of this.#news.tail({ after: next, signal: this.#end.signal })) {
      this.#parts.onChange(placeOf(name))
      this.employ(placeOf(name))
    }
  }

  async #employAll(): Promise<void> {
    let after = ''
    for (;;) {
      const page = await this.#places.list({ after, limit: CHUNK })
      for (const { name } of page.entries) this.employ(placeOf(name))
      after = page.entries.at(-1)?.name ?? after
      if (!page.more) return
    }
  }

  /** Sees to it that this process works for a queue. */
  employ(place: Place): void {
    const name = feedName(place)
    if (this.#working.has(name) || this.#end.signal.aborted) return
    this.#working.set(name, this.#workFor(place, name))
  }

  async #workFor(place: Place, name: string): Promise<void> {
    const mayLeave = await this.#workAndLeave(place)
    this.#working.delete(name)
    if (!mayLeave) this.employ(place)
  }

  /** Looks again after it has left, for someone may have subscribed in the meantime. */
  async #workAndLeave(place: Place): Promise<boolean> {
    const { work, isDone, onError } = this.#parts
    try {
      await work(place, this.#end.signal)
      if (this.#end.signal.aborted) return true
      await this.#places.remove(feedName(place))
      if (await isDone(place)) return true
      await this.tell(place)
    } catch (error) {
      onError(error)
      await sleep(PAUSE_MS)
    }
    return false
  }
}
