// How long other packages want something kept, as a cache takes it.

import type { Duration } from '../runtime/values/duration.ts'

/** A cache keeps nothing longer. */
export const LONGEST: Duration = '25d'
const LONGEST_MS = 25 * 24 * 60 * 60 * 1000

/** At least a millisecond, at most what a cache can do. */
export function keptFor(ms: number): Duration {
  return `${Math.min(Math.max(Math.ceil(ms), 1), LONGEST_MS)}ms`
}
