// What scripts cannot do by themselves: another slot is out of their reach, and they know no time zones. A claim tells
// the process that it has to be seen to; whoever is told does it. Each chore may be done twice, and by several at once.

import { Backoff } from '../runtime/backoff.ts'

/** What is to be seen to, a bit each, as the scripts keep it. */
export const CHORES = {
  /** A recurring job runs out of coming times. */
  refill: 1,
  /** Something waits to go to other queues. */
  deliver: 2,
  /** Parents in other queues are to be asked after. */
  askAfter: 4,
} as const

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 10_000
const NOTHING_TO_DO: Promise<void> = Promise.resolve()

export type Chore = keyof typeof CHORES

export class Chores {
  readonly #tasks: { readonly [Name in Chore]?: () => Promise<void> }
  readonly #running = new Map<Chore, Promise<void>>()
  /** Told while it was being done: there may be more. */
  readonly #again = new Set<Chore>()

  constructor(tasks: { readonly [Name in Chore]?: () => Promise<void> }) {
    this.#tasks = tasks
  }

  /** Resolves when all is done, or has failed: then it is told again by the next claim. */
  see(bits: number): Promise<void> {
    return bits === 0 ? NOTHING_TO_DO : this.#see(bits)
  }

  async #see(bits: number): Promise<void> {
    const chores = (Object.entries(CHORES) as [Chore, number][]).filter(([, bit]) => (bits & bit) !== 0)
    await Promise.all(chores.map(([name]) => this.#do(name)))
  }

  #do(name: Chore): Promise<void> {
    const task = this.#tasks[name]
    const running = this.#running.get(name)
    if (task === undefined) return Promise.resolve()
    if (running !== undefined) {
      this.#again.add(name)
      return running
    }
    const run = this.#rounds(name, task).finally(() => this.#running.delete(name))
    this.#running.set(name, run)
    return run
  }

  async #rounds(name: Chore, task: () => Promise<void>): Promise<void> {
    const backoff = new Backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS)
    do {
      this.#again.delete(name)
      try {
        await task()
        backoff.reset()
      } catch {
        // What is out of reach is tried again, but not with every claim.
        await new Promise((resolve) => setTimeout(resolve, backoff.next()).unref())
      }
    } while (this.#again.has(name))
  }
}
