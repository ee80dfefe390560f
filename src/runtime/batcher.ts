// Calls made in the same tick travel together: groups of items wait until the tick is over, or until one
// of the calls under way is back, and are then sent as one. A group is never split.

import { DriverError } from './errors.ts'

export interface BatchLimits {
  readonly items: number
  readonly bytes: number
  /** Two: while the server works on one batch, the next one is built and sent. */
  readonly underWay: number
  /** Items that may wait in this process; more are refused, so that memory stays bounded. */
  readonly waiting: number
}

interface Group<Item, Result> {
  readonly items: readonly Item[]
  readonly bytes: number
  resolve(results: Result[]): void
  reject(error: unknown): void
}

export class Batcher<Item, Result> {
  readonly #send: (items: Item[]) => Promise<Result[]>
  readonly #limits: BatchLimits
  readonly #onIdle: () => void
  #groups: Group<Item, Result>[] = []
  #waiting = 0
  #underWay = 0
  #scheduled = false

  /** `onIdle` is called whenever nothing waits and nothing is under way any more. */
  constructor(send: (items: Item[]) => Promise<Result[]>, limits: BatchLimits, onIdle: () => void) {
    this.#send = send
    this.#limits = limits
    this.#onIdle = onIdle
  }

  /** Adds a group; resolves to its results in order. Rejects as the call that carried it. */
  add(items: readonly Item[], bytes: number): Promise<Result[]> {
    if (this.#waiting + items.length > this.#limits.waiting) {
      return Promise.reject(new DriverError('overloaded', 'too many calls wait for the server'))
    }
    return new Promise((resolve, reject) => {
      this.#groups.push({ items, bytes, resolve, reject })
      this.#waiting += items.length
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#scheduled || this.#groups.length === 0 || this.#underWay >= this.#limits.underWay) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    while (this.#groups.length > 0 && this.#underWay < this.#limits.underWay) {
      this.#carry(this.#nextBatch())
    }
  }

  #nextBatch(): Group<Item, Result>[] {
    let [items, bytes, count] = [0, 0, 0]
    for (const group of this.#groups) {
      items += group.items.length
      bytes += group.bytes
      if (count > 0 && (items > this.#limits.items || bytes > this.#limits.bytes)) break
      count += 1
    }
    return this.#groups.splice(0, count)
  }

  #carry(groups: Group<Item, Result>[]): void {
    const items = groups.flatMap((group) => group.items)
    this.#waiting -= items.length
    this.#underWay += 1
    this.#send(items).then(
      (results) => this.#delivered(groups, results),
      (error: unknown) => this.#lost(groups, error),
    )
  }

  #delivered(groups: Group<Item, Result>[], results: Result[]): void {
    let at = 0
    for (const group of groups) group.resolve(results.slice(at, (at += group.items.length)))
    this.#settled()
  }

  #lost(groups: Group<Item, Result>[], error: unknown): void {
    for (const group of groups) group.reject(error)
    this.#settled()
  }

  #settled(): void {
    this.#underWay -= 1
    if (this.#underWay === 0 && this.#groups.length === 0) this.#onIdle()
    else this.#schedule()
  }
}
