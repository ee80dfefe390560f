// Reads rows of counters: one row per counter, or one row per known value of it.

import { idFrom, type Row, wideOf } from './dialect.ts'

export interface AddedUp {
  /** Values including refused and waiting changes, of the known ids. */
  readonly values: Map<string, bigint>
  /** The count of each id: in its row, plus refused. */
  readonly counted: Map<string, bigint>
  /** The refused changes of each id. */
  readonly aside: Map<string, bigint>
}

export function addUp(
  missing: 'create' | 'refuse',
  ids: readonly string[],
  rows: readonly Row[],
  all: AddedUp = { values: new Map(), counted: new Map(), aside: new Map() },
): AddedUp {
  const { values, counted } = all
  const [stored, refused, pending] = ['value', 'refused', 'pending'].map((column) => sumsOf(rows, column))
  for (const id of ids) {
    const kept = refused?.get(id)
    const [own, aside, waiting] = [stored?.get(id), kept ?? 0n, pending?.get(id) ?? 0n]
    if (kept !== undefined) all.aside.set(id, kept)
    if (own !== undefined || kept !== undefined) counted.set(id, (own ?? 0n) + aside)
    if (own === undefined && (missing === 'refuse' || (kept === undefined && !pending?.has(id)))) continue
    values.set(id, (own ?? 0n) + aside + waiting)
  }
  return all
}

function sumsOf(rows: readonly Row[], column: string): Map<string, bigint> {
  const found = rows.filter((row) => (row[column] ?? null) !== null)
  return new Map(
    found.flatMap((row) => (idFrom(row) === null ? [] : [[String(idFrom(row)), wideOf(row, column)]])),
  )
}
