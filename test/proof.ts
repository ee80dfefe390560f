// The report of a long run: printed, and kept for the summary that `npm run test:long` writes.

import { appendFileSync } from 'node:fs'
import { seeded } from './soak/random.ts'

/** True in `npm run test:long`: full counts instead of the short forms. */
export const LONG: boolean = process.env['PERILUNE_LONG'] === '1'

/**
 * All rows of the large tables, as in CI; `npm test` plays some of them
 * (docs/decisions/0102-some-rows-of-each-table.md).
 */
export const WIDE: boolean = LONG || process.env['CI'] === 'true' || process.env['PERILUNE_ROWS'] === 'all'

/** Repeats a run: `PERILUNE_SEED=7 npm test`. */
export const SEED: number = Number(process.env['PERILUNE_SEED'] ?? 20_261_120)

export function tell(line: string): void {
  console.log(line)
  const file = process.env['PERILUNE_PROOF']
  if (file !== undefined) appendFileSync(file, `${line}\n`)
}

/** How many runs: all in a long run, the usual number in CI, else a third of that. */
export function countOf(long: number, usual: number): number {
  if (LONG) return long
  return WIDE ? usual : Math.ceil(usual / 3)
}

/** All rows of a table where these are played; else so many, in their order, which the seed draws. */
export function someOf<Row>(rows: readonly Row[], count: number): readonly Row[] {
  if (WIDE || count >= rows.length) return rows
  const luck = seeded(SEED)
  const drawn = rows.map((row, at) => ({ row, at, lot: luck() })).toSorted((a, b) => a.lot - b.lot)
  return drawn
    .slice(0, count)
    .toSorted((a, b) => a.at - b.at)
    .map(({ row }) => row)
}
