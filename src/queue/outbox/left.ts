// What an instance leaves in the outbox of a queue, for it goes to queues that are away. Meanwhile the rest of the outbox is brought
// as ever. Of queues that are on one node one errand sees to what is left, so that the outbox is not read for each of them.

import type { Runtime } from '../../runtime/connection/runtime.ts'
import { readAddress } from '../source/address.ts'
import { LeftOnNode } from './left-on-node.ts'
import type { Source } from '../source/source.ts'

/** Numbers may go back: what is put out may stand before what was seen. */
const LOOK_AGAIN_MS = 10_000

type BringLeft = (source: Source, left: LeftOnNode) => Promise<void>

/** Of each instance those that leave something. */
const all = new WeakMap<Runtime, Map<string, Left>>()

export function leftOf(source: Source, bringLeft: BringLeft): Left {
  const { runtime, prefix } = source.unit
  const those = all.get(runtime) ?? new Map<string, Left>()
  all.set(runtime, those)
  const key = `${prefix} ${source.codec.name}`
  const keep = (left: Left, isAny: boolean): void => void (isAny ? those.set(key, left) : those.delete(key))
  return those.get(key) ?? new Left(source, bringLeft, keep)
}

export class Left {
  readonly #source: Source
  readonly #bringLeft: BringLeft
  readonly #keep: (left: Left, isAny: boolean) => void
  readonly #nodes = new Map<string, LeftOnNode>()
  /** Which of them has what goes to a queue. */
  readonly #away = new Map<string, LeftOnNode>()
  /** Up to this number all is brought, or goes to those queues. */
  #seen = 0
  #looksAgainAt = 0

  constructor(source: Source, bringLeft: BringLeft, keep: (left: Left, isAny: boolean) => void) {
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
