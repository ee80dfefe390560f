// Work that may wait for a moment, done once for each name, however often it was asked for meanwhile.

import { within } from './within.ts'

const PAUSE_MS = 1000
// More at a time are unlikely; the oldest are dropped.
const MOST_NAMES = 10_000

export class Afterwards<Item> {
  readonly #work: (item: Item) => Promise<unknown>
  readonly #items = new Map<string, Item>()
  #timer: NodeJS.Timeout | null = null
  #isClosed = false
  #running: Promise<void> = Promise.resolve()

  /** Errors of `work` are ignored. */
  constructor(work: (item: Item) => Promise<unknown>) {
    this.#work = work
  }

  /** Begins the work for this item a second after the first one that waits. Keeps no process alive. */
  add(name: string, item: Item): void {
    this.#items.set(name, item)
    for (const [oldest] of this.#items) {
      if (this.#items.size <= MOST_NAMES) break
      this.#items.delete(oldest)
    }
    this.#timer ??= setTimeout(() => void this.flush(), PAUSE_MS).unref()
  }

  /** Does now what waits, for at most so long, and nothing afterwards. */
  async close(withinMs: number): Promise<void> {
    await within(withinMs, this.flush())
    this.#isClosed = true
  }

  /** Does now what waits, one after the other; resolves when all is done. */
  flush(): Promise<void> {
    this.#running = this.#running.then(() => this.#doAll())
    return this.#running
  }

  async #doAll(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const items = [...this.#items.values()]
    this.#items.clear()
    for (const item of items) {
      if (this.#isClosed) return
      await this.#work(item).catch(() => undefined)
    }
  }
}
