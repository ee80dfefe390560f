// How many partitions a queue has. The number is part of the codec's name, which every partition stores and every
// script checks, so that two processes that disagree about it cannot both use a partition. One that is empty knows no
// codec: so partition 0 is begun before anything else is, and asked by whoever only looks.

import { enqueue, inspect } from '../generated/queue.ts'
import { learnTold } from '../runtime/told.ts'
import type { Source } from './source.ts'

export class Agreement {
  readonly #first: Source
  #began: Promise<void> | null = null

  constructor(first: Source) {
    this.#first = first
  }

  /** Throws InvalidArgumentError when the queue has another number of partitions. */
  establish(): Promise<void> {
    if (this.#began === null) {
      const began = this.#begin()
      this.#began = began
      began.catch(() => {
        if (this.#began === began) this.#began = null
      })
    }
    return this.#began
  }

  /** As `establish`, without beginning anything. */
  async check(): Promise<void> {
    if (this.#began !== null) return this.#began
    const { unit, codec } = this.#first
    const { beganMs } = await unit.run(inspect, { codec: codec.name })
    if (beganMs > 0) this.#began = Promise.resolve()
  }

  /** The queue was cleared. */
  forget(): void {
    this.#began = null
  }

  /** No job enqueued begins a queue as any number of them does. */
  async #begin(): Promise<void> {
    const { unit, codec } = this.#first
    const call = { codec: codec.name, caller: '', call: '0', ...(await learnTold(unit)) }
    await unit.run(enqueue, { ...call, specs: [] })
  }
}
