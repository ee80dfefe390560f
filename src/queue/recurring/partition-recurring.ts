// Recurring jobs of a queue in partitions. Each lives in one: that of the group of its jobs, without one that of its id. Set for
// another group it moves, and how often it has moved is kept with it. Should several move it at once it may be in several
// partitions for a moment: each of them looks at all partitions once more, and where it has moved less often it is removed. Of two
// that have moved equally often the one in the later partition stays.

import { partitionOf } from '../../runtime/partitions/partition-hash.ts'
import { pageThrough } from '../partitions/calls.ts'
import { Recurring, type RecurringJob, type RecurringOptions, type RecurringPage } from './recurring.ts'
import type { Source } from '../source/source.ts'

/** As `Recurring`, over all partitions. */
export class PartitionedRecurring<Jobs extends object = Record<string, unknown>> {
  readonly #parts: readonly Recurring<Jobs>[]
  readonly #check: () => Promise<void>

  /** `check`: that the queue has so many partitions. */
  constructor(sources: readonly Source[], check: () => Promise<void>) {
    this.#parts = sources.map((source) => new Recurring<Jobs>(source))
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
    await first.check(id, options)
    const { group } = options
    const argument = group === undefined ? 'id' : 'group'
    const home = partitionOf(group ?? id, this.#parts.length, argument)
    await this.#check()
    const known = await Promise.all(this.#parts.map((part) => part.giveWay(id, 1)))
    const moves = Math.max(1, ...known.map((each, at) => (at === home || each === 0 ? each : each + 1)))
    // Before it is set, too: so no run has two jobs.
    if (known.some((each, at) => each > 0 && at !== home)) await this.#leaveTo(home, id, moves)
    const set = await (this.#parts[home] as Recurring<Jobs>).place(id, options, moves)
    const isOutdone = await this.#leaveTo(home, id, moves)
    if (isOutdone) await (this.#parts[home] as Recurring<Jobs>).giveWay(id, moves + 1)
    return set
  }

  /** Removes it from all other partitions. True where another set has moved it on. */
  async #leaveTo(home: number, id: string, moves: number): Promise<boolean> {
    const left = await Promise.all(
      this.#parts.map(async (part, at) => {
        if (at === home) return 0
        return part.giveWay(id, at < home ? moves + 1 : moves)
      }),
    )
    return left.some((each) => each > 0)
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
