// Failed final calls, grouped by node. An outage may leave many of them, and they are not retried one by one: of the
// calls that failed on one node for the same reason, one is retried each second on behalf of the others.
//
//   AWAY: the node could not decide ──it has decided about one, with any result──► the others are sent
//   REFUSED ──one is accepted──► the others are sent
//
// So neither an unreachable node nor permanently rejected calls delay calls to a node that is back.

import { startTimer, type Timer } from '../time/timer.ts'

const TRY_AFTER_MS = 1000
/** The limit after an outage, so that other calls are served too. */
const MOST_AT_ONCE = 1000

interface Group<Item> {
  readonly name: string
  readonly isAway: boolean
  readonly items: Set<Item>
  timer: Timer | null
}

export class Unsaid<Item> {
  readonly #say: (item: Item) => Promise<void>
  readonly #groups = new Map<string, Group<Item>>()
  readonly #groupOf = new Map<Item, Group<Item>>()

  /** `say` never rejects: a call that fails again is added again. */
  constructor(say: (item: Item) => Promise<void>) {
    this.#say = say
  }

  /** `isAway`: the node could not decide, or did not answer. */
  add(item: Item, node: string, isAway: boolean): void {
    this.delete(item)
    const group = this.#group(node, isAway)
    group.items.add(item)
    this.#groupOf.set(item, group)
    this.#plan(group)
  }

  /** False when the item is not among them. */
  delete(item: Item): boolean {
    const group = this.#groupOf.get(item)
    if (group === undefined) return false
    this.#groupOf.delete(item)
    group.items.delete(item)
    if (group.items.size === 0) this.#forget(group)
    return true
  }

  clear(): void {
    for (const group of this.#groups.values()) this.#forget(group)
    this.#groupOf.clear()
  }

  #group(node: string, isAway: boolean): Group<Item> {
    const name = `${isAway ? 'away' : 'refused'} ${node}`
    const known = this.#groups.get(name)
    if (known !== undefined) return known
    const group: Group<Item> = { name, isAway, items: new Set(), timer: null }
    this.#groups.set(name, group)
    return group
  }

  #forget(group: Group<Item>): void {
    group.timer?.cancel()
    group.timer = null
    group.items.clear()
    this.#groups.delete(group.name)
  }

  #plan(group: Group<Item>): void {
    group.timer ??= startTimer(() => void this.#tryOne(group), TRY_AFTER_MS).unref()
  }

  async #tryOne(group: Group<Item>): Promise<void> {
    group.timer = null
    const [one] = group.items
    if (one === undefined) return
    // So that the next attempt takes another one.
    this.delete(one)
    await this.#say(one)
    const failed = this.#groupOf.get(one)
    if (failed === undefined || (group.isAway && !failed.isAway)) await this.#sayOthers(group)
    if (group.items.size > 0) this.#plan(group)
  }

  async #sayOthers(group: Group<Item>): Promise<void> {
    const others = [...group.items]
    while (others.length > 0) {
      const some = others.splice(0, MOST_AT_ONCE).filter((item) => group.items.has(item) && this.delete(item))
      await Promise.all(some.map((item) => this.#say(item)))
      // The node is unreachable again: the rest stays unsent.
      if (some.some((item) => this.#groupOf.get(item)?.isAway)) return
    }
  }
}
