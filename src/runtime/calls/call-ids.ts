// Call ids make a mutating call safe to repeat: for each slot the script stores the last call and its answer. A slot is
// free again once its call has settled, so there are only as many slots as this process has calls under way on one
// unit. A delayed call is rejected when a later call has taken its slot. So a call that replaces another one must use
// the same slot.

import { randomBytes } from 'node:crypto'

export interface CallId {
  /** Process and slot. */
  readonly caller: string
  /** Increases; never used twice by this process. */
  readonly call: string
}

export class CallIds {
  readonly #process = randomBytes(9).toString('base64url')
  readonly #busy = new Map<string, boolean[]>()
  #last = 0

  /** Takes the lowest free slot of a unit, until it is given back. */
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
