// Mutants that change nothing which anybody could notice, each with the reason, by their names.

import { readFileSync } from 'node:fs'
import { type Mutant, nameOf } from './mutant.ts'

const reasons: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('equivalent.json', import.meta.url), 'utf8'),
)

/** Why this mutant does no harm; null when no reason is listed. */
export function whyEquivalent(mutant: Mutant): string | null {
  return reasons[nameOf(mutant)] ?? null
}
