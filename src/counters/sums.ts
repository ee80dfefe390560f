// Changes of one counter travel as one sum, and each gets the value after it.

import { type CounterValue, toValue, valueLess } from './value.ts'

export interface CounterChange {
  readonly id: string
  readonly delta: number
  /** A change with a key travels by itself; '' if it has none. */
  readonly key: string
}

/** Changes of one counter, which the server sees as one. */
export interface CounterSum {
  readonly id: string
  readonly key: string
  delta: number
  /** Their positions among all changes. */
  readonly members: number[]
}

/** In the order of each counter's first change. A sum stays exact. */
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
 * Passes each member of a sum the value after it. `value` is the value after all of them. It counts from the first
 * member on: the sum up to a member is exact, the sum of the later ones may not be.
 */
export function spreadSum(
  changes: readonly CounterChange[],
  { members, delta }: CounterSum,
  value: string,
  pass: (member: number, value: CounterValue) => void,
): void {
  const before = valueLess(toValue(value), delta)
  let sum = 0
  for (const member of members) {
    sum += (changes[member] as CounterChange).delta
    pass(member, valueLess(before, -sum))
  }
}
