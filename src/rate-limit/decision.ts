// Decisions of a rate limiter.

import type { AmbiguousError, DriverError } from '../runtime/errors/errors.ts'
import type { Algorithm, LimitTerms } from './limits.ts'

/** The state of a subject under one limit. */
export interface LimitState {
  readonly algorithm: Algorithm
  /** The units of a window, or the places. */
  readonly limit: number
  /** The window in milliseconds; of a concurrency limit the lease. */
  readonly windowMs: number
  /** The units that could be taken now, or the free places. */
  readonly remaining: number
  /** The milliseconds until all units or places are free again, if nothing is taken meanwhile. */
  readonly resetMs: number
}

interface Judged {
  /** The smallest `remaining` of all limits. */
  readonly remaining: number
  /** When all limits are free again, in milliseconds of the server's clock. */
  readonly resetAtMs: number
  readonly limits: Readonly<Record<string, LimitState>>
  readonly outage?: never
}

export interface Allowed extends Judged {
  readonly allowed: true
  /**
   * The token for `refund` and `release`, greater than that of every earlier take of the subject. 0 for `get`, which
   * takes nothing.
   */
  readonly token: number
}

/** The take was denied: nothing was taken from any limit. */
export interface Denied extends Judged {
  readonly allowed: false
  /** The milliseconds after which the same take would be allowed, if nothing is taken meanwhile. */
  readonly retryAfterMs: number
  /** The name of the limit with the longest wait. */
  readonly deniedBy: string
}

/** The store could not decide; `allowed` follows the option `onOutage`. */
export interface Outage {
  readonly allowed: boolean
  readonly outage: true
  /** The error of the store. */
  readonly cause: DriverError | AmbiguousError
}

export type Decision = Allowed | Denied | Outage

/** The state of a subject when it was read, for monitoring: it may be outdated when it arrives. */
export interface SubjectInspection {
  /** False when nothing is stored, because nothing was taken for a while. */
  readonly exists: boolean
  readonly limits: Readonly<Record<string, LimitState>>
  /** The places that takes hold, by limit, in the order in which their leases end. */
  readonly held: readonly { readonly limit: string; readonly token: number; readonly expiresAtMs: number }[]
}

interface Meter {
  readonly free: number
  readonly resetUs: number
}

interface Answer {
  readonly nowUs: number
  readonly limits: readonly Meter[]
}

interface OnlyAnswer extends Meter {
  readonly nowUs: number
}

interface DeniedAnswer extends Answer {
  readonly denier: number
  readonly waitUs: number
}

export function toAllowed(terms: readonly LimitTerms[], answer: Answer, token: number): Allowed {
  return { allowed: true, ...toJudged(terms, answer), token }
}

export function toDenied(terms: readonly LimitTerms[], answer: DeniedAnswer): Denied {
  return {
    allowed: false,
    ...toJudged(terms, answer),
    retryAfterMs: toMsUp(answer.waitUs),
    deniedBy: nameAt(terms, answer.denier),
  }
}

/** For a subject with one limit. */
export function onlyAllowed(terms: LimitTerms, answer: OnlyAnswer, token: number): Allowed {
  const { nowUs, free, resetUs } = answer
  const limits = { [terms.name]: toState(terms, free, resetUs) }
  return { allowed: true, remaining: free, resetAtMs: toMsUp(nowUs + resetUs), limits, token }
}

/** For a subject with one limit. */
export function onlyDenied(terms: LimitTerms, answer: OnlyAnswer, waitUs: number): Denied {
  const { nowUs, free, resetUs } = answer
  return {
    allowed: false,
    remaining: free,
    resetAtMs: toMsUp(nowUs + resetUs),
    limits: { [terms.name]: toState(terms, free, resetUs) },
    retryAfterMs: toMsUp(waitUs),
    deniedBy: terms.name,
  }
}

/** The states of limits by their names. */
export function toStates(
  terms: readonly LimitTerms[],
  meters: readonly Meter[],
): Readonly<Record<string, LimitState>> {
  return Object.fromEntries(
    terms.map((each, at) => {
      const { free = 0, resetUs = 0 } = meters[at] ?? {}
      return [each.name, toState(each, free, resetUs)]
    }),
  )
}

function toState({ algorithm, limit, windowMs }: LimitTerms, free: number, resetUs: number): LimitState {
  return { algorithm, limit, windowMs, remaining: free, resetMs: toMsUp(resetUs) }
}

/** The name of a limit by its index, counted from 1, as in answers of scripts. */
export function nameAt(terms: readonly LimitTerms[], place: number): string {
  return terms[place - 1]?.name ?? ''
}

// Rounded up, so that no caller retries too early.
export function toMsUp(us: number): number {
  return Math.ceil(us / 1000)
}

function toJudged(terms: readonly LimitTerms[], { nowUs, limits }: Answer): Omit<Judged, 'outage'> {
  return {
    remaining: Math.min(...limits.map(({ free }) => free)),
    resetAtMs: toMsUp(nowUs + Math.max(...limits.map(({ resetUs }) => resetUs))),
    limits: toStates(terms, limits),
  }
}
