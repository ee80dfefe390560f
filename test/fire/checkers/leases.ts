// Things that are held: no more at once than there are, and tokens that rise.

import type { Call, History } from '../history.ts'
import { isExcused, meets, type Terms } from '../terms.ts'
import { LEASE_MS } from '../workloads/workload.ts'
import { instant, numberOf } from './checker.ts'

/** From when until when a process certainly believed that it held something. */
export interface Hold {
  readonly process: number
  readonly token: number
  readonly fromUs: number
  readonly untilUs: number
}

export function holdsOf(history: History, key: string): Hold[] {
  return history.sights
    .filter((sight) => sight.what === 'held' && sight.key === key)
    .map(({ process, facts }) => ({
      process,
      token: numberOf(facts, 'token'),
      fromUs: numberOf(facts, 'fromUs'),
      untilUs: numberOf(facts, 'untilUs'),
    }))
    .toSorted((a, b) => a.fromUs - b.fromUs)
}

export function keysHeld(history: History): string[] {
  return [...new Set(history.sights.filter(({ what }) => what === 'held').map(({ key }) => key))]
}

/** Each moment at which there were more holders than the limit, except for leases that servers may have lost. */
export function tooManyAtOnce(history: History, key: string, most: number, terms: Terms): string[] {
  let held: Hold[] = []
  const problems: string[] = []
  for (const hold of holdsOf(history, key)) {
    held = held.filter(({ untilUs }) => untilUs > hold.fromUs)
    held.push(hold)
    const remembered = held.filter(({ fromUs, untilUs }) => !isExcused(terms, fromUs, untilUs))
    const counted = remembered.includes(hold) ? remembered : [...remembered, hold]
    // A lost lease is over for the server; the newest is not, whatever became of it later.
    if (counted.length > most && remembered.length >= most) {
      problems.push(
        `${key}: ${counted.length} at once, at ${instant(history, hold.fromUs)}: ${words(counted)}`,
      )
    }
  }
  return problems
}

/** Each that was lost to its holder though nothing was wrong for as long as a lease lasts. */
export function lostWithoutCause(history: History, key: string, terms: Terms): string[] {
  const lost = history.sights.filter(
    ({ what, key: of, facts }) => what === 'held' && of === key && facts['isHeld'] === false,
  )
  return lost.flatMap(({ process, facts }) => {
    const untilUs = numberOf(facts, 'untilUs')
    const span = [untilUs - LEASE_MS * 1000, untilUs + LEASE_MS * 1000] as const
    const stops = terms.stops.filter((stop) => stop.process === process)
    const hasCause = isExcused(terms, ...span) || meets(terms.trouble, ...span) || meets(stops, ...span)
    if (hasCause) return []
    const token = numberOf(facts, 'token')
    return [
      `${key}: process ${process} lost ${token}, and nothing was wrong, at ${instant(history, untilUs)}`,
    ]
  })
}

function words(holds: readonly Hold[]): string {
  return holds.map(({ process, token }) => `process ${process} with ${token}`).join(', ')
}

/** No token is granted twice, and a call that began after another one was granted got a greater token. */
export function tokensThatDoNotRise(history: History, grants: readonly Call[], key: string): string[] {
  const problems: string[] = []
  const seen = new Set<number>()
  const settled = grants.toSorted((a, b) => a.settledAt - b.settledAt)
  let at = 0
  let greatest = 0
  for (const grant of grants) {
    const token = numberOf(grant.got, 'token')
    if (seen.has(token)) problems.push(`${key}: the token ${token} was given twice`)
    seen.add(token)
    for (; (settled[at]?.settledAt ?? Infinity) < grant.beganAt; at++)
      greatest = Math.max(greatest, numberOf(settled[at]?.got ?? {}, 'token'))
    if (token <= greatest)
      problems.push(`${key}: the token ${token} after ${greatest}, at ${instant(history, grant.beganAt)}`)
  }
  return problems
}
