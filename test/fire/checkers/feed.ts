// An acknowledged message is there once, in one order that respects time, and a follower meets all messages in that
// order.

import type { Call, History, Sight } from '../history.ts'
import { meets, type Terms } from '../terms.ts'
import { byKey, callsOf, type Checker } from './checker.ts'
import { grouped } from '../grouped.ts'

export const feed: Checker = (history, terms) => {
  const there = history.sights.filter(({ what }) => what === 'there')
  if (!history.sights.some(({ what }) => what === 'read all'))
    return ['no process read the messages that are left']
  return [
    ...acknowledgedOnce(history, there, terms),
    ...[...partitionsOf(there)].flatMap(([, messages]) => againstTime(history, messages)),
    ...observersOf(history).flatMap((met) => misses(met, there, terms)),
    ...ended(history),
  ]
}

function partitionsOf(sights: readonly Sight[]): Map<string, Sight[]> {
  return grouped(sights, ({ facts }) => String(facts['partition']))
}

function observersOf(history: History): Sight[][] {
  const met = history.sights.filter(({ what }) => what === 'met')
  return [...grouped(met, ({ process }) => String(process)).values()].flatMap((own) => [
    ...partitionsOf(own).values(),
  ])
}

function acknowledgedOnce(history: History, there: readonly Sight[], terms: Terms): string[] {
  const found = byKey(there)
  const appends = callsOf(history, 'append')
  const asked = new Map(appends.map((call): [string, Call] => [call.key, call]))
  const lost = appends
    .filter(({ outcome, key }) => outcome === 'ok' && !found.has(key))
    .filter(({ beganAt, settledAt }) => !meets(terms.losses, beganAt, settledAt))
    .map(({ key }) => `${key}: was acknowledged and is not there`)
  const wrong = [...found].flatMap(([key, all]) => {
    const { outcome, error } = asked.get(key) ?? { outcome: 'no process appended it', error: '' }
    if (all.length > 1) return [`${key}: is there ${all.length} times`]
    return outcome === 'ok' || outcome === 'unknown'
      ? []
      : [`${key}: is there, though its append ${outcome}: ${error}`]
  })
  return [...lost, ...wrong]
}

/** A message that was acknowledged before another one was appended comes after it. */
function againstTime(history: History, there: readonly Sight[]): string[] {
  const appends = new Map(callsOf(history, 'append', 'ok').map((call): [string, Call] => [call.key, call]))
  let latest: Call | undefined
  return there.flatMap(({ key }) => {
    const append = appends.get(key)
    if (append === undefined) return []
    const wrong = latest !== undefined && append.settledAt < latest.beganAt
    const problem = wrong ? [`${key}: stands behind ${latest?.key}, which was appended after it`] : []
    if (latest === undefined || append.beganAt > latest.beganAt) latest = append
    return problem
  })
}

/** An observer meets all messages of one partition, in order, once, except where a loss was reported to it. */
function misses(met: readonly Sight[], there: readonly Sight[], terms: Terms): string[] {
  const partition = met[0]?.facts['partition']
  const order = there.filter(({ facts }) => facts['partition'] === partition)
  // An append that was lost and repeated is there as another message.
  const place = new Map(order.map(({ facts }, at): [unknown, number] => [facts['id'], at]))
  let next = 0
  return met.flatMap(({ process, key, facts, at }) => {
    const found = place.get(facts['id'])
    if (found === undefined) {
      // It was lost later, with the server that had it.
      return meets(terms.losses, at, at) ? [] : [`${key}: was met by process ${process}, and is not there`]
    }
    const lossReported = facts['lostBefore'] !== null
    const expected = next
    next = found + 1
    if (found === expected || lossReported) return []
    const how =
      found < expected ? 'a second time or out of order' : `after ${found - expected} were passed over`
    return [`${key}: was met by process ${process} ${how}`]
  })
}

/** Followers continue through every outage; only a follower that may not read gets an error. */
export function ended(history: History): string[] {
  return history.sights
    .filter(({ what, facts }) => what === 'tail ended' && facts['code'] !== 'forbidden')
    .map(({ process, facts }) => `process ${process} stopped following: ${String(facts['error'])}`)
}
