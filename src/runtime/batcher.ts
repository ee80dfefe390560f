// Calls made in the same tick travel together: groups of items wait until the tick is over, or until one
// of the calls under way is back, and are then sent as one. A group is never split.

import { DriverError } from './errors.ts'

export interface BatchLimits {
  readonly items: number
  readonly bytes: number
  /** Batches sent and not answered. Two: the server works on one while the next is built. */
  readonly underWay: number
  /** Items that may wait in this process; more are refused, so that memory stays bounded. */
  readonly waiting: number
}

interface Group<Result> {
  readonly count: number
  readonly bytes: number
  deliver(results: readonly Result[], from: number): void
  reject(error: unknown): void
}

/** A group of one. A class: two closures a call would show in the profile. */
class Single<Result> implements Group<Result> {
  readonly count = 1
  readonly bytes: number
  readonly reject: (error: unknown) => void
  readonly #resolve: (result: Result) => void

  constructor(bytes: number, resolve: (result: Result) => void, reject: (error: unknown) => void) {
    this.bytes = bytes
    this.#resolve = resolve
    this.reject = reject
  }

  deliver(results: readonly Result[], from: number): void {
    this.#resolve(results[from] as Result)
  }
}

// Below this many groups, one batch; above it they are shared out, so that client and server overlap.
const WORTH_SHARING = 16

export class Batcher<Item, Result> {
  readonly #send: (items: Item[]) => Promise<Result[]>
  readonly #limits: BatchLimits
  readonly #onIdle: () => void
  #items: Item[] = []
  #groups: Group<Result>[] = []
  #underWay = 0
  #scheduled = false

  /** `onIdle` is called whenever nothing waits and nothing is under way any more. */
  constructor(send: (items: Item[]) => Promise<Result[]>, limits: BatchLimits, onIdle: () => void) {
    this.#send = send
    this.#limits = limits
    this.#onIdle = onIdle
  }

  /** Adds one item; resolves to its result. Rejects as the call that carried it. */
  addOne(item: Item, bytes: number): Promise<Result> {
    return new Promise((resolve, reject) => {
      const group = new Single<Result>(bytes, resolve, reject)
      if (!this.#accepts(group)) return
      this.#items.push(item)
      this.#schedule()
    })
  }

  /** Adds items that must stay together; resolves to their results in order. */
  add(items: readonly Item[], bytes: number): Promise<Result[]> {
    return new Promise((resolve, reject) => {
      const deliver = (results: readonly Result[], from: number): void =>
        resolve(results.slice(from, from + items.length))
      if (!this.#accepts({ count: items.length, bytes, deliver, reject })) return
      for (const item of items) this.#items.push(item)
      this.#schedule()
    })
  }

  #accepts(group: Group<Result>): boolean {
    if (this.#items.length + group.count > this.#limits.waiting) {
      group.reject(new DriverError('overloaded', 'too many calls wait for the server'))
      return false
    }
    this.#groups.push(group)
    return true
  }

  #schedule(): void {
    if (this.#scheduled || !this.#maySend()) return
    this.#scheduled = true
    process.nextTick(() => this.#flush())
  }

  // One batch a turn of the event loop: Redis answers all that it reads at once only when all of it is
  // done, so two batches written together would be answered together, and neither side would overlap.
  #flush(): void {
    this.#scheduled = false
    if (!this.#maySend()) return
    const free = this.#limits.underWay - this.#underWay
    const waiting = this.#groups.length
    this.#carry(waiting < WORTH_SHARING ? waiting : Math.ceil(waiting / free))
    if (!this.#maySend()) return
    this.#scheduled = true
    setImmediate(() => this.#flush())
  }

  #maySend(): boolean {
    return this.#groups.length > 0 && this.#underWay < this.#limits.underWay
  }

  /** Sends the next `most` groups, or as many of them as fit. */
  #carry(most: number): void {
    let [items, bytes, count] = [0, 0, 0]
    for (const group of this.#groups) {
      if (count === most) break
      bytes += group.bytes
      if (count > 0 && (items + group.count > this.#limits.items || bytes > this.#limits.bytes)) break
      items += group.count
      count += 1
    }
    const groups = this.#groups.splice(0, count)
    this.#underWay += 1
    this.#send(this.#items.splice(0, items)).then(
      (results) => this.#delivered(groups, results),
      (error: unknown) => this.#lost(groups, error),
    )
  }

  #delivered(groups: Group<Result>[], results: Result[]): void {
    let from = 0
    for (const group of groups) {
      group.deliver(results, from)
      from += group.count
    }
    this.#settled()
  }

  #lost(groups: Group<Result>[], error: unknown): void {
    for (const group of groups) group.reject(error)
    this.#settled()
  }

  #settled(): void {
    this.#underWay -= 1
    if (this.#underWay === 0 && this.#groups.length === 0) this.#onIdle()
    else this.#schedule()
  }
}
