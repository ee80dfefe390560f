// A job that was acknowledged is done; once it was acked it never comes again; it has one holder at a time.

import type { Call, History } from '../history.ts'
import { isExcused, meets, type Terms } from '../terms.ts'
import { byKey, callsOf, type Checker, numberOf } from './checker.ts'
import { keysHeld, tooManyAtOnce } from './leases.ts'

export interface Start {
  readonly id: string
  readonly token: number
  readonly attempt: number
  /** From when on it may have been given. */
  readonly askedAt: number
  readonly gotAt: number
}

interface End {
  readonly id: string
  readonly fromUs: number
  readonly untilUs: number
  /** Not known for certain. */
  readonly maybe: boolean
}

export const queue: Checker = (history, terms) => {
  const starts = startsOf(history)
  const ends = endsOf(history)
  return [
    ...lost(history, starts, ends, terms),
    ...fromNowhere(history, starts),
    ...again(starts, ends, terms),
    ...attemptsThatDoNotRise(starts, terms),
    ...keysHeld(history).flatMap((id) => tooManyAtOnce(history, id, 1, terms)),
    ...leftOver(history),
  ]
}

export function startsOf(history: History): Start[] {
  const claimed = callsOf(history, 'claim', 'ok').flatMap(({ got, beganAt, settledAt }) =>
    (got['jobs'] as { id: string; token: number; attempt: number }[]).map((job) => ({
      ...job,
      askedAt: beganAt,
      gotAt: settledAt,
    })),
  )
  const handled = history.sights
    .filter(({ what }) => what === 'started')
    .map(({ key, at, facts }) => ({
      id: key,
      token: numberOf(facts, 'token'),
      attempt: numberOf(facts, 'attempt'),
      askedAt: Number.NEGATIVE_INFINITY,
      gotAt: at,
    }))
  return [...claimed, ...handled]
}

function endsOf(history: History): End[] {
  const acks = callsOf(history, 'ack').filter(({ outcome }) => outcome !== 'failed')
  const settled = history.sights.filter(({ what }) => what === 'settled: acked')
  // Errors that a worker got for a job whose ack was under way.
  const doubtful = history.sights.filter(
    ({ what, facts }) => what === 'reported' && isDoubt(String(facts['error'])),
  )
  return [
    ...acks.map(({ key, beganAt, settledAt, outcome }) => ({
      id: key,
      fromUs: beganAt,
      untilUs: settledAt,
      maybe: outcome !== 'ok',
    })),
    ...settled.map(({ key, at }) => ({ id: key, fromUs: at, untilUs: at, maybe: false })),
    ...doubtful.map(({ key, at }) => ({ id: key, fromUs: at, untilUs: at, maybe: true })),
  ]
}

/** A repeated ack finds the job absent when the server no longer knows whether the first one took effect. */
function isDoubt(error: string): boolean {
  return error.startsWith('AmbiguousError') || error.includes('(absent)')
}

function lost(history: History, starts: readonly Start[], ends: readonly End[], terms: Terms): string[] {
  const [started, ended] = [new Set(starts.map(({ id }) => id)), new Set(ends.map(({ id }) => id))]
  return callsOf(history, 'enqueue', 'ok')
    .filter(({ key }) => !ended.has(key))
    .filter(({ beganAt, settledAt }) => !meets(terms.losses, beganAt, settledAt))
    .filter(({ key }) => !startedIn(starts, key, terms))
    .map(({ key }) => `${key}: was acknowledged and never ${started.has(key) ? 'ended' : 'started'}`)
}

/** An ack may have happened on a server that lost it, or its worker heard of a loss: then the outcome is unknown. */
function startedIn(starts: readonly Start[], id: string, { losses }: Terms): boolean {
  return starts.some((start) => start.id === id && meets(losses, start.gotAt, start.gotAt))
}

function fromNowhere(history: History, starts: readonly Start[]): string[] {
  const asked = new Map(callsOf(history, 'enqueue').map((call): [string, Call] => [call.key, call]))
  return starts.flatMap(({ id, gotAt }) => {
    const enqueue = asked.get(id)
    if (enqueue === undefined) return [`${id}: was never enqueued`]
    if (enqueue.outcome === 'failed')
      return [`${id}: was started, though its enqueue failed: ${enqueue.error}`]
    return gotAt < enqueue.beganAt ? [`${id}: was started before it was enqueued`] : []
  })
}

/**
 * The instant at which a handler starts says nothing of when its job was claimed: only what a claim asked for counts.
 */
function again(starts: readonly Start[], ends: readonly End[], terms: Terms): string[] {
  const certain = ends.filter(({ maybe, fromUs, untilUs }) => !maybe && !isExcused(terms, fromUs, untilUs))
  const endedAt = new Map(certain.map(({ id, untilUs }) => [id, untilUs]))
  const doubled = certain.length - endedAt.size
  const problems = starts
    .filter(({ id, askedAt }) => askedAt > (endedAt.get(id) ?? Infinity))
    .map(({ id }) => `${id}: was claimed again after it had been acked`)
  return doubled > 0 ? [...problems, `${doubled} jobs were acked twice`] : problems
}

function attemptsThatDoNotRise(starts: readonly Start[], terms: Terms): string[] {
  return [...byKey(starts.map((start) => ({ ...start, key: start.id })))].flatMap(([id, all]) => {
    const inTurn = all.toSorted((a, b) => a.token - b.token)
    const wrong = inTurn.some(({ attempt, token }, at) => {
      const before = inTurn[at - 1]
      return before !== undefined && (attempt <= before.attempt || token === before.token)
    })
    const excused = all.some(({ gotAt }) => meets(terms.losses, gotAt, gotAt))
    return wrong && !excused ? [`${id}: its attempts do not rise: ${JSON.stringify(inTurn)}`] : []
  })
}

function leftOver(history: History): string[] {
  const left = history.sights.filter(({ what }) => what === 'left')
  if (left.length === 0) return ['no process looked at what is left']
  return left.flatMap(({ facts }) => [
    ...(facts['drained'] === true ? [] : ['jobs are left that no worker gets']),
    ...(facts['dead'] === 0 ? [] : [`${String(facts['dead'])} jobs are dead`]),
  ])
}
