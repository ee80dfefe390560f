// Entries that an instance leaves in the outbox of a queue because their target queues are away. The rest of the
// outbox is delivered as usual. One errand delivers what is left for all queues of a node, so that the outbox is not
// read for each queue.

import type { Runtime } from '../../runtime/connection/runtime.ts'
import { Errand } from '../source/chores.ts'
import { type QueueSource, readAddress } from '../source/source.ts'

/** Numbers may go back: new entries may have smaller numbers than those seen. */
const LOOK_AGAIN_MS = 10_000

type BringLeft = (source: QueueSource, left: LeftOnNode) => Promise<void>

/** The outboxes of each instance with entries left. */
const all = new WeakMap<Runtime, Map<string, LeftInOutbox>>()

export function leftOf(source: QueueSource, bringLeft: BringLeft): LeftInOutbox {
  const { runtime, prefix } = source.unit
  const those = all.get(runtime) ?? new Map<string, LeftInOutbox>()
  all.set(runtime, those)
  const key = `${prefix} ${source.codec.name}`
  const keep = (left: LeftInOutbox, isAny: boolean): void =>
    void (isAny ? those.set(key, left) : those.delete(key))
  return those.get(key) ?? new LeftInOutbox(source, bringLeft, keep)
}

export class LeftInOutbox {
  readonly #source: QueueSource
  readonly #bringLeft: BringLeft
  readonly #keep: (left: LeftInOutbox, isAny: boolean) => void
  readonly #nodes = new Map<string, LeftOnNode>()
  /** The node of each queue that is away. */
  readonly #away = new Map<string, LeftOnNode>()
  /** Up to this number all entries are delivered, or are for those queues. */
  #seen = 0
  #looksAgainAt = 0

  constructor(source: QueueSource, bringLeft: BringLeft, keep: (left: LeftInOutbox, isAny: boolean) => void) {
    this.#source = source
    this.#bringLeft = bringLeft
    this.#keep = keep
  }

  /** The number after which there may be entries to deliver; 0 to read all. */
  get beginsAfter(): number {
    const isKnown = this.#away.size > 0 && performance.now() < this.#looksAgainAt
    return isKnown ? this.#seen : 0
  }

  /** All entries after `after` and up to this number were read. */
  note(after: number, number: number): void {
    if (after === 0) this.#looksAgainAt = performance.now() + LOOK_AGAIN_MS
    this.#seen = number
  }

  lookAgain(): void {
    this.#looksAgainAt = 0
  }

  /**
   * Whether entries for that queue are left. Then those from `number` on are left, too: its errand may not have read
   * them.
   */
  has(target: string, number: number): boolean {
    const node = this.#away.get(target)
    node?.add(target, number)
    return node !== undefined
  }

  /** Whether the node of that queue does not answer. */
  isSilent(target: string): boolean {
    return this.#nodes.size > 0 && this.#nodes.get(this.#nodeOf(target))?.isSilent === true
  }

  answered(target: string): void {
    if (this.#nodes.size > 0) this.#nodes.get(this.#nodeOf(target))?.answered()
  }

  /** Notes that a queue is away. Returns what is left for its node. */
  leave(target: string, number: number): LeftOnNode {
    const node = this.#away.get(target) ?? this.#open(this.#nodeOf(target))
    this.#away.set(target, node)
    this.#keep(this, true)
    node.add(target, number)
    return node
  }

  #open(name: string): LeftOnNode {
    const known = this.#nodes.get(name)
    if (known !== undefined) return known
    const node = new LeftOnNode(this.#source.unit.runtime, {
      bring: (left) => this.#bringLeft(this.#source, left),
      onBack: (target) => void this.#away.delete(target),
      onIdle: () => this.#close(name),
    })
    this.#nodes.set(name, node)
    return node
  }

  #close(name: string): void {
    this.#nodes.delete(name)
    if (this.#nodes.size === 0) this.#keep(this, false)
  }

  /** Without a driver that knows the nodes, each queue counts as a node of its own. */
  #nodeOf(target: string): string {
    const { runtime, place } = this.#source.unit
    const { name, partition } = readAddress(target)
    const prefix = runtime.prefix(
      place.structure,
      name,
      partition === null ? undefined : `${partition.number}`,
    )
    return runtime.runner.driver.placeOf?.(`${prefix}:`) ?? prefix
  }
}

