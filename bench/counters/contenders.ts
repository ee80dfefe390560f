// Who is measured, in the order of the tables. A new contender is a line here; the first is what the others are held against.

import { byHand, byHandAlone } from './by-hand.ts'
import type { Contender } from './contender.ts'
import { insertAndIncr } from './insert-and-incr.ts'
import { insertOnly } from './insert-only.ts'
import { naive } from './naive.ts'
import { oneStatement, trigger } from './one-statement.ts'
import {
  delta,
  deltaAlone,
  derived,
  derivedAlone,
  derivedAside,
  derivedEachSecond,
  onlyCounts,
} from './perilune.ts'
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
  derived,
  derivedAside,
  delta,
  onlyCounts,
]

/** Who writes behind, beside the same who leaves that for after the round: what writing behind costs while votes come in. */
export const WRITERS_BEHIND: readonly (readonly [Contender, Contender])[] = [
  [derived, derivedAlone],
  [derivedEachSecond, derivedAlone],
  [byHand, byHandAlone],
  [delta, deltaAlone],
]
