// Values that the server generates, in words that two units can share: ids, tokens and markers by the order in which
// they first appeared, instants by their distance from now, to a quarter of an hour: the times in a history last half
// an hour at least.

/** Microseconds since 1970, of which ids, tokens and markers consist. */
const NUMBERS = /\d{15,}/g
/** Milliseconds since 1970, which the names of spawned jobs end with. */
const INSTANTS = /(?<!\d)\d{13}(?!\d)/g
const LEAST_NUMBER = 1e14

const INSTANT = /(^at|At|Until)Ms$/
const QUARTER_MS = 900_000
/** How long something took, or still takes; and when units that have flowed back are whole again. */
const PASSING = new Set([
  'resetAtMs',
  'ageMs',
  'loadMs',
  'lagMs',
  'retryAfterMs',
  'meanMs',
  'p50Ms',
  'p90Ms',
  'p99Ms',
  'maxMs',
])

/** Those of one side. */
export class Labels {
  readonly #known = new Map<string, string>()
  #nowMs = 0

  /**
   * The same as JSON, with labels; members in an order of their own, so that both sides meet new values in the same
   * order. `nowMs`: the same for both.
   */
  applyTo(value: unknown, nowMs: number): unknown {
    this.#nowMs = nowMs
    return this.#labelled(JSON.parse(JSON.stringify(value ?? null, withoutBigInts)) as unknown, '')
  }

  #labelled(value: unknown, name: string): unknown {
    if (typeof value === 'number') return this.#numberOrTime(value, name)
    if (typeof value === 'string') return this.#text(value, name)
    if (Array.isArray(value)) return value.map((item) => this.#labelled(item, name))
    if (value === null || typeof value !== 'object') return value
    const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
    return Object.fromEntries(members.map(([member, held]) => [member, this.#labelled(held, member)]))
  }

  #numberOrTime(value: number, name: string): unknown {
    if (PASSING.has(name)) return 'a time'
    if (INSTANT.test(name)) return `${Math.round((value - this.#nowMs) / QUARTER_MS)} quarters from now`
    if (name === 'resetMs') return value > 0
    const isMade = value >= LEAST_NUMBER || name === 'epoch'
    return isMade ? this.#label(String(value)) : value
  }

  #text(value: string, name: string): string {
    // The id that ends a load of a cache is opaque.
    if (name === 'load') return this.#label(value)
    return value.replace(NUMBERS, (digits) => this.#label(digits)).replace(INSTANTS, 'an instant')
  }

  #label(made: string): string {
    const label = this.#known.get(made) ?? `#${this.#known.size + 1}`
    this.#known.set(made, label)
    return label
  }
}

function withoutBigInts(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
