// The order of things: whatever a process does outside itself waits at a gate until its turn, which chance decides.

export interface Gate {
  readonly owner: string
  readonly what: string
  /** Lets it happen; resolves once it has. */
  pass(): Promise<void>
  /** It never gets there. */
  drop(error: Error): void
}

/** Numbers that chance would choose, and always the same ones for a seed (mulberry32). */
export function dice(seed: number): (sides: number) => number {
  let state = seed >>> 0
  return (sides) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides
  }
}

export class Stage {
  readonly #gates: Gate[] = []

  get waiting(): number {
    return this.#gates.length
  }

  /** Does the work when its turn comes. */
  gate<Result>(owner: string, what: string, work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const pass = async (): Promise<void> => {
        await work().then(resolve, reject)
        await settled()
      }
      this.#gates.push({ owner, what, pass, drop: reject })
    })
  }

  whatAt(at: number): string {
    return (this.#gates[at] as Gate).what
  }

  take(at: number): Gate {
    return this.#gates.splice(at, 1)[0] as Gate
  }

  /** All that a process has under way. */
  takeAllOf(owner: string): Gate[] {
    const own = this.#gates.filter((gate) => gate.owner === owner)
    for (const gate of own) this.#gates.splice(this.#gates.indexOf(gate), 1)
    return own
  }
}

/** Resolves once all that follows from what has happened waits at gates, or for time. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
}
