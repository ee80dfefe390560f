// Call ids make a mutating call safe to repeat: the script remembers, a slot, the last call and its
// answer. A slot is free again once its call has settled, so few slots are ever used: as many as calls
// that this process has under way on one unit.

import { randomBytes } from 'node:crypto'

export interface CallId {
  /** Process and slot. */
  readonly caller: string
  /** Never used twice by this process. */
  readonly call: string
  readonly slot: number
}

export class CallIds {
  readonly #process = randomBytes(9).toString('base64url')
  readonly #busy = new Map<string, boolean[]>()
  #last = 0

  take(unit: string): CallId {
    let busy = this.#busy.get(unit)
    if (busy === undefined) this.#busy.set(unit, (busy = []))
    let slot = busy.indexOf(false)
    if (slot === -1) slot = busy.length
    busy[slot] = true
    this.#last += 1
    return { caller: `${this.#process}.${slot}`, call: String(this.#last), slot }
  }

  giveBack(unit: string, id: CallId): void {
    const busy = this.#busy.get(unit)
    if (busy === undefined) return
    busy[id.slot] = false
    if (!busy.includes(true)) this.#busy.delete(unit)
  }
}
