import type { Call, History } from '../history.ts'
import { isExcused, type Terms } from '../terms.ts'
import { callsOf, type Checker, instant, numberOf } from './checker.ts'
import { wrongLists } from './registers.ts'

export const collection: Checker = (history, terms) => [
  ...callsOf(history, 'read', 'ok').flatMap((read) => mixed(history, read)),
  ...olderThanKnown(history, terms),
  ...wrongLists(history, terms),
]

function mixed(history: History, { got, beganAt }: Call): string[] {
  const items = (got['items'] ?? []) as number[]
  if (items.every((item) => item === got['version'])) return []
  return [`a read at ${instant(history, beganAt)} mixes versions: ${items.join(', ')}`]
}

/** A read is of a version at least as new as the newest that had been acknowledged. */
function olderThanKnown(history: History, terms: Terms): string[] {
  const replaced = callsOf(history, 'replace', 'ok').filter(
    ({ got, beganAt, settledAt }) => got['status'] === 'replaced' && !isExcused(terms, beganAt, settledAt),
  )
  return callsOf(history, 'read', 'ok').flatMap(({ got, beganAt }) => {
    const known = replaced.filter(({ settledAt }) => settledAt < beganAt)
    const newest = Math.max(0, ...known.map(({ given }) => numberOf(given, 'version')))
    const version = Number(got['version'] ?? 0)
    return version >= newest
      ? []
      : [`a read at ${instant(history, beganAt)} gave version ${version} after ${newest}`]
  })
}
