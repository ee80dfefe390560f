// The exchangers of one worker: one, or one for each partition. What is free is shared out among those that may ask,
// each time beginning with another one, so that no partition with many jobs holds up those with few.

import type { Exchanger } from './exchanger.ts'

export class Exchangers {
  readonly #all: readonly Exchanger[]
  readonly #free: () => number
  #turn = 0
  #scheduled = false

  /** `free`: how many jobs could be taken now, those asked for included. */
  constructor(free: () => number, make: (plan: () => void, hasRoom: () => boolean) => Exchanger[]) {
    this.#free = free
    this.#all = make(
      () => this.plan(),
      () => this.#room() > 0,
    )
    this.plan()
  }

  /** There may be something to send. What one tick brings travels together. */
  plan(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#exchange()
    })
  }

  /** Asks for no more jobs from now on. */
  stopAsking(): void {
    for (const exchanger of this.#all) exchanger.stopAsking()
  }

  /** No time is left: what waits is sent now, and not tried again. */
  hurry(): void {
    for (const exchanger of this.#all) exchanger.hurry()
  }

  /** Resolves when all acks are told. */
  async end(): Promise<void> {
    await Promise.all(this.#all.map((exchanger) => exchanger.end()))
  }

  #room(): number {
    return this.#free() - this.#all.reduce((sum, { asked }) => sum + asked, 0)
  }

  #exchange(): void {
    const shares = this.#shares()
    for (const exchanger of this.#all) exchanger.exchange(shares.get(exchanger) ?? 0)
  }

  /** Equal ones; what cannot be divided goes to those whose turn it is. One that is silent takes nothing away from the others. */
  #shares(): Map<Exchanger, number> {
    const inTurn = [...this.#all.slice(this.#turn), ...this.#all.slice(0, this.#turn)]
    const mayAsk = inTurn.filter((each) => each.mayAsk)
    const asking = mayAsk.filter(({ isSilent }) => !isSilent)
    const room = Math.max(0, this.#room())
    const shares = new Map(mayAsk.map((each) => [each, Math.ceil(room / this.#all.length)]))
    if (asking.length === 0) return shares
    const over = room % asking.length
    const last = asking[over - 1]
    if (last !== undefined) this.#turn = (this.#all.indexOf(last) + 1) % this.#all.length
    for (const [at, each] of asking.entries()) {
      shares.set(each, Math.floor(room / asking.length) + (at < over ? 1 : 0))
    }
    return shares
  }
}
