// Who is measured, in the order of the tables. A new contender is a line here.

import type { Contender } from './contender.ts'
import { floor, promising } from './floor.ts'
import { originLua } from './origin-lua.ts'
import { originWatch } from './origin-watch.ts'
import { barging, perilune } from './perilune.ts'
import { mutex } from './redis-semaphore.ts'
import { redisson } from './redisson.ts'
import { redlockUniversal } from './redlock-universal.ts'
import { redlock, sesamecare } from './redlocks.ts'

/** The origin's table. */
export const ORIGINS: readonly Contender[] = [originWatch, originLua, floor, promising, perilune, barging]

export const LOCKS: readonly Contender[] = [
  floor,
  promising,
  originWatch,
  originLua,
  redlock,
  sesamecare,
  mutex,
  redlockUniversal,
  redisson,
  perilune,
  barging,
]
