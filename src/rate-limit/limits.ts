// The limits of a rate limiter: options for users, and terms for the scripts.

import { checkInteger, checkOptions } from '../runtime/values/arguments.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { toLeaseMs } from '../runtime/leases/lease-options.ts'

/**
 * Units refill evenly, and up to `burst` of them may be taken at once (generic cell rate algorithm, ITU-T I.371). In
 * no period of length L are more than `burst + L × limit / window` units allowed.
 */
export interface GcraLimit {
  /** The algorithm. Default: `'gcra'`. */
  algorithm?: 'gcra'
  /** The units that refill in a window, 1 to 10,000,000. */
  limit: number
  /** The time in which `limit` units refill, up to 366 days. */
  window: Duration
  /** The units that may be taken at once, 1 to 10,000,000; all must refill within 3650 days. Default: `limit`. */
  burst?: number
}

/** At most `limit` units in every window, wherever the window begins. */
export interface SlidingWindowLimit {
  /** The algorithm. */
  algorithm: 'sliding-window'
  /** The units that may be taken in a window, 1 to 10,000,000. */
  limit: number
  /** The length of the window, up to 366 days. */
  window: Duration
}

/** At most `limit` takes at the same time, regardless of their cost. */
export interface ConcurrencyLimit {
  /** The algorithm. */
  algorithm: 'concurrency'
  /** The takes that may hold a place at the same time, 1 to 1,000. */
  limit: number
  /** How long a take holds its place unless it is released, 10 ms to 30 days. Default: 1 minute. */
  lease?: Duration
}

export type Limit = GcraLimit | SlidingWindowLimit | ConcurrencyLimit

export type Algorithm = 'gcra' | 'sliding-window' | 'concurrency'

/** A limit in the form that the scripts take. */
export interface LimitTerms {
  readonly name: string
  readonly algorithm: Algorithm
  readonly limit: number
  /** The window; of a concurrency limit the lease. */
  readonly windowMs: number
  /** The greatest number of units in one take. */
  readonly burst: number
}

const ONLY_LIMIT = 'default'
const MAX_LIMITS = 8
// Up to this limit every number in the scripts is exact in a double.
const MAX_UNITS = 10_000_000
const MAX_PLACES = 1000
const MAX_SPAN_MS = 3650 * 86_400_000
const KNOWN = {
  gcra: ['algorithm', 'limit', 'window', 'burst'],
  'sliding-window': ['algorithm', 'limit', 'window'],
  concurrency: ['algorithm', 'limit', 'lease'],
}

/** The terms of one limit, called `default`. Throws InvalidArgumentError. */
export function toOnlyTerms(limit: Limit): LimitTerms[] {
  return [toTerms('', ONLY_LIMIT, limit)]
}

/** The terms of several limits by name. Throws InvalidArgumentError. */
export function toManyTerms(limits: Readonly<Record<string, Limit>>): LimitTerms[] {
  const names = typeof limits === 'object' && limits !== null ? Object.keys(limits) : []
  if (names.length === 0 || names.length > MAX_LIMITS) {
    throw new InvalidArgumentError('limits', `must be an object of 1 to ${MAX_LIMITS} limits`)
  }
  return names.map((name) => toTerms(`limits.${checkLimitName(name)}.`, name, limits[name] as Limit))
}

/** The greatest cost that all limits can allow for one take. */
export function maxCost(terms: readonly LimitTerms[]): number {
  const counted = terms.filter(({ algorithm }) => algorithm !== 'concurrency')
  return Math.min(MAX_UNITS, ...counted.map(({ burst }) => burst))
}

// Names are used in HTTP headers and in fields of a key.
function checkLimitName(name: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return name
  throw new InvalidArgumentError('limits', 'must have names of 1 to 64 characters of A-Z a-z 0-9 _ -')
}

/** `prefix`: precedes an option in error messages, such as `limits.perDay.`. */
function toTerms(prefix: string, name: string, limit: Limit): LimitTerms {
  const algorithm = limit?.algorithm ?? 'gcra'
  const known = Object.hasOwn(KNOWN, algorithm) ? KNOWN[algorithm] : undefined
  if (known === undefined) {
    throw new InvalidArgumentError(`${prefix}algorithm`, `must be one of ${Object.keys(KNOWN).join(', ')}`)
  }
  checkOptions(prefix.slice(0, -1) || 'options', limit, known)
  if (limit.algorithm === 'concurrency') return concurrencyTerms(prefix, name, limit)
  const units = checkInteger(`${prefix}limit`, limit.limit, 1, MAX_UNITS)
  const windowMs = toMs(`${prefix}window`, limit.window, { max: '366d' })
  if (limit.algorithm === 'sliding-window') return { name, algorithm, limit: units, windowMs, burst: units }
  const burst = checkInteger(`${prefix}burst`, limit.burst ?? units, 1, MAX_UNITS)
  if ((burst / units) * windowMs > MAX_SPAN_MS) {
    throw new InvalidArgumentError(`${prefix}burst`, 'must refill within 3650d')
  }
  return { name, algorithm, limit: units, windowMs, burst }
}

function concurrencyTerms(
  prefix: string,
  name: string,
  { limit, lease = '1m' }: ConcurrencyLimit,
): LimitTerms {
  const places = checkInteger(`${prefix}limit`, limit, 1, MAX_PLACES)
  const windowMs = toLeaseMs(lease, `${prefix}lease`)
  return { name, algorithm: 'concurrency', limit: places, windowMs, burst: places }
}
