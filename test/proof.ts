// What a long run has to say for itself: printed, and kept for the summary that `npm run test:long` writes.

import { appendFileSync } from 'node:fs'

/** True in `npm run test:long`: full counts instead of the short forms. */
export const LONG: boolean = process.env['PERILUNE_LONG'] === '1'

/** Repeats a run: `PERILUNE_SEED=7 npm test`. */
export const SEED: number = Number(process.env['PERILUNE_SEED'] ?? 20_261_120)

export function tell(line: string): void {
  console.log(line)
  const file = process.env['PERILUNE_PROOF']
  if (file !== undefined) appendFileSync(file, `${line}\n`)
}
