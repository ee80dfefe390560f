// The books of increments compare the answer that each increment got with the database at rest. Each increment adds a
// digit of its own in base 4, so the sums show whether it was applied never, once, or more often.

/** `doubtful`: it may have happened. `refused`: it was said not to have happened. */
export type Outcome = 'acked' | 'doubtful' | 'refused'

export interface Entry {
  readonly n: number
  readonly id: string
  readonly by: number
}

/** How often an increment may be there. */
export interface Bounds {
  readonly least: number
  readonly most: number
}

/** Counters that are incremented at a time. */
const AT_ONCE = 19
/** Digits of base 4 that any delta and any sum has, as a safe integer. */
const DIGITS = 25

const BOUNDS: Readonly<Record<Outcome, Bounds>> = {
  acked: { least: 1, most: 1 },
  doubtful: { least: 0, most: 1 },
  refused: { least: 0, most: 0 },
}

/** The increment of this number, the same in every process. */
export function entryOf(n: number): Entry {
  const round = Math.floor(n / AT_ONCE)
  const id = 1 + (n % AT_ONCE) + AT_ONCE * Math.floor(round / DIGITS)
  return { n, id: String(id), by: 4 ** (round % DIGITS) }
}

export class Books {
  readonly #outcomes = new Map<number, Outcome>()
  readonly #underWay = new Set<number>()
  #begun = 0
  #last = -1

  /** The next increment, which is in doubt until it is answered. */
  begin(): Entry {
    const entry = entryOf(this.#begun++)
    this.tell(entry.n, 'doubtful')
    this.#underWay.add(entry.n)
    return entry
  }

  tell(n: number, outcome: Outcome): void {
    this.#outcomes.set(n, outcome)
    this.#underWay.delete(n)
    this.#last = Math.max(this.#last, n)
  }

  /** How many had this outcome. */
  count(outcome: Outcome): number {
    return [...this.#outcomes.values()].filter((each) => each === outcome).length
  }

  /** The increments that have begun and have no answer yet. */
  get underWay(): number[] {
    return [...this.#underWay]
  }

  get size(): number {
    return this.#outcomes.size
  }

  /** All counters that were incremented. */
  get ids(): string[] {
    return this.#idsFrom(0)
  }

  /** Those that were incremented last. */
  get newestIds(): string[] {
    return this.#idsFrom(Math.max(0, this.#last - 2 * AT_ONCE))
  }

  /** How often each increment is in these sums. */
  timesIn(stored: Readonly<Record<string, string>>): Map<number, number> {
    return new Map([...this.#outcomes.keys()].map((n) => [n, timesOf(entryOf(n), stored)]))
  }

  /** The faults of these sums. */
  faults(
    stored: Readonly<Record<string, string>>,
    boundsOf: (n: number, outcome: Outcome) => Bounds = (_, outcome) => BOUNDS[outcome],
  ): string[] {
    const rest = new Map(Object.entries(stored).map(([id, sum]) => [id, BigInt(sum)]))
    const faults: string[] = []
    for (const [n, outcome] of this.#outcomes) {
      const { id, by } = entryOf(n)
      const times = timesOf({ n, id, by }, stored)
      const { least, most } = boundsOf(n, outcome)
      if (times < least || times > most) faults.push(`${outcome} increment ${n} is there ${times} times`)
      rest.set(id, (rest.get(id) ?? 0n) - BigInt(times) * BigInt(by))
    }
    for (const [id, sum] of rest) if (sum !== 0n) faults.push(`${id} has ${sum} that no increment added`)
    return faults
  }

  #idsFrom(n: number): string[] {
    const all = Array.from({ length: this.#last + 1 - n }, (_, at) => entryOf(n + at).id)
    return [...new Set(all)]
  }
}

function timesOf({ id, by }: Entry, stored: Readonly<Record<string, string>>): number {
  return Number((BigInt(stored[id] ?? '0') / BigInt(by)) % 4n)
}
