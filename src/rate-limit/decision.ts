// What a limiter answers.

import type { AmbiguousError, DriverError } from '../runtime/errors/errors.ts'
import type { Algorithm, LimitTerms } from './limits.ts'

/** How a subject stands with one limit. */
export interface LimitState {
  readonly algorithm: Algorithm
  readonly limit: number
  /** Of a concurrency limit the lease. */
  readonly windowMs: number
  /** Units that could be taken now, or places that are free. */
  readonly remaining: number
  /** How long until everything is free again, if nothing is taken meanwhile. */
  readonly resetMs: number
}

interface Judged {
  /** The least of all limits. */
  readonly remaining: number
  /** When all limits are free again, in milliseconds of the server's clock. */
  readonly resetAtMs: number
  readonly limits: Readonly<Record<string, LimitState>>
  readonly outage?: never
}

export interface Allowed extends Judged {
  readonly allowed: true
  /**
   * Greater than that of every earlier take of the subject; `refund` and `release` want it. 0 when it was
   * only a look (`get`).
   */
  readonly token: number
}

/** Nothing has been taken, from no limit. */
export interface Denied extends Judged {
  readonly allowed: false
  /** After this long the same take would be allowed, if nothing is taken meanwhile. */
  readonly retryAfterMs: number
  /** The limit that demands the longest wait. */
  readonly deniedBy: string
}

/** The store did not decide; `allowed` is what the option `onOutage` says. */
export interface Outage {
  readonly allowed: boolean
  readonly outage: true
  readonly cause: DriverError | AmbiguousError
}

export type Decision = Allowed | Denied | Outage

/** A picture of a subject; for people, for it may be old when it arrives. */
export interface SubjectInspection {
  /** False when nothing has been taken for a while. */
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

/** Of a subject with one limit. */
export function onlyAllowed(terms: LimitTerms, answer: OnlyAnswer, token: number): Allowed {
  const { nowUs, free, resetUs } = answer
  const limits = { [terms.name]: toState(terms, free, resetUs) }
  return { allowed: true, remaining: free, resetAtMs: toMsUp(nowUs + resetUs), limits, token }
}

/** Of a subject with one limit. */
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

/** The name of a limit by its place, as scripts tell it. */
export function nameAt(terms: readonly LimitTerms[], place: number): string {
  return terms[place - 1]?.name ?? ''
}

// Up, so that nobody comes too early.
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
