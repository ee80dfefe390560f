// What a limiter allows: options as users write them, and terms as the scripts take them.

import { checkInteger, checkOptions } from '../runtime/values/arguments.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { toLeaseMs } from '../runtime/leases/lease-options.ts'

/**
 * Units flow back evenly, and `burst` of them may be taken at once (generic cell rate algorithm, ITU-T
 * I.371). In no span of length L are more than `burst + L × limit / window` units allowed.
 */
export interface GcraLimit {
  algorithm?: 'gcra'
  /** Units that flow back in a window. */
  limit: number
  window: Duration
  /** Units that may be taken at once; default: `limit`. */
  burst?: number
}

/** In every window at most `limit` units, wherever it begins. */
export interface SlidingWindowLimit {
  algorithm: 'sliding-window'
  limit: number
  window: Duration
}

/** At most `limit` takes at work at once, whatever they cost. */
export interface ConcurrencyLimit {
  algorithm: 'concurrency'
  limit: number
  /** When the place of a take that was never released is free again; default 1 minute. */
  lease?: Duration
}

export type Limit = GcraLimit | SlidingWindowLimit | ConcurrencyLimit

export type Algorithm = 'gcra' | 'sliding-window' | 'concurrency'

/** A limit as the scripts take it. */
export interface LimitTerms {
  readonly name: string
  readonly algorithm: Algorithm
  readonly limit: number
  /** Of a concurrency limit the lease. */
  readonly windowMs: number
  /** The most units that one take can have. */
  readonly burst: number
}

const ONLY_LIMIT = 'default'
const MAX_LIMITS = 8
// Up to here all that the scripts compute is exact in a double.
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

/** The most units that all limits can allow to one take. */
export function maxCost(terms: readonly LimitTerms[]): number {
  const counted = terms.filter(({ algorithm }) => algorithm !== 'concurrency')
  return Math.min(MAX_UNITS, ...counted.map(({ burst }) => burst))
}

// Names stand in HTTP headers and in fields of a key.
function checkLimitName(name: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return name
  throw new InvalidArgumentError('limits', 'must have names of 1 to 64 of A-Z a-z 0-9 _ -')
}

/** `prefix`: what stands before an option in errors, such as `limits.perDay.`. */
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
    throw new InvalidArgumentError(`${prefix}burst`, 'must flow back within 3650d')
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
