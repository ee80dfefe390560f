// What scripts cannot do by themselves: another slot is out of their reach, and they know no time zones. A claim tells
// the process that it has to be seen to; whoever is told does it. Each chore may be done twice, and by several at once.

/** What is to be seen to, a bit each, as the scripts keep it. */
export const CHORES = {
  /** A recurring job runs out of coming times. */
  refill: 1,
  /** Something waits to go to other queues. */
  deliver: 2,
  /** Parents in other queues are to be asked after. */
  askAfter: 4,
} as const

const PAUSE_MS = 1000

export type Chore = keyof typeof CHORES

export class Chores {
  readonly #tasks: { readonly [Name in Chore]?: () => Promise<void> }
  readonly #busy = new Set<Chore>()
  /** Told while it was being done: there may be more. */
  readonly #again = new Set<Chore>()

  constructor(tasks: { readonly [Name in Chore]?: () => Promise<void> }) {
    this.#tasks = tasks
  }

  /** Does what is to be done, unless this process does already. What fails is told again by a later claim. */
  see(bits: number): void {
    if (bits === 0) return
    for (const [name, bit] of Object.entries(CHORES) as [Chore, number][]) {
      if ((bits & bit) !== 0) void this.#do(name)
    }
  }

  async #do(name: Chore): Promise<void> {
    const task = this.#tasks[name]
    if (task === undefined) return
    if (this.#busy.has(name)) {
      this.#again.add(name)
      return
    }
    this.#busy.add(name)
    const free = (): void => {
      this.#busy.delete(name)
      if (this.#again.delete(name)) void this.#do(name)
    }
    // What is out of reach is tried again, but not with every claim.
    await task().then(free, () => setTimeout(free, PAUSE_MS).unref())
  }
}
