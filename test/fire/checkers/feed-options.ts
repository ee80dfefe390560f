// A feed that keeps the newest messages: each is there once, none arrives before its delay is over or after its TTL,
// and a follower is notified where messages expired before it met them.

import { grouped } from '../grouped.ts'
import type { Call, History, Sight } from '../history.ts'
import { isExcused, meets, type Terms } from '../terms.ts'
import { KEPT } from '../workloads/feed-options.ts'
import { byKey, callsOf, type Checker, instant, numberOf } from './checker.ts'
import { ended } from './feed.ts'

export const feedOptions: Checker = (history, terms) => {
  if (!history.sights.some(({ what }) => what === 'read all'))
    return ['no process read the messages that are left']
  const there = history.sights.filter(({ what }) => what === 'there')
  const appends = new Map(callsOf(history, 'append').map((call): [string, Call] => [call.key, call]))
  return [
    ...(there.length > KEPT ? [`${there.length} messages are there, and ${KEPT} are to be kept`] : []),
    ...lost(history, there, appends, terms),
    ...twice(history, there, appends, terms),
    ...tooEarly(history, appends, terms),
    ...tooLate(history, appends, terms),
    ...[...grouped(metOf(history), ({ process }) => String(process)).values()].flatMap((met) =>
      passedOver(met, there, terms),
    ),
    ...ended(history),
  ]
}

function metOf(history: History): Sight[] {
  return history.sights.filter(({ what }) => what === 'met')
}

/** Any message appended after the oldest one that is there. */
function lost(
  history: History,
  there: readonly Sight[],
  appends: ReadonlyMap<string, Call>,
  terms: Terms,
): string[] {
  const found = byKey(there)
  const oldest = there
    .map(({ key }) => appends.get(key))
    .find((call) => call?.outcome === 'ok' && !(numberOf(call.given, 'delayMs') > 0))
  return callsOf(history, 'append', 'ok')
    .filter(({ key, given }) => !found.has(key) && typeof given['livesMs'] !== 'number')
    .filter(({ beganAt }) => beganAt > (oldest?.settledAt ?? Infinity))
    .filter(({ beganAt, settledAt }) => !meets(terms.losses, beganAt, settledAt))
    .map(({ key }) => `${key}: was acknowledged and is not there`)
}

function twice(
  history: History,
  there: readonly Sight[],
  appends: ReadonlyMap<string, Call>,
  terms: Terms,
): string[] {
  const mayBeForgotten = (call: Call): boolean => meets(terms.losses, call.beganAt, call.settledAt)
  const again = callsOf(history, 'append again', 'ok').flatMap(({ key, got }) => {
    const first = appends.get(key)
    if (first === undefined || first.got['id'] === got['id'] || mayBeForgotten(first)) return []
    return [`${key}: was appended a second time under its idempotency key`]
  })
  const doubled = [...byKey(there)].flatMap(([key, all]) => {
    const first = appends.get(key)
    if (all.length < 2 || (first !== undefined && mayBeForgotten(first))) return []
    return [`${key}: is there ${all.length} times`]
  })
  return [...again, ...doubled]
}

function tooEarly(history: History, appends: ReadonlyMap<string, Call>, terms: Terms): string[] {
  return metOf(history).flatMap(({ key, at }) => {
    const call = appends.get(key)
    if (call === undefined || isExcused(terms, call.beganAt, at)) return []
    const early = call.beganAt + (numberOf(call.given, 'delayMs') || 0) * 1000 - at
    return early > 0
      ? [`${key}: was met ${early} us before its delay was over, at ${instant(history, at)}`]
      : []
  })
}

/** A page that was asked for when the life of a message was over. */
function tooLate(history: History, appends: ReadonlyMap<string, Call>, terms: Terms): string[] {
  return callsOf(history, 'page', 'ok').flatMap((page) =>
    (page.got['keys'] as string[]).flatMap((key) => {
      const call = appends.get(key)
      const livesMs = call?.given['livesMs']
      if (call?.outcome !== 'ok' || typeof livesMs !== 'number') return []
      // The life of a delayed message begins with its append, too.
      const isOver = page.beganAt > call.settledAt + livesMs * 1000
      if (!isOver || isExcused(terms, call.beganAt, page.settledAt)) return []
      return [`${key}: was shown behind its life, at ${instant(history, page.beganAt)}`]
    }),
  )
}

/** An observer meets all messages after its first one, in order, once, except where a loss was reported to it. */
function passedOver(met: readonly Sight[], there: readonly Sight[], terms: Terms): string[] {
  const place = new Map(there.map(({ facts }, at): [unknown, number] => [facts['id'], at]))
  const before = new Map<unknown, number>()
  let next = 0
  return met.flatMap(({ process, key, facts, at }) => {
    const found = place.get(facts['id'])
    // A delayed message becomes visible once more when an older copy was put back.
    const since = before.get(facts['id']) ?? at
    before.set(facts['id'], at)
    if (found === undefined) return []
    const expected = next
    next = found + 1
    if (found === expected || facts['lostBefore'] !== null || meets(terms.losses, since, at)) return []
    const how =
      found < expected ? 'a second time or out of order' : `after ${found - expected} were passed over`
    return [`${key}: was met by process ${process} ${how}`]
  })
}
