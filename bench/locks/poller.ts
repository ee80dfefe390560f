// The loop of all who poll: try, pause, try again.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Terms } from './contender.ts'

/** A try resolves to what gives the lock back, or to null. */
export type Try = () => Promise<(() => Promise<unknown>) | null>

export class Poller implements Client {
  tries = 0
  readonly #try: Try
  readonly #terms: Terms

  constructor(attempt: Try, terms: Terms) {
    this.#try = attempt
    this.#terms = terms
  }

  async acquire(): Promise<() => Promise<unknown>> {
    const endsAt = performance.now() + this.#terms.giveUpMs
    while (performance.now() < endsAt) {
      this.tries++
      const release = await this.#try()
      if (release !== null) return release
      await sleep(this.#terms.retryMs)
    }
    throw new Error(`${this.#terms.name} was not free for ${this.#terms.giveUpMs} ms`)
  }
}
