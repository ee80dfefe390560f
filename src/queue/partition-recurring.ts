// Recurring jobs of a queue in partitions. Each lives in one: that of the group of its jobs, without one that of its id.

import { partitionOf } from '../runtime/partition-hash.ts'
import { pageThrough } from './asking-partitions.ts'
import { Recurring, type RecurringJob, type RecurringOptions, type RecurringPage } from './recurring.ts'
import type { Source } from './source.ts'

/** As `Recurring`, over all partitions. */
export class PartitionedRecurring<Jobs extends object = Record<string, unknown>> {
  readonly #parts: readonly Recurring<Jobs>[]
  readonly #agree: () => Promise<void>
  readonly #check: () => Promise<void>

  constructor(
    sources: readonly Source[],
    { agree, check }: { agree: () => Promise<void>; check: () => Promise<void> },
  ) {
    this.#parts = sources.map((source) => new Recurring<Jobs>(source))
    this.#agree = agree
    this.#check = check
  }

  /**
   * As that of a queue. With another group it may change its partition: then it begins anew there. Throws
   * InvalidArgumentError.
   */
  async set<Name extends keyof Jobs & string>(
    id: string,
    options: RecurringOptions<Jobs, Name>,
  ): Promise<{ nextAtMs: number | null }> {
    const [first] = this.#parts as [Recurring<Jobs>]
    first.check(id, options)
    const { group } = options
    const argument = group === undefined ? 'id' : 'group'
    const home = partitionOf(group ?? id, this.#parts.length, argument)
    await this.#agree()
    // Before it is set: so it never lives in two.
    const others = this.#parts.filter((_, at) => at !== home)
    await Promise.all(others.map((part) => part.remove(id)))
    return (this.#parts[home] as Recurring<Jobs>).set(id, options)
  }

  /** No further job is spawned; those that were stay. Resolves to false when there was none with this id. */
  async remove(id: string): Promise<boolean> {
    await this.#check()
    const existed = await Promise.all(this.#parts.map((part) => part.remove(id)))
    return existed.includes(true)
  }

  /** Null when there is none with this id. */
  async find(id: string): Promise<RecurringJob | null> {
    await this.#check()
    const found = await Promise.all(this.#parts.map((part) => part.find(id)))
    return found.find((recurring) => recurring !== null) ?? null
  }

  /** One partition after the other, by their next run in each. */
  async list({ after, ...options }: { after?: string; limit?: number } = {}): Promise<RecurringPage> {
    const look = (part: Recurring<Jobs>, own: { after?: string }): Promise<RecurringPage> =>
      part.list({ ...options, ...own })
    return pageThrough(this.#parts, this.#check, after, look, ({ recurring }) => recurring.length === 0)
  }
}
