// What an instance leaves in the outbox of a queue, for it goes to queues that are away. Meanwhile the rest of the outbox is brought
// as ever. Of queues that are on one node one errand sees to what is left, so that the outbox is not read for each of them.

import type { Runtime } from '../../runtime/connection/runtime.ts'
import { Errand } from '../source/chores.ts'
import { type QueueSource, readAddress } from '../source/source.ts'

/** Numbers may go back: what is put out may stand before what was seen. */
const LOOK_AGAIN_MS = 10_000

type BringLeft = (source: QueueSource, left: LeftOnNode) => Promise<void>

/** Of each instance those that leave something. */
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
  /** Which of them has what goes to a queue. */
  readonly #away = new Map<string, LeftOnNode>()
  /** Up to this number all is brought, or goes to those queues. */
  #seen = 0
  #looksAgainAt = 0

  constructor(source: QueueSource, bringLeft: BringLeft, keep: (left: LeftInOutbox, isAny: boolean) => void) {
    this.#source = source
    this.#bringLeft = bringLeft
    this.#keep = keep
  }

  /** The number behind which there may be something to bring; 0: look at all. */
  get beginsAfter(): number {
    const isKnown = this.#away.size > 0 && performance.now() < this.#looksAgainAt
    return isKnown ? this.#seen : 0
  }

  /** All was looked at that is behind `after`, up to this number. */
  note(after: number, number: number): void {
    if (after === 0) this.#looksAgainAt = performance.now() + LOOK_AGAIN_MS
    this.#seen = number
  }

  lookAgain(): void {
    this.#looksAgainAt = 0
  }

  /** Whether what goes to that queue is left: then it is from that number on, too, which may have come since its errand looked. */
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

  /** That queue is away; answers what is left on its node. */
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

  /** Where nobody knows which queues are on one node, each is taken for one by itself. */
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

// What is left for queues that are on one node. Its errand goes through the outbox from the first entry on that is left, and again
// from what was added meanwhile for queues that have not failed: these are not away any more.

/** No entry: greater than all numbers. */
const NOTHING: number = Infinity

export interface LeftTerms {
  /** Tries all. Throws where some is still left. */
  bring(left: LeftOnNode): Promise<void>
  /** Nothing is left for that queue. */
  onBack(target: string): void
  /** Nothing is left. */
  onIdle(): void
}

export class LeftOnNode {
  readonly #terms: LeftTerms
  readonly #errand: Errand
  /** Queues that are away, and the first number that was added since they were tried. */
  readonly #away = new Map<string, number>()
  /** Those that are being tried, and from which number on. */
  readonly #trying = new Map<string, number>()
  /** In this try. */
  readonly #failed = new Set<string>()
  /** Queues that were not answered for since the node has answered, the one that was tried last behind the others. */
  readonly #unanswered = new Set<string>()

  constructor(runtime: Runtime, terms: LeftTerms) {
    this.#terms = terms
    this.#errand = new Errand(runtime, {
      insists: true,
      task: () => this.#try(),
      onIdle: () => terms.onIdle(),
    })
  }

  /** From that number on, what goes to the queue is to be brought. */
  add(target: string, number: number): void {
    this.#keep(target, number)
    void this.#errand.tell()
  }

  /** That this queue is away was not known before: no pause that others have brought about is waited for. */
  soon(target: string, isAnswered: boolean): void {
    if (isAnswered) this.answered()
    else this.notAnswered(target)
    void this.#errand.soon()
  }

  /** Of one queue alone it is not known whether its node is away, or what goes there cannot be brought in time. */
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

  /** Those first of which nothing speaks against their node: none is always the one that stands for all. */
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

  /** From which number on to go through the outbox; null: nothing is left but what has failed. */
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

  /** All that was tried has failed. */
  get isOver(): boolean {
    return this.#trying.size === 0
  }

  tries(target: string): boolean {
    return this.#trying.has(target)
  }

  /** It is to be brought again, from the first entry on. */
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

  /** All is brought of those that were tried, and have not failed. */
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
