// What is behind the cache: it answers after a while, and so many questions at once.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Entry, nowMs, toEntry } from './contender.ts'
import type { LoadNote } from './job.ts'

export class Database {
  readonly loads: LoadNote[] = []
  readonly #loadMs: number
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(loadMs: number, connections: number) {
    this.#loadMs = loadMs
    this.#free = connections
  }

  /** The value of a key. */
  async ask(key: string): Promise<Entry> {
    const askedAtMs = nowMs()
    await this.#connection()
    await sleep(this.#loadMs)
    this.#giveBack()
    this.loads.push({ key, askedAtMs, answeredAtMs: nowMs() })
    return toEntry(key)
  }

  async #connection(): Promise<void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** To the next who waits, if there is one. */
  #giveBack(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}
