// What is left for queues that are on one node. Its errand goes through the outbox from the first entry on that is left, and again
// from what was added meanwhile for queues that have not failed: these are not away any more.

import type { Runtime } from '../../runtime/connection/runtime.ts'
import { Errand } from '../source/errand.ts'

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
