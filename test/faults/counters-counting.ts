// Continuous increments, with a concurrent reader, in any process.

import { setTimeout as sleep } from 'node:timers/promises'
import { AmbiguousError } from 'perilune'
import type { Counters } from 'perilune/counters'
import type { Entry, Outcome } from './counters-books.ts'

export interface CountingTerms {
  /** Increments under way at a time. */
  readonly lanes: number
  /** How long each lane rests after each. */
  readonly restMs: number
  next(): Entry
  tell(n: number, outcome: Outcome): void
}

/** The outcome of one increment. */
export async function countOne(counters: Counters, { id, by }: Entry): Promise<Outcome> {
  try {
    await counters.increment(id, by)
    return 'acked'
  } catch (error) {
    return error instanceof AmbiguousError ? 'doubtful' : 'refused'
  }
}

/** Counts until the signal says stop; resolves when nothing is under way any more. */
export async function count(counters: Counters, terms: CountingTerms, signal: AbortSignal): Promise<void> {
  const lane = async (): Promise<void> => {
    while (!signal.aborted) {
      const entry = terms.next()
      terms.tell(entry.n, await countOne(counters, entry))
      await sleep(terms.restMs)
    }
  }
  await Promise.all(Array.from({ length: terms.lanes }, lane))
}

/** Looks at counters that only grow, and notes where one went back. */
export class Reader {
  readonly faults: string[] = []
  readonly #counters: Counters
  readonly #ids: () => readonly string[]
  readonly #seen = new Map<string, bigint>()
  readonly #stop = new AbortController()
  readonly #done: Promise<void>
  reads = 0

  constructor(counters: Counters, ids: () => readonly string[]) {
    this.#counters = counters
    this.#ids = ids
    this.#done = this.#run()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#done
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      // While a server is away nothing is shown.
      await this.#look().catch(() => undefined)
      await sleep(5)
    }
  }

  async #look(): Promise<void> {
    const ids = this.#ids()
    const values = await this.#counters.getMany(ids)
    for (const [at, id] of ids.entries()) this.#note(id, BigInt(values[at] ?? 0))
    if (ids.length > 0) this.reads += 1
  }

  #note(id: string, value: bigint): void {
    const before = this.#seen.get(id) ?? 0n
    if (value < before) this.faults.push(`${id} showed ${before}, and then ${value}`)
    this.#seen.set(id, value)
  }
}

/** Counts in this process until it is stopped. */
export function countHere(
  counters: Counters,
  books: { begin(): Entry; tell(n: number, outcome: Outcome): void },
  lanes = 4,
): { stop(): Promise<void> } {
  const aborter = new AbortController()
  const terms = {
    lanes,
    restMs: 2,
    next: () => books.begin(),
    tell: (n: number, outcome: Outcome) => books.tell(n, outcome),
  }
  const done = count(counters, terms, aborter.signal)
  return {
    stop: async () => {
      aborter.abort()
      await done
    },
  }
}
