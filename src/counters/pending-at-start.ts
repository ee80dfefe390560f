import { inspect, type SealAnswer } from '../generated/counters.ts'
import type { CountersPartition } from './source.ts'

export type Sealed = Extract<SealAnswer, { status: 'sealed' }>

/**
 * Which batches have increments that were pending when a flush began: under steady increments it would not end
 * otherwise. Increments are set aside together, in as many batches as they need, which all name the time of the oldest
 * increment. Those of the first batch are pending, and so is what waits next to it. Of others the time decides: the
 * clock may step back, and a new epoch forgets the times.
 */
export class PendingAtStart {
  readonly #partition: CountersPartition
  /** When the oldest increments were made, by the server's clock of then. */
  #times: ReadonlySet<number> | undefined
  #beganMs = Infinity

  constructor(partition: CountersPartition) {
    this.#partition = partition
  }

  async includes({ sealedMs, nowMs, more }: Sealed): Promise<boolean> {
    this.#beganMs = Math.min(this.#beganMs, nowMs)
    this.#times ??= new Set([sealedMs, ...(more ? [await this.#waiting()] : [])])
    return this.#times.has(sealedMs) || sealedMs <= this.#beganMs || sealedMs > nowMs
  }

  async #waiting(): Promise<number> {
    const { pendingMs } = await this.#partition.unit.run(inspect, {})
    return pendingMs
  }
}
