import type { Call, History } from '../history.ts'
import { isExcused, type Terms } from '../terms.ts'
import { byKey, callsOf, type Checker, instant, numberOf } from './checker.ts'
import { keysHeld, lostWithoutCause, tokensThatDoNotRise, tooManyAtOnce } from './leases.ts'

export const lock: Checker = (history, terms) => [
  ...keysHeld(history).flatMap((key) => [
    ...tooManyAtOnce(history, key, 1, terms),
    ...lostWithoutCause(history, key, terms),
  ]),
  ...[...byKey(callsOf(history, 'acquire', 'ok'))].flatMap(([key, grants]) =>
    tokensThatDoNotRise(history, grants, key),
  ),
  ...overtakenWrites(history, terms),
]

/** A write was taken though one with a greater token had been taken before it began. */
export function overtakenWrites(history: History, terms: Terms): string[] {
  return [...byKey(callsOf(history, 'write', 'ok'))].flatMap(([key, writes]) =>
    overtakenWritesOf(history, key, writes, terms),
  )
}

function overtakenWritesOf(history: History, key: string, writes: readonly Call[], terms: Terms): string[] {
  const taken = writes.filter(({ got }) => got['stored'] === true)
  return taken.flatMap((write) => {
    const token = numberOf(write.given, 'token')
    const greater = taken.find(
      (other) =>
        other.settledAt < write.beganAt &&
        numberOf(other.given, 'token') > token &&
        !isExcused(terms, other.beganAt, other.settledAt),
    )
    if (greater === undefined) return []
    const when = instant(history, write.beganAt)
    return [`${key}: what ${token} wrote was taken after ${numberOf(greater.given, 'token')}, at ${when}`]
  })
}
