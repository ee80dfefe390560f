// Queues whose job found no room on a full server. This process tries again until there is room; if it ends before, the
// hourly job of the queue finds what was missed.

import { setTimeout as sleep } from 'node:timers/promises'
import { feedName, type QueuePlace } from '../queues/place.ts'

const FIRST_PAUSE_MS = 500
const LAST_PAUSE_MS = 5000
/** The names of so many are kept in memory. */
const MOST_QUEUES = 10_000

export class ForRoom {
  readonly #attempt: (place: QueuePlace) => Promise<void>
  readonly #waiting = new Map<string, QueuePlace>()
  readonly #end = new AbortController()
  #running: Promise<void> | null = null

  /** `attempt` rejects as long as there is no room. */
  constructor(attempt: (place: QueuePlace) => Promise<void>) {
    this.#attempt = attempt
  }

  add(place: QueuePlace): void {
    if (this.#end.signal.aborted || this.#waiting.size >= MOST_QUEUES) return
    this.#waiting.set(feedName(place), place)
    this.#running ??= this.#run()
  }

  async close(): Promise<void> {
    this.#end.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#end
    let pauseMs = FIRST_PAUSE_MS
    while (this.#waiting.size > 0 && !signal.aborted) {
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
      const hasRoom = !signal.aborted && (await this.#attemptAll())
      pauseMs = hasRoom ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LAST_PAUSE_MS)
    }
    this.#running = null
  }

  /** False once there is no room. */
  async #attemptAll(): Promise<boolean> {
    for (const [name, place] of this.#waiting) {
      try {
        await this.#attempt(place)
      } catch {
        return false
      }
      this.#waiting.delete(name)
    }
    return true
  }
}
