// The processes of a soak of the queue: so many at a time, each replaced when it dies.

import type { PartyOrder } from './order.ts'
import { PartyProcess } from './process.ts'

export class Slots {
  readonly #orderOf: (at: number, started: number) => PartyOrder
  readonly #random: () => number
  readonly #all: PartyProcess[] = []
  readonly #slots: PartyProcess[] = []
  #resting = false
  #closing = false

  constructor(count: number, orderOf: (at: number, started: number) => PartyOrder, random: () => number) {
    this.#orderOf = orderOf
    this.#random = random
    for (let at = 0; at < count; at++) this.#start(at)
  }

  get died(): number {
    return this.#all.filter(({ hasEnded }) => hasEnded).length
  }

  /** Those that did not come to an end of their own. */
  get killed(): ReadonlySet<string> {
    return new Set(this.#all.filter(({ endedWell }) => !endedWell).map(({ by }) => by))
  }

  /** Those of them that were not killed. */
  get diedOfThemselves(): readonly string[] {
    return this.#all.filter(({ diedOfItself }) => diedOfItself).map(({ by }) => by)
  }

  /** Resolves to a process that is at work, once there is one. */
  async victim(): Promise<PartyProcess> {
    for (;;) {
      const ready = this.#slots.filter(({ isAtWork }) => isAtWork)
      const chosen = ready[Math.floor(this.#random() * ready.length)]
      if (chosen !== undefined) return chosen
      await pause()
    }
  }

  /** Resolves when nothing more is enqueued: at once, or when all have enqueued what they were to. */
  async rest(atOnce: boolean): Promise<void> {
    this.#resting = atOnce
    if (atOnce) for (const each of this.#slots) each.tell('rest')
    while (!this.#slots.every((each) => each.rests && each.isUp)) await pause()
    this.#resting = true
  }

  /** Throws when one of them does not end well. */
  async close(): Promise<void> {
    this.#closing = true
    for (const each of this.#slots) each.tell('close')
    await Promise.all(this.#slots.map(({ ended }) => ended))
    const odd = this.#slots.filter(({ endedWell }) => !endedWell)
    if (odd.length > 0) throw new Error(`${odd.map(({ by }) => by).join()} did not end well`)
  }

  kill(): void {
    this.#closing = true
    for (const each of this.#all) each.kill()
  }

  #start(at: number): void {
    const order = this.#orderOf(at, this.#all.length)
    const started = new PartyProcess(this.#resting ? { ...order, produces: 0, dies: null } : order)
    this.#all.push(started)
    this.#slots[at] = started
    if (this.#resting) started.tell('rest')
    void started.ended.then(() => this.#closing || this.#start(at))
  }
}

export function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20))
}
