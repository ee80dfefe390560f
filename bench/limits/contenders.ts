// Who is measured, in the order of the tables. A new contender is a line here.

import type { Contender } from './contender.ts'
import { countingScript, emptyScript, promisingScript } from './floors.ts'
import { perilune } from './perilune.ts'
import { rateLimiterFlexible } from './rate-limiter-flexible.ts'

export const LIMITERS: readonly Contender[] = [
  emptyScript,
  countingScript,
  promisingScript,
  rateLimiterFlexible,
  perilune,
]
