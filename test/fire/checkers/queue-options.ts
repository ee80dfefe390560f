// Additional invariants of a queue whose jobs have groups, priorities, delays and idempotency keys.

import type { Call, History } from '../history.ts'
import { isExcused, meets, type Terms } from '../terms.ts'
import { SINGLE } from '../workloads/queue-options.ts'
import { callsOf, type Checker, instant, numberOf } from './checker.ts'
import { tooManyAtOnce } from './leases.ts'
import { queue, type Start, startsOf } from './queue.ts'

export const queueOptions: Checker = (history, terms) => {
  const starts = startsOf(history)
  const enqueues = new Map(callsOf(history, 'enqueue').map((call): [string, Call] => [call.key, call]))
  return [
    ...queue(history, terms),
    ...tooEarly(history, starts, enqueues, terms),
    ...twice(history, terms),
    ...tooManyOfTheGroup(history, enqueues, terms),
    ...outOfTurn(history, starts, enqueues, terms),
  ]
}

function tooEarly(
  history: History,
  starts: readonly Start[],
  enqueues: ReadonlyMap<string, Call>,
  terms: Terms,
): string[] {
  return starts.flatMap(({ id, gotAt }) => {
    const call = enqueues.get(id)
    if (call === undefined || isExcused(terms, call.beganAt, gotAt)) return []
    const early = call.beganAt + numberOf(call.given, 'delayMs') * 1000 - gotAt
    return early > 0
      ? [`${id}: was started ${early} us before its delay was over, at ${instant(history, gotAt)}`]
      : []
  })
}

/** A second enqueue of an acknowledged job is answered as a duplicate. */
function twice(history: History, terms: Terms): string[] {
  return callsOf(history, 'enqueue again', 'ok')
    .filter(({ got, key }) => got['duplicate'] !== true && !mayBeForgotten(history, key, terms))
    .map(({ key }) => `${key}: was enqueued a second time under its idempotency key`)
}

function mayBeForgotten(history: History, key: string, terms: Terms): boolean {
  return callsOf(history, 'enqueue', 'ok').some(
    (call) => call.key === key && isExcused(terms, call.beganAt, call.settledAt),
  )
}

function tooManyOfTheGroup(history: History, enqueues: ReadonlyMap<string, Call>, terms: Terms): string[] {
  const sights = history.sights
    .filter(({ what, key }) => what === 'held' && enqueues.get(key)?.given['group'] === SINGLE)
    .map((sight) => ({ ...sight, key: SINGLE }))
  return tooManyAtOnce({ ...history, sights }, SINGLE, 1, terms)
}

interface Given extends Start {
  readonly enqueue: Call
}

/** Within a group the greatest priority comes first, then the oldest: of jobs without delay, and of first attempts. */
function outOfTurn(
  history: History,
  starts: readonly Start[],
  enqueues: ReadonlyMap<string, Call>,
  terms: Terms,
): string[] {
  const firsts = starts.flatMap((start): Given[] => {
    const enqueue = enqueues.get(start.id)
    const counts = enqueue?.outcome === 'ok' && enqueue.given['delayMs'] === 0 && enqueue.given['group']
    return counts && start.attempt === 1 ? [{ ...start, enqueue }] : []
  })
  return firsts.flatMap((late) => {
    const before = firsts.find((early) => isOvertaken(late, early) && !hadTrouble(terms, early, late))
    if (before === undefined) return []
    return [`${late.id}: was given behind ${before.id}, at ${instant(history, late.gotAt)}`]
  })
}

/** `early` was given while `late`, which goes before it, was there. */
function isOvertaken(late: Given, early: Given): boolean {
  if (late.enqueue.given['group'] !== early.enqueue.given['group']) return false
  if (late.askedAt <= early.gotAt || late.enqueue.settledAt >= early.askedAt) return false
  const [of, than] = [numberOf(late.enqueue.given, 'priority'), numberOf(early.enqueue.given, 'priority')]
  return of > than || (of === than && late.enqueue.settledAt < early.enqueue.beganAt)
}

/** Jobs of a claim whose answer was lost come back after others. */
function hadTrouble(terms: Terms, early: Given, late: Given): boolean {
  const span = [early.enqueue.beganAt, late.gotAt] as const
  return isExcused(terms, ...span) || meets(terms.trouble, ...span) || meets(terms.stops, ...span)
}
