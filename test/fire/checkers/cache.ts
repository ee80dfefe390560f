import type { Call, History } from '../history.ts'
import { isExcused, meets, type Terms } from '../terms.ts'
import { byKey, callsOf, type Checker, instant, numberOf } from './checker.ts'
import { type Hold, holdsOf, keysHeld } from './leases.ts'

/** A load that lost its server may be followed by another one for as long as a call waits for an answer. */
const AFTERWARDS_US = 5e6

export const cache: Checker = (history, terms) => {
  const gets = byKey(callsOf(history, 'get', 'ok'))
  return [
    ...[...byKey(callsOf(history, 'invalidate', 'ok'))].flatMap(([key, invalidations]) =>
      staleGets(history, gets.get(key) ?? [], invalidations, terms),
    ),
    ...keysHeld(history).flatMap((key) => twoLoads(history, key, terms)),
  ]
}

/** Got after an invalidation, and made before it. */
function staleGets(
  history: History,
  gets: readonly Call[],
  invalidations: readonly Call[],
  terms: Terms,
): string[] {
  const kept = invalidations.filter(({ beganAt, settledAt }) => !isExcused(terms, beganAt, settledAt))
  return gets.flatMap((get) => {
    const before = kept.filter(({ settledAt }) => settledAt < get.beganAt)
    const since = Math.max(...before.map(({ beganAt }) => beganAt))
    if (numberOf(get.got, 'madeAt') >= since) return []
    const when = instant(history, get.beganAt)
    return [`${get.key}: process ${get.process} got at ${when} what was made before an invalidation`]
  })
}

function twoLoads(history: History, key: string, terms: Terms): string[] {
  const loads = holdsOf(history, key).filter((load) => !isTroubled(load, terms))
  let last: Hold | undefined
  return loads.flatMap((load) => {
    const overlaps = last !== undefined && load.fromUs < last.untilUs
    if (last === undefined || load.untilUs > last.untilUs) last = load
    return overlaps ? [`${key}: two loads at once, at ${instant(history, load.fromUs)}`] : []
  })
}

function isTroubled({ fromUs, untilUs }: Hold, terms: Terms): boolean {
  return meets(terms.trouble, fromUs - AFTERWARDS_US, untilUs) || isExcused(terms, fromUs, untilUs)
}
