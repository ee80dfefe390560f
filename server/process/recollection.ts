// What a process remembers of the store for a moment, because it needs it on every call.
//
// With several processes this means: a change made through one of them counts in the others about a
// second later, at the latest with the first call after ten seconds.

import { BoundedMap } from './bounded-map.ts'

/** What is remembered under one name. */
export interface Remembered<Value> {
  readonly value: Promise<Value>
  readonly since: number
  refreshing: Promise<Value> | null
}

export interface RecollectionOptions {
  /** How long a value is used without looking again, in milliseconds. */
  readonly freshMs: number
  readonly maxNames: number
}

// Beyond this many times its fresh time, a value is not used any more before it has been looked at again.
const USABLE_TIMES = 10

export class Recollection<Value> {
  readonly #freshMs: number
  readonly #remembered: BoundedMap<Remembered<Value>>

  constructor({ freshMs, maxNames }: RecollectionOptions) {
    this.#freshMs = freshMs
    this.#remembered = new BoundedMap(maxNames)
  }

  /** The value as it was a moment ago; `look` is asked where none is known, or it is old. */
  recall(name: string, look: () => Promise<Value>): Promise<Value> {
    const known = this.#remembered.get(name)
    if (known === undefined) return this.read(name, look)
    const age = performance.now() - known.since
    if (age < this.#freshMs) return known.value
    const refreshing = (known.refreshing ??= this.#refresh(name, known, look))
    if (age >= this.#freshMs * USABLE_TIMES) return refreshing
    // Nobody waits for it: should it fail, the next call looks by itself.
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

  /** Looks again. What this process itself has changed in the meantime stays. */
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
