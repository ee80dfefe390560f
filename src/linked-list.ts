// Those that are under way, in the order in which they came, for what many begin and end each second. A Set would do; but V8 keeps
// the table that a Set has outgrown, and all that was in it, for as long as a full collection has not run: under steady load much of
// what ends at once lives for seconds, and up to half of a process' time goes into moving it. Here what leaves is linked to nothing.

/** What is in no more than one list at a time; both are undefined while it is in none. */
export interface Linked {
  previous?: Linked | undefined
  next?: Linked | undefined
}

/** For what others see, and is not to show what comes before and after it. */
export class ListPlace<Value> implements Linked {
  previous: Linked | undefined = undefined
  next: Linked | undefined = undefined
  readonly value: Value

  constructor(value: Value) {
    this.value = value
  }
}

export class LinkedList<Item extends Linked> implements Iterable<Item> {
  /** It closes the ring: behind the last, before the first. */
  readonly #ring: Linked = { previous: undefined, next: undefined }
  #size = 0

  constructor() {
    this.#ring.previous = this.#ring
    this.#ring.next = this.#ring
  }

  get size(): number {
    return this.#size
  }

  /** True while it is in a list: this one, for it is in no other. */
  has(item: Item): boolean {
    return item.next !== undefined
  }

  /** Behind all others, unless it is in already. */
  add(item: Item): void {
    if (item.next !== undefined) return
    const last = this.#ring.previous as Linked
    item.previous = last
    item.next = this.#ring
    last.next = item
    this.#ring.previous = item
    this.#size += 1
  }

  /** False when it was not in. */
  delete(item: Item): boolean {
    const { previous, next } = item
    if (previous === undefined || next === undefined) return false
    previous.next = next
    next.previous = previous
    item.previous = undefined
    item.next = undefined
    this.#size -= 1
    return true
  }

  /** Those that are in now, the first first: others may come and go meanwhile, and what has gone is passed over. */
  *[Symbol.iterator](): Generator<Item, void> {
    for (const item of this.first(this.#size)) if (this.has(item)) yield item
  }

  /** So many of those that are in now, or all, the first first. */
  first(most: number): Item[] {
    const items: Item[] = []
    for (let at = this.#ring.next; at !== this.#ring && items.length < most; at = at?.next) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only items are added
      items.push(at as Item)
    }
    return items
  }
}
