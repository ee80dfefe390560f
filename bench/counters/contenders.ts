// Who is measured, in the order of the tables. A new contender is a line here; the first is what the others are held against.

import type { Contender } from './contender.ts'
import { insertAndIncr } from './insert-and-incr.ts'
import { insertOnly } from './insert-only.ts'
import { onlyMarks, withoutMarks } from './marks.ts'
import { naive } from './naive.ts'
import { oneStatement, trigger } from './one-statement.ts'
import { delta, deltaAlone, derived, derivedAlone, derivedAside, onlyCounts } from './perilune.ts'
import { seed } from './seed.ts'
import { slotted } from './slotted.ts'

export const CONTENDERS: readonly Contender[] = [
  naive,
  oneStatement,
  trigger,
  slotted,
  insertOnly,
  insertAndIncr,
  seed,
  derivedAside,
  derived,
  derivedAlone,
  onlyMarks,
  withoutMarks,
  delta,
  deltaAlone,
  onlyCounts,
]

/** They leave their work for later, which tells what it costs: no way to count, as those that only mark. */
export const WITHOUT_FLUSH: ReadonlySet<Contender> = new Set([
  derivedAlone,
  deltaAlone,
  onlyMarks,
  withoutMarks,
])
