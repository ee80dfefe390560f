// Who is measured, in the order of the tables. A new contender is a line here.

import type { Contender } from '../locks/contender.ts'
import { semaphore } from '../locks/redis-semaphore.ts'
import { rankedByCounter, rankedByTime } from './origin.ts'
import { originLua } from './origin-lua.ts'
import { perilune } from './perilune.ts'

export const SEMAPHORES: readonly Contender[] = [
  semaphore,
  rankedByTime,
  rankedByCounter,
  originLua,
  perilune,
]
