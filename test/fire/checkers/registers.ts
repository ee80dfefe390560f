// Values that one process alone adds and removes, and all may read: they read its last acknowledged value.

import type { Call, History } from '../history.ts'
import { isExcused, type Terms } from '../terms.ts'
import { byKey, callsOf, instant } from './checker.ts'

export function wrongLists(history: History, terms: Terms): string[] {
  const changes = byKey([...callsOf(history, 'add'), ...callsOf(history, 'remove')])
  const lists = callsOf(history, 'list', 'ok')
  return [...changes].flatMap(([key, all]) => {
    const inTurn = all.toSorted((a, b) => a.beganAt - b.beganAt)
    return lists.flatMap((list) => {
      const expected = standingAt(inTurn, list, terms)
      const isThere = (list.got['present'] as string[]).includes(key)
      if (expected === null || expected === isThere) return []
      const when = instant(history, list.beganAt)
      return [
        `${key}: is ${isThere ? 'there' : 'not there'} for process ${list.process} at ${when}, after ${words(inTurn, list)}`,
      ]
    })
  })
}

/** Null: unknown. */
function standingAt(inTurn: readonly Call[], list: Call, terms: Terms): boolean | null {
  const last = inTurn.findLast(({ beganAt }) => beganAt < list.settledAt)
  if (last === undefined) return false
  if (last.settledAt > list.beganAt || last.outcome !== 'ok') return null
  if (isExcused(terms, last.beganAt, list.settledAt) || last.got['took'] === false) return null
  return last.what === 'add'
}

function words(inTurn: readonly Call[], list: Call): string {
  const before = inTurn.filter(({ beganAt }) => beganAt < list.settledAt).slice(-3)
  return before.map(({ what, outcome }) => `${what} ${outcome}`).join(', ')
}
