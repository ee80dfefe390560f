// An ordered list of entries under way, of which many are added and removed each second. A Set would work, but V8 keeps
// the old tables of a grown Set, with their contents, until a full garbage collection. Under steady load, many
// short-lived entries then survive for seconds, and moving them takes up to half of a process's time. A removed entry
// of this list has no links.

/** In at most one list at a time; both links are undefined while it is in none. */
export interface Linked {
  previous?: Linked | undefined
  next?: Linked | undefined
}

/** A handle for other code, which hides the neighbors in the list. */
export class ListPlace<Value> implements Linked {
  previous: Linked | undefined = undefined
  next: Linked | undefined = undefined
  readonly value: Value

  constructor(value: Value) {
    this.value = value
  }
}

export class LinkedList<Item extends Linked> implements Iterable<Item> {
  /** Closes the ring: after the last entry, before the first. */
  readonly #ring: Linked = { previous: undefined, next: undefined }
  #size = 0

  constructor() {
    this.#ring.previous = this.#ring
    this.#ring.next = this.#ring
  }

  get size(): number {
    return this.#size
  }

  /** True while the item is in a list, and so in this one. */
  has(item: Item): boolean {
    return item.next !== undefined
  }

  /** Appends the item, unless it is in the list already. */
  add(item: Item): void {
    if (item.next !== undefined) return
    const last = this.#ring.previous as Linked
    item.previous = last
    item.next = this.#ring
    last.next = item
    this.#ring.previous = item
    this.#size += 1
  }

  /** False when the item was not in the list. */
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

  /** The current entries, oldest first. Entries may be added and removed in between; removed ones are skipped. */
  *[Symbol.iterator](): Generator<Item, void> {
    for (const item of this.first(this.#size)) if (this.has(item)) yield item
  }

  /** The oldest current entries, at most `most`. */
  first(most: number): Item[] {
    const items: Item[] = []
    for (let at = this.#ring.next; at !== this.#ring && items.length < most; at = at?.next) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only items are added
      items.push(at as Item)
    }
    return items
  }
}
