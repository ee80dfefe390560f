// The generation of a cache as a whole, which `clear` makes anew: a tag without a name, that every value has. To ask for
// it with every get would be one more GET each; so a process goes by what it knows for a while, and a clear resolves when
// all have had to ask again.
//
//   asked ──known──half of its time──known, asks beside──over──the next get asks and waits
//
// Where nobody answers, what is known serves on, as long as the asking goes on without a pause: whoever was idle asks and waits.

import { isOutage } from '../runtime/errors/outage.ts'
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
  /** Until then what is known serves on, for nobody answered when it was asked for again. */
  #strandedUntil = -Infinity
  /** What is known serves on while it is asked for. */
  #bridges = false

  constructor(read: (withinMs: number) => Promise<Buffer | null>) {
    this.#read = read
  }

  /** As a head has it; null when it has to be asked for. The same buffer as long as it is the same generation. */
  known(withinMs: number, now: number): Buffer | null {
    const ageMs = now - this.#askedAt
    if (ageMs > KNOWN_FOR_MS / 2) this.#ask(withinMs).catch(() => undefined)
    return ageMs < KNOWN_FOR_MS || this.#servesOn(now) ? this.#block : null
  }

  #servesOn(now: number): boolean {
    return now < this.#strandedUntil || this.#bridges
  }

  /** As `known`, after asking where that is needed. Rejects as reads do. */
  async get(withinMs: number): Promise<Buffer> {
    const since = performance.now() - KNOWN_FOR_MS
    while (this.#askedAt < since && !this.#servesOn(performance.now())) await this.#ask(withinMs)
    return this.#block
  }

  /** A generation that this process has made. */
  note(generation: number): void {
    this.#notedAt = performance.now()
    this.#set(generation)
  }

  #ask(withinMs: number): Promise<void> {
    if (this.#asking !== null) return this.#asking
    this.#bridges = this.#servesOn(performance.now())
    this.#asking = this.#learn(withinMs).finally(() => {
      this.#asking = null
      this.#bridges = false
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
      this.#strandedUntil = -Infinity
    } catch (error) {
      if (this.#askedAt === -Infinity || !isOutage(error)) throw error
      this.#strandedUntil = performance.now() + KNOWN_FOR_MS
    }
  }

  #set(generation: number): void {
    if (generation === this.#generation) return
    this.#generation = generation
    this.#block = generation === 0 ? NONE : tagBlock([{ tag: '', generation }])
  }
}
