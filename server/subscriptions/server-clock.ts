// The clock of Redis, which all processes of the service share. One question a minute; in between, this
// process's monotonic clock is added.

import type { Feed, Perilune } from 'perilune'

const FRESH_MS = 60_000

export class ServerClock {
  readonly #feed: Feed<number>
  #known: { readonly serverMs: number; readonly at: number } | null = null

  constructor(perilune: Perilune) {
    this.#feed = perilune.feed('webhooks/clock', { keep: 100, expireAfter: '1m' })
  }

  /** Unix milliseconds; late by the time that one answer took, at most. */
  async nowMs(): Promise<number> {
    const known = this.#known
    if (known !== null && performance.now() - known.at < FRESH_MS) return passedSince(known)
    this.#known = await this.#ask()
    return passedSince(this.#known)
  }

  async #ask(): Promise<{ serverMs: number; at: number }> {
    const { id } = await this.#feed.append(0)
    const { messages } = await this.#feed.get([id])
    const [message] = messages
    const at = performance.now()
    if (message === undefined) return this.#ask() // others have asked in between
    return { serverMs: message.createdAtMs + message.ageMs, at }
  }
}

function passedSince({ serverMs, at }: { serverMs: number; at: number }): number {
  return Math.floor(serverMs + performance.now() - at)
}
