// Dead jobs, grouped by the kind of their failure.

import { countDead, requeueDead } from '../../generated/queue.ts'
import { checkText } from '../../runtime/values/arguments.ts'
import { learnNotifyChannel } from '../../runtime/waiting/notify-channel.ts'
import { type QueueSource, toId } from '../source/source.ts'

/** The dead jobs of one kind of failure. */
export interface DeadKind {
  readonly kind: string
  readonly count: number
  readonly firstAtMs: number
  readonly lastAtMs: number
  /** The newest of them: the id that the queue assigned to it, and its failure message. */
  readonly sample: { readonly id: string; readonly message: string }
}

/** Jobs a call. Few, because Redis serves no one else meanwhile, and larger calls are hardly faster. */
const STEP = 25

export class DeadJobs {
  readonly #sources: readonly QueueSource[]
  readonly #check: () => Promise<void>

  /** `check` verifies the number of partitions. */
  constructor(sources: readonly QueueSource[], check: () => Promise<void>) {
    this.#sources = sources
    this.#check = check
  }

  /** The kinds of failure that dead jobs have, up to 1000 kinds in each partition. */
  async list(): Promise<DeadKind[]> {
    const kinds = new Map<string, DeadKind>()
    const all = await this.#ofAll(kindsOf)
    for (const each of all.flat()) kinds.set(each.kind, together(kinds.get(each.kind) ?? null, each))
    return [...kinds.values()]
  }

  /**
   * Makes all dead jobs of this kind of failure ready again, except those whose unique key another job has taken.
   * Resolves to the number of requeued jobs. Throws InvalidArgumentError.
   */
  requeue(kind: string): Promise<number> {
    return this.#each(kind, false)
  }

  /** Removes all dead jobs of this kind of failure. Resolves to their number. Throws InvalidArgumentError. */
  drop(kind: string): Promise<number> {
    return this.#each(kind, true)
  }

  async #each(kind: string, drops: boolean): Promise<number> {
    checkText('kind', kind, 200)
    const counts = await this.#ofAll((source) => changeAll(source, kind, drops))
    return counts.reduce((total, count) => total + count, 0)
  }

  async #ofAll<Answer>(call: (source: QueueSource) => Promise<Answer>): Promise<Answer[]> {
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
  const notifyChannel = await learnNotifyChannel(source.unit)
  // Ends at the newest dead job of the first call: jobs that die meanwhile could keep this loop running forever.
  let [total, after, end] = [0, 0, Infinity]
  while (after >= 0 && after <= end) {
    const terms = { kind, limit: STEP, drops, after }
    const { count, chores, next, newest } = await source.unit.run(requeueDead, { ...notifyChannel, ...terms })
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
