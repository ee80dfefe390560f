import type { Call, History } from '../history.ts'
import { isExcused, type Terms } from '../terms.ts'
import { PLACES, UNITS, WINDOW_MS } from '../workloads/rate-limit.ts'
import { callsOf, type Checker, instant } from './checker.ts'
import { tooManyAtOnce } from './leases.ts'

export const rateLimit: Checker = (history, terms) => [
  ...windowsWithTooMany(history, terms),
  ...tooManyAtOnce(history, 'places', PLACES, terms),
]

/** Only takes count that certainly happened within the window: they were asked for and answered in it. */
function windowsWithTooMany(history: History, terms: Terms): string[] {
  const taken = callsOf(history, 'take', 'ok').filter(({ got }) => got['allowed'] === true)
  return taken.flatMap(({ beganAt }) => {
    const end = beganAt + WINDOW_MS * 1000
    if (isExcused(terms, beganAt, end)) return []
    const count = taken.filter((call) => isWithin(call, beganAt, end)).length
    return count > UNITS ? [`${count} units in the window from ${instant(history, beganAt)}`] : []
  })
}

function isWithin({ beganAt, settledAt }: Call, fromUs: number, untilUs: number): boolean {
  return beganAt >= fromUs && settledAt < untilUs
}
