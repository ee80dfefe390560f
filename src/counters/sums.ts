// Changes of one counter that travel as one number, and each of them told the value after it.

import { type CounterValue, toValue, valueLess } from './value.ts'

export interface CounterChange {
  readonly id: string
  readonly delta: number
  /** What has one travels by itself; '': none. */
  readonly key: string
}

/** Changes of one counter, which are one to the server. */
export interface CounterSum {
  readonly id: string
  readonly key: string
  delta: number
  /** Their places among all changes. */
  readonly members: number[]
}

/** In the order in which their counters came first. A sum stays exact. */
export function inSums(changes: readonly CounterChange[]): CounterSum[] {
  const sums: CounterSum[] = []
  const open = new Map<string, CounterSum>()
  for (const [at, { id, delta, key }] of changes.entries()) {
    const known = key === '' ? open.get(id) : undefined
    if (known !== undefined && Number.isSafeInteger(known.delta + delta)) {
      known.delta += delta
      known.members.push(at)
      continue
    }
    const sum: CounterSum = { id, key, delta, members: [at] }
    if (key === '') open.set(id, sum)
    sums.push(sum)
  }
  return sums
}

/**
 * Tells each member of a sum the value after it. `value`: after all of them. From the first on, for what those up to a member come
 * to is exact, and what those behind it come to may not be.
 */
export function tellEach(
  changes: readonly CounterChange[],
  { members, delta }: CounterSum,
  value: string,
  tell: (member: number, value: CounterValue) => void,
): void {
  const before = valueLess(toValue(value), delta)
  let sum = 0
  for (const member of members) {
    sum += (changes[member] as CounterChange).delta
    tell(member, valueLess(before, -sum))
  }
}
