// The generation of a cache as a whole, which `clear` makes anew: a tag without a name, that every value has. To ask for
// it with every get would be one more GET each; so a process goes by what it knows for a while, and a clear resolves when
// all have had to ask again.
//
//   asked ──known──half of its time──known, asks beside──over──the next get asks and waits

import { isOutage } from '../runtime/outage.ts'
import { tagBlock } from './tags.ts'

export const KNOWN_FOR_MS = 1000

const NONE = Buffer.alloc(0)

export class Generation {
  readonly #read: (withinMs: number) => Promise<Buffer | null>
  #block: Buffer = NONE
  #generation = 0
  /** By `performance.now()`, as the others. */
  #askedAt = -Infinity
  #notedAt = -Infinity
  #asking: Promise<void> | null = null
  /** It is known, but could not be asked for again: what is known serves on. */
  #stranded = false

  constructor(read: (withinMs: number) => Promise<Buffer | null>) {
    this.#read = read
  }

  /** As a head has it; null when it has to be asked for. The same buffer as long as it is the same generation. */
  known(withinMs: number, now: number): Buffer | null {
    const ageMs = now - this.#askedAt
    if (ageMs > KNOWN_FOR_MS / 2) this.#ask(withinMs).catch(() => undefined)
    return ageMs < KNOWN_FOR_MS || this.#stranded ? this.#block : null
  }

  /** As `known`, after asking where that is needed. Rejects as reads do. */
  async get(withinMs: number): Promise<Buffer> {
    const since = performance.now() - KNOWN_FOR_MS
    while (this.#askedAt < since && !this.#stranded) await this.#ask(withinMs)
    return this.#block
  }

  /** A generation that this process has made. */
  note(generation: number): void {
    this.#notedAt = performance.now()
    this.#set(generation)
  }

  #ask(withinMs: number): Promise<void> {
    this.#asking ??= this.#learn(withinMs).finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  async #learn(withinMs: number): Promise<void> {
    const askedAt = performance.now()
    try {
      const bytes = await this.#read(withinMs)
      // What was noted meanwhile is newer.
      if (askedAt > this.#notedAt) this.#set(Number(bytes ?? 0))
      this.#askedAt = askedAt
      this.#stranded = false
    } catch (error) {
      if (this.#askedAt === -Infinity || !isOutage(error)) throw error
      this.#stranded = true
    }
  }

  #set(generation: number): void {
    if (generation === this.#generation) return
    this.#generation = generation
    this.#block = generation === 0 ? NONE : tagBlock([{ tag: '', generation }])
  }
}
