// Sets the rows of counters to the sums of their events. Ids that the database treats as one row, because of a
// collation, are one counter there: their sums are added, and written once.

import type { Change } from '../../counters/sink.ts'
import { idFrom, type Row, wideOf } from './dialect.ts'
import type { AddedUp } from './rows-of-counters.ts'

/** By ids, as they are spelled. */
export type Sums = ReadonlyMap<string, bigint>

export function sumsFrom(rows: readonly Row[]): Sums {
  return new Map(rows.map((row) => [String(idFrom(row)), wideOf(row, 'sum')]))
}

/** The spelling in the row of an id, by the id; ids without a row are missing. */
export type Owners = ReadonlyMap<string, string>

export function ownersFrom(rows: readonly Row[]): Owners {
  return new Map(rows.map((row) => [String(idFrom(row)), String(idFrom(row, 'own'))]))
}

/** `counted`: the counts of these ids, of ids that have a sum, and of their owners. */
export function recountOf(
  asked: readonly string[],
  sums: Sums,
  owners: Owners,
  { counted, aside }: Pick<AddedUp, 'counted' | 'aside'>,
): Change[] {
  const ownerOf = (id: string): string => owners.get(id) ?? id
  const spellings = new Map<string, Set<string>>()
  for (const id of [...asked, ...asked.map(ownerOf)]) spellings.set(ownerOf(id), new Set([ownerOf(id)]))
  for (const id of [...asked, ...sums.keys()]) spellings.get(ownerOf(id))?.add(id)
  return [...spellings].map(([id, all]) => {
    const others = [...all].filter((one) => one !== id)
    const found = added([...all].map((one) => sums.get(one)))
    // The refused changes of each spelling belong to the row that all spellings share.
    const known = added([counted.get(id), ...others.map((one) => aside.get(one))])
    return { id, delta: found - known }
  })
}

function added(numbers: readonly (bigint | undefined)[]): bigint {
  return numbers.reduce<bigint>((sum, one) => sum + (one ?? 0n), 0n)
}
