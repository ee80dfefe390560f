// Each increment that was acknowledged is in the database once; one in doubt at most once.

import type { Call, History } from '../history.ts'
import { meets, type Terms } from '../terms.ts'
import { byKey, callsOf, type Checker, instant, numberOf } from './checker.ts'

export const counters: Checker = (history, terms) => {
  const increments = byKey(callsOf(history, 'increment'))
  const rows = history.sights.filter(({ what }) => what === 'row')
  if (rows.length === 0) return ['no process looked at the database']
  return [
    ...rows.flatMap(({ key, facts }) =>
      wrongSum(key, numberOf(facts, 'votes'), increments.get(key) ?? [], terms),
    ),
    ...rows.flatMap(({ key, facts }) =>
      facts['votes'] === facts['value']
        ? []
        : [`${key}: Redis shows another value: ${JSON.stringify(facts)}`],
    ),
    ...[...increments].flatMap(([key, calls]) => valuesTooSmall(history, key, calls, terms)),
    ...history.sights.flatMap(({ what, facts }) =>
      what === 'left' && facts['flushed'] !== true ? ['increments are left that no flush brings'] : [],
    ),
  ]
}

function wrongSum(key: string, votes: number, calls: readonly Call[], terms: Terms): string[] {
  const acknowledged = calls.filter(({ outcome }) => outcome === 'ok')
  const kept = acknowledged.filter(({ beganAt, settledAt }) => !meets(terms.losses, beganAt, settledAt))
  const most = calls.filter(({ outcome }) => outcome !== 'failed').length
  return votes >= kept.length && votes <= most
    ? []
    : [`${key}: ${votes} in the database, of ${acknowledged.length} acknowledged and ${most} at most`]
}

/** An increment counts at least those that had been acknowledged before it was asked for, and itself. */
function valuesTooSmall(history: History, key: string, calls: readonly Call[], terms: Terms): string[] {
  if (terms.losses.length > 0) return []
  const acknowledged = calls.filter(({ outcome }) => outcome === 'ok')
  return acknowledged.flatMap((call) => {
    const least = acknowledged.filter(({ settledAt }) => settledAt < call.beganAt).length + 1
    const value = numberOf(call.got, 'value')
    return value >= least
      ? []
      : [`${key}: ${value} after ${least} increments, at ${instant(history, call.beganAt)}`]
  })
}
