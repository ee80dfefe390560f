// Notifies the other processes of the service of changed subscriptions of a queue.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Feed, Perilune } from 'perilune'
import { feedName, type QueuePlace, placeOf } from '../queues/place.ts'

export interface NewsParts {
  readonly perilune: Perilune
  /** Some process, perhaps this one, has changed the subscriptions of this queue. */
  readonly onChange: (place: QueuePlace) => void
  readonly onError: (error: unknown) => void
}

const PAUSE_MS = 1000

export class News {
  readonly #parts: NewsParts
  readonly #feed: Feed<string>
  readonly #end = new AbortController()
  #listening: Promise<void> = Promise.resolve()

  constructor(parts: NewsParts) {
    this.#parts = parts
    this.#feed = parts.perilune.feed('webhooks/news', { retention: 1000, ttl: '1h' })
  }

  /** Listens until `close`. */
  start(): void {
    this.#listening = this.#listen()
  }

  async publish(place: QueuePlace): Promise<void> {
    this.#parts.onChange(place)
    await this.#feed.append(feedName(place))
  }

  async close(): Promise<void> {
    this.#end.abort()
    await this.#listening
  }

  async #listen(): Promise<void> {
    const { signal } = this.#end
    while (!signal.aborted) {
      try {
        const { onChange } = this.#parts
        for await (const { body } of this.#feed.tail({ after: 'end', signal })) onChange(placeOf(body))
      } catch (error) {
        if (signal.aborted) return
        this.#parts.onError(error)
        await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined)
      }
    }
  }
}
