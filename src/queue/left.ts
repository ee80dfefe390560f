// What an instance leaves in the outbox of a queue, for it goes to queues that are away: each of these has an errand of its own, which
// tries again until all is there. Meanwhile the rest of the outbox is brought as ever.

import type { Runtime } from '../runtime/runtime.ts'
import { Errand } from './errand.ts'
import type { Source } from './source.ts'

/** Numbers may go back: what is put out may stand before what was seen. */
const LOOK_AGAIN_MS = 10_000

type BringTo = (source: Source, target: string) => Promise<void>

/** Of each instance those that leave something. */
const all = new WeakMap<Runtime, Map<string, Left>>()

export function leftOf(source: Source, bringTo: BringTo): Left {
  const { runtime, prefix } = source.unit
  const those = all.get(runtime) ?? new Map<string, Left>()
  all.set(runtime, those)
  const key = `${prefix} ${source.codec.name}`
  const keep = (left: Left, isAny: boolean): void => void (isAny ? those.set(key, left) : those.delete(key))
  return those.get(key) ?? new Left(source, bringTo, keep)
}

export class Left {
  readonly #source: Source
  readonly #bringTo: BringTo
  readonly #keep: (left: Left, isAny: boolean) => void
  readonly #errands = new Map<string, Errand>()
  /** Up to this number all is brought, or goes to those queues. */
  #seen = 0
  #looksAgainAt = 0

  constructor(source: Source, bringTo: BringTo, keep: (left: Left, isAny: boolean) => void) {
    this.#source = source
    this.#bringTo = bringTo
    this.#keep = keep
  }

  /** The number behind which there may be something to bring; 0: look at all. */
  get beginsAfter(): number {
    const isKnown = this.#errands.size > 0 && performance.now() < this.#looksAgainAt
    return isKnown ? this.#seen : 0
  }

  /** All was looked at that is behind `after`, up to this number. */
  note(after: number, number: number): void {
    if (after === 0) this.#looksAgainAt = performance.now() + LOOK_AGAIN_MS
    this.#seen = number
  }

  lookAgain(): void {
    this.#looksAgainAt = 0
  }

  /** Whether what goes to that queue is left. Then its errand looks once more: this may have come since it began. */
  has(target: string): boolean {
    const errand = this.#errands.get(target)
    void errand?.tell()
    return errand !== undefined
  }

  /** That queue is away. */
  leave(target: string): void {
    if (this.has(target)) return
    const errand = new Errand(this.#source.unit.runtime, {
      insists: true,
      task: () => this.#bringTo(this.#source, target),
      onIdle: () => {
        this.#errands.delete(target)
        if (this.#errands.size === 0) this.#keep(this, false)
      },
    })
    this.#errands.set(target, errand)
    this.#keep(this, true)
    void errand.tell()
  }
}
