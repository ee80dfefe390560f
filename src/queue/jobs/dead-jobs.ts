// Dead jobs, by the kind of failure that they are dead of.

import { countDead, requeueDead } from '../../generated/queue.ts'
import { checkText } from '../../runtime/values/arguments.ts'
import { learnTold } from '../../runtime/waiting/notify-channel.ts'
import { type QueueSource, toId } from '../source/source.ts'

/** Jobs that are dead of the same kind of failure. */
export interface DeadKind {
  readonly kind: string
  readonly count: number
  readonly firstAtMs: number
  readonly lastAtMs: number
  /** The id that the queue gave to the newest of them, and its message. */
  readonly sample: { readonly id: string; readonly message: string }
}

/** Few, for others wait meanwhile; more at once are hardly done sooner. */
const STEP = 25

export class DeadJobs {
  readonly #sources: readonly QueueSource[]
  readonly #check: () => Promise<void>

  /** `check`: that the queue has so many partitions. */
  constructor(sources: readonly QueueSource[], check: () => Promise<void>) {
    this.#sources = sources
    this.#check = check
  }

  /** What jobs are dead of, up to a thousand kinds in each partition. */
  async list(): Promise<DeadKind[]> {
    const kinds = new Map<string, DeadKind>()
    const all = await this.#ofAll(kindsOf)
    for (const each of all.flat()) kinds.set(each.kind, together(kinds.get(each.kind) ?? null, each))
    return [...kinds.values()]
  }

  /**
   * Makes all jobs ready again that are dead of this kind of failure, except those whose unique key another job has. Resolves to their
   * number. Throws InvalidArgumentError.
   */
  requeue(kind: string): Promise<number> {
    return this.#each(kind, false)
  }

  /** Removes all jobs that are dead of this kind of failure. Resolves to their number. Throws InvalidArgumentError. */
  drop(kind: string): Promise<number> {
    return this.#each(kind, true)
  }

  async #each(kind: string, drops: boolean): Promise<number> {
    checkText('kind', kind, 200)
    const counts = await this.#ofAll((source) => changeAll(source, kind, drops))
    return counts.reduce((total, count) => total + count, 0)
  }

  async #ofAll<Told>(call: (source: QueueSource) => Promise<Told>): Promise<Told[]> {
    await this.#check()
    return Promise.all(this.#sources.map(call))
  }
}

async function kindsOf(source: QueueSource): Promise<DeadKind[]> {
  const { kinds } = await source.unit.run(countDead, {})
  return kinds.map(({ kind, count, firstMs, lastMs, number, message }) => ({
    kind,
    count,
    firstAtMs: firstMs,
    lastAtMs: lastMs,
    sample: { id: toId(source, number), message },
  }))
}

async function changeAll(source: QueueSource, kind: string, drops: boolean): Promise<number> {
  const told = await learnTold(source.unit)
  // Jobs that die again meanwhile are passed over; jobs that are newer than the first call may come without end.
  let [total, after, end] = [0, 0, Infinity]
  while (after >= 0 && after <= end) {
    const terms = { kind, limit: STEP, drops, after }
    const { count, chores, next, newest } = await source.unit.run(requeueDead, { ...told, ...terms })
    void source.chores.see(chores)
    total += count
    after = next
    end = Math.min(end, newest)
  }
  return total
}

function together(one: DeadKind | null, other: DeadKind): DeadKind {
  if (one === null) return other
  const newer = one.lastAtMs > other.lastAtMs ? one : other
  return {
    kind: one.kind,
    count: one.count + other.count,
    firstAtMs: Math.min(one.firstAtMs, other.firstAtMs),
    lastAtMs: newer.lastAtMs,
    sample: newer.sample,
  }
}
