// Converts the lifetimes of other packages to those of a cache.

import type { Duration } from '../runtime/values/duration.ts'

/** The maximum lifetime of a cache value. */
export const LONGEST: Duration = '25d'
const LONGEST_MS = 25 * 24 * 60 * 60 * 1000

/** At least a millisecond, at most the maximum of a cache. */
export function keptFor(ms: number): Duration {
  return `${Math.min(Math.max(Math.ceil(ms), 1), LONGEST_MS)}ms`
}
