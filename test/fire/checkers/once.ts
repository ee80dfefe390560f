import type { Call, History } from '../history.ts'
import { isExcused, type Terms } from '../terms.ts'
import { byKey, callsOf, type Checker, instant } from './checker.ts'
import { holdsOf, keysHeld, tooManyAtOnce } from './leases.ts'

export const once: Checker = (history, terms) => {
  const results = byKey(callsOf(history, 'run', 'ok'))
  return [
    ...keysHeld(history).flatMap((key) => tooManyAtOnce(history, key, 1, terms)),
    ...[...results].flatMap(([key, runs]) => twoResults(key, runs, terms)),
    ...[...results].flatMap(([key, runs]) => doneAgain(history, key, runs, terms)),
  ]
}

function twoResults(key: string, runs: readonly Call[], terms: Terms): string[] {
  const kept = runs.filter(({ beganAt, settledAt }) => !isExcused(terms, beganAt, settledAt))
  const results = new Set(kept.map(({ got }) => String(got['result'])))
  return results.size > 1 ? [`${key}: has several results: ${[...results].join(', ')}`] : []
}

/** The work began although its result had been returned to a caller before. */
function doneAgain(history: History, key: string, runs: readonly Call[], terms: Terms): string[] {
  const kept = runs.filter(({ beganAt, settledAt }) => !isExcused(terms, beganAt, settledAt))
  const known = Math.min(...kept.map(({ settledAt }) => settledAt))
  const again = holdsOf(history, key).filter(({ fromUs }) => fromUs > known)
  return again.map(({ process, fromUs }) => {
    return `${key}: done again by process ${process}, at ${instant(history, fromUs)}`
  })
}
