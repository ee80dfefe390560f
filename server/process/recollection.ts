// Values of the store that a process remembers for a moment, because every call needs them. With several processes this
// means: a change through one of them takes effect in the others about a second later, at the latest with the first
// call after ten seconds.

import { BoundedMap } from './bounded-map.ts'

/** The value remembered under one name. */
export interface Remembered<Value> {
  readonly value: Promise<Value>
  readonly since: number
  refreshing: Promise<Value> | null
}

export interface RecollectionOptions {
  /** How long a value is used without a refresh, in milliseconds. */
  readonly freshMs: number
  readonly maxNames: number
}

// After this many times its fresh time, a value is not used before it has been refreshed.
const USABLE_TIMES = 10

export class Recollection<Value> {
  readonly #freshMs: number
  readonly #remembered: BoundedMap<Remembered<Value>>

  constructor({ freshMs, maxNames }: RecollectionOptions) {
    this.#freshMs = freshMs
    this.#remembered = new BoundedMap(maxNames)
  }

  /** The value as it was a moment ago. `look` is called if none is known, or it is old. */
  recall(name: string, look: () => Promise<Value>): Promise<Value> {
    const known = this.#remembered.get(name)
    if (known === undefined) return this.read(name, look)
    const age = performance.now() - known.since
    if (age < this.#freshMs) return known.value
    const refreshing = (known.refreshing ??= this.#refresh(name, known, look))
    if (age >= this.#freshMs * USABLE_TIMES) return refreshing
    // Not awaited: if it fails, the next call looks by itself.
    refreshing.catch(() => undefined)
    return known.value
  }

  /** The value as it is stored. */
  read(name: string, look: () => Promise<Value>): Promise<Value> {
    const value = look()
    const remembered = this.#set(name, value)
    value.catch(() => this.#forget(name, remembered))
    return value
  }

  remember(name: string, value: Value): void {
    this.#set(name, Promise.resolve(value))
  }

  forget(name: string): void {
    this.#remembered.delete(name)
  }

  #set(name: string, value: Promise<Value>): Remembered<Value> {
    const remembered = { value, since: performance.now(), refreshing: null }
    this.#remembered.set(name, remembered)
    return remembered
  }

  /** Refreshes the value. Changes made by this process in the meantime stay. */
  async #refresh(name: string, known: Remembered<Value>, look: () => Promise<Value>): Promise<Value> {
    try {
      const value = await look()
      if (this.#remembered.get(name) === known) this.remember(name, value)
      return value
    } catch (error) {
      this.#forget(name, known)
      throw error
    }
  }

  #forget(name: string, known: Remembered<Value>): void {
    if (this.#remembered.get(name) === known) this.#remembered.delete(name)
  }
}