// Entries that are left for the queues of one node. The errand reads the outbox from the first entry that is left. It
// repeats that from entries that were added meanwhile, for queues that have not failed: these are not away any more.

/** No entry: greater than all numbers. */
const NOTHING: number = Infinity

export interface LeftTerms {
  /** Tries all queues. Throws when the outbox cannot be read. */
  bring(left: LeftOnNode): Promise<void>
  /** No entry is left for that queue. */
  onBack(target: string): void
  /** No entry is left. */
  onIdle(): void
}

export class LeftOnNode {
  readonly #terms: LeftTerms
  readonly #errand: Errand
  /** The queues that are away, with the first number that was added since their last try. */
  readonly #away = new Map<string, number>()
  /** The queues of the current try, with the number to start from. */
  readonly #trying = new Map<string, number>()
  /** The queues that failed in this try. */
  readonly #failed = new Set<string>()
  /** Queues without an answer since the node's last answer, the last tried one at the end. */
  readonly #unanswered = new Set<string>()

  constructor(runtime: Runtime, terms: LeftTerms) {
    this.#terms = terms
    this.#errand = new Errand(runtime, {
      insists: true,
      task: () => this.#try(),
      onIdle: () => terms.onIdle(),
    })
  }

  /** Adds the entries for the queue from that number on. */
  add(target: string, number: number): void {
    this.#keep(target, number)
    void this.#errand.request()
  }

  /** The queue was not known to be away: it does not wait for a long pause that other queues have caused. */
  soon(target: string, isAnswered: boolean): void {
    if (isAnswered) this.answered()
    else this.notAnswered(target)
    void this.#errand.soon()
  }

  /** True when more than one queue did not answer. A single one may be slow although its node is up. */
  get isSilent(): boolean {
    return this.#unanswered.size > 1
  }

  answered(): void {
    this.#unanswered.clear()
  }

  notAnswered(target: string): void {
    this.#unanswered.delete(target)
    this.#unanswered.add(target)
  }

  /** Unanswered queues come last, the last tried one at the end: so the queue that is tried first changes. */
  inTurn<Queue extends { readonly target: string }>(queues: readonly Queue[]): Queue[] {
    const places = new Map([...this.#unanswered].map((target, at) => [target, at]))
    const placeOf = ({ target }: Queue): number => places.get(target) ?? -1
    return queues.toSorted((one, other) => placeOf(one) - placeOf(other))
  }

  async #try(): Promise<void> {
    this.#failed.clear()
    await this.#terms.bring(this)
    if (this.#away.size > 0) throw new Error('some queues are away')
  }

  /** The number to read the outbox from; null when all that is left has failed. */
  begin(): number | null {
    let first = NOTHING
    for (const [target, from] of this.#away) {
      if (from === NOTHING || this.#failed.has(target)) continue
      this.#trying.set(target, from)
      this.#away.set(target, NOTHING)
      first = Math.min(first, from)
    }
    return first === NOTHING ? null : first
  }

  /** Every queue of this try has failed. */
  get isOver(): boolean {
    return this.#trying.size === 0
  }

  tries(target: string): boolean {
    return this.#trying.has(target)
  }

  /** Its entries must be delivered again, from the first one on. */
  again(target: string): void {
    this.#trying.delete(target)
    this.#keep(target, 0)
  }

  fail(target: string): void {
    this.#failed.add(target)
    this.#keep(target, this.#trying.get(target) ?? 0)
    this.#trying.delete(target)
  }

  failAll(): void {
    for (const target of this.#trying.keys()) this.fail(target)
  }

  /** All entries of the queues that were tried and have not failed are delivered. */
  end(): void {
    for (const target of this.#trying.keys()) {
      if (this.#away.get(target) !== NOTHING) continue
      this.#away.delete(target)
      this.#terms.onBack(target)
    }
    this.#trying.clear()
  }

  #keep(target: string, number: number): void {
    this.#away.set(target, Math.min(this.#away.get(target) ?? NOTHING, number))
  }
}
