// The clock of Redis, which all processes of the service share. It is read once a minute; in between, this process's
// monotonic clock is added. A read normally writes nothing, so that a server out of memory answers it, too: it returns
// the age of a message that stays for a day.

import { DriverError, type Feed, type Perilune } from 'perilune'

const FRESH_MS = 60_000

export class RedisClock {
  readonly #feed: Feed<number>
  #known: { readonly serverMs: number; readonly at: number } | null = null

  constructor(perilune: Perilune) {
    this.#feed = perilune.feed('webhooks/clock', { retention: 1, ttl: '1d' })
  }

  /** Unix milliseconds; late by at most the time of one answer. */
  async nowMs(): Promise<number> {
    const known = this.#known
    if (known !== null && performance.now() - known.at < FRESH_MS) return passedSince(known)
    this.#known = await this.#ask().catch((error: unknown) => {
      const isFull = error instanceof DriverError && error.code === 'store-full'
      if (known === null || !isFull) throw error
      return known
    })
    return passedSince(this.#known)
  }

  async #ask(): Promise<{ serverMs: number; at: number }> {
    const { messages } = await this.#feed.read({ limit: 1 })
    const [message] = messages
    const at = performance.now()
    if (message !== undefined) return { serverMs: message.createdAtMs + message.ageMs, at }
    await this.#feed.append(0)
    return this.#ask()
  }
}

function passedSince({ serverMs, at }: { serverMs: number; at: number }): number {
  return Math.floor(serverMs + performance.now() - at)
}
