// Call ids make a mutating call safe to repeat: the script remembers, a slot, the last call and its
// answer. A slot is free again once its call has settled, so few slots are ever used: as many as calls
// that this process has under way on one unit. A call whose bytes arrive when a later one has taken its
// slot is refused, so what replaces a call must run in the same slot.

import { randomBytes } from 'node:crypto'

export interface CallId {
  /** Process and slot. */
  readonly caller: string
  /** Rises; never used twice by this process. */
  readonly call: string
}

export class CallIds {
  readonly #process = randomBytes(9).toString('base64url')
  readonly #busy = new Map<string, boolean[]>()
  #last = 0

  /** The lowest free slot of a unit; it is taken until it is given back. */
  takeSlot(unit: string): number {
    let busy = this.#busy.get(unit)
    if (busy === undefined) this.#busy.set(unit, (busy = []))
    const free = busy.indexOf(false)
    const slot = free === -1 ? busy.length : free
    busy[slot] = true
    return slot
  }

  giveBack(unit: string, slot: number): void {
    const busy = this.#busy.get(unit)
    if (busy === undefined) return
    busy[slot] = false
    if (!busy.includes(true)) this.#busy.delete(unit)
  }

  next(slot: number): CallId {
    this.#last += 1
    return { caller: `${this.#process}.${slot}`, call: String(this.#last) }
  }
}
