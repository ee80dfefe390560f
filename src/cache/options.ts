// Options of a cache and its calls, with units and bounds, and its events.

import { checkFlag, checkInteger, checkOneOf, checkOptions } from '../runtime/values/arguments.ts'
import type { Codec } from '../runtime/values/codec.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { notifying } from '../runtime/errors/notify.ts'
import { toLeaseMs } from '../runtime/leases/lease-options.ts'
import type { Earliness } from './envelope.ts'
import { checkTags } from './tags.ts'

/** How long a value is valid. */
export interface Freshness {
  /**
   * How long the value is fresh and served without a refresh, up to 25 days. Default: that of the cache, or one
   * minute.
   */
  ttl?: Duration
  /**
   * How long after `ttl` the stale value may be served while it is refreshed, up to 25 days. Default: that of the cache,
   * or `'0s'`.
   */
  staleWhileRevalidate?: Duration
}

export interface CacheOptions<Value> extends Freshness {
  /**
   * The `ttl` of `null` and `undefined`, up to 25 days, unless the call sets its own; `'0s'`: they are not cached,
   * and an existing value is removed, even if it could be served stale. Default: `ttl`.
   */
  negativeTtl?: Duration
  /**
   * The part of `ttl`, 0 to 0.5, up to which a random amount is subtracted, so that values made together expire at
   * different times. Default: 0.
   */
  jitter?: number
  /**
   * When a fresh value is refreshed. `'ahead'`: by the first read when 1.5 times its load time is left, at most half
   * its fresh time. `'xfetch'`: earlier or later at random. `false`: not before it is stale. Default: `'ahead'`.
   */
  early?: 'ahead' | 'xfetch' | false
  /** How early `'xfetch'` refreshes, 0 to 100: greater is earlier. Default: 1. */
  beta?: number
  /**
   * How long a get waits for a newer value before it serves a stale one, up to one hour and at most `wait`. Default:
   * `'0s'`.
   */
  patience?: Duration
  /** How long a loader may take, up to one hour; then its signal aborts and the load fails. Default: 30 seconds. */
  maxLoad?: Duration
  /** How long a get waits for a load in this or another process, up to one hour. Default: `maxLoad` plus one second. */
  wait?: Duration
  /**
   * The length of a load's lease, 10 ms to 30 days. It is extended automatically while the process lives. Default: 10
   * seconds.
   */
  lease?: Duration
  /**
   * How long no load is tried after a failure while a stale value may be served, up to one hour. Default: one second.
   */
  restFor?: Duration
  /** How long to wait for Redis before the loader answers without it, up to one hour. Default: one second. */
  storeWithin?: Duration
  /** The number of loaders that this process runs at once while Redis is unavailable, 1 to 1,000. Default: 8. */
  localConcurrency?: number
  /** How values become bytes; it is stored with them, and another codec is rejected. Default: JSON. */
  codec?: Codec<Value>
  /** The L1: copies of values in this process, so that most hits need no call to Redis. Default: none. */
  l1?: L1Options
  /** Callbacks for metrics. Default: none. */
  hooks?: CacheHooks
}

export interface L1Options {
  /** The greatest number of copies, 1 to 10,000,000; the least recently used is evicted first. */
  count: number
  /** The greatest total size of the copies in bytes, as stored. Default: 64 MiB. */
  bytes?: number
  /**
   * How long a copy is served at most, up to one hour, even without an invalidation message, because messages can be
   * lost. Default: 10 seconds.
   */
  age?: Duration
  /**
   * True: all callers get the same object, decoded once, and must not change it. False: each hit decodes its own
   * object. Callers that wait for one load get its object. Default: false.
   */
  share?: boolean
}

export interface GetOptions extends Freshness {
  /**
   * Up to 16 tags of up to 255 bytes: the value is invalid when one of them is invalidated. A value stored with other
   * tags is a miss. Default: none.
   */
  tags?: readonly string[]
  /** How long to wait for a load, up to one hour. Default: the `wait` of the cache. */
  wait?: Duration
  /** Aborts the waiting, not the load, because other callers may wait for it. Default: none. */
  signal?: AbortSignal
}

export interface SetOptions extends Freshness {
  /**
   * A whole number that rises with every change of the value; one that is not greater than the last is refused.
   * Default: none.
   */
  version?: number
  /** Up to 16 tags of up to 255 bytes: the value is invalid when one of them is invalidated. Default: none. */
  tags?: readonly string[]
}

/** `process`: from the L1 of this process. */
export type ServedFrom = 'process' | 'redis'

/**
 * An event of this process's use of a cache, for metrics. The first event of each get is `fresh`, `stale`, `absent`
 * or `outage`; `undecodable` and `outage` may follow.
 */
export type CacheEvent =
  /** A hit. */
  | { readonly kind: 'fresh' | 'stale'; readonly key: string; readonly from: ServedFrom }
  /** A miss: the value is loaded, here or elsewhere. */
  | { readonly kind: 'absent'; readonly key: string }
  /** Redis is unavailable: the loader answers without it. */
  | { readonly kind: 'outage'; readonly key: string }
  /** A loader of this process succeeded; `stored`: its value is cached for others. */
  | { readonly kind: 'loaded'; readonly key: string; readonly loadMs: number; readonly stored: boolean }
  /**
   * The value of a loader was not stored, because an invalidation, a set, another load or a greater version came
   * first.
   */
  | {
      readonly kind: 'refused'
      readonly key: string
      readonly loadMs: number
      readonly why: 'revoked' | 'lost' | 'superseded'
    }
  /** A loader threw, took longer than `maxLoad`, or lost its lease. */
  | { readonly kind: 'failed'; readonly key: string; readonly loadMs: number; readonly error: unknown }
  /** The codec could not decode the cached value: it is loaded, here or elsewhere. */
  | { readonly kind: 'undecodable'; readonly key: string; readonly error: unknown }
  /** The L1 evicted a copy to make room. */
  | { readonly kind: 'evicted'; readonly key: string }

export interface CacheHooks {
  /**
   * Called synchronously with each event of this process; it must return quickly, and an error that it throws becomes
   * an uncaught exception. Default: none.
   */
  event?: (event: CacheEvent) => void
}

export type Emit = (event: CacheEvent) => void

/** How long a value is valid, in milliseconds. */
export interface Span {
  readonly ttlMs: number
  readonly staleWhileRevalidateMs: number
}

/** The limits of an L1. */
export interface LevelLimits {
  readonly count: number
  readonly bytes: number
  readonly ageMs: number
  /** Whether all callers get the same object. */
  readonly share: boolean
}

/** The options of a cache, checked. */
export interface CacheTerms extends Span, Earliness {
  /** -1: like `ttlMs`. */
  readonly negativeMs: number
  readonly jitter: number
  readonly patienceMs: number
  readonly maxLoadMs: number
  readonly waitMs: number
  readonly leaseMs: number
  readonly restMs: number
  readonly storeMs: number
  readonly localConcurrency: number
  readonly l1: LevelLimits | null
}

/** The options of a get, checked. */
export interface GetTerms {
  readonly span: Span
  readonly tags: readonly string[]
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

const KNOWN = [
  'ttl',
  'staleWhileRevalidate',
  'negativeTtl',
  'jitter',
  'early',
  'beta',
  'patience',
  'maxLoad',
  'wait',
  'lease',
  'restFor',
  'storeWithin',
  'localConcurrency',
  'codec',
  'l1',
  'hooks',
]
// A tag's invalidation is remembered for 60 days: a value must not outlive that.
const LONGEST = '25d'

/** Throws InvalidArgumentError. */
export function toTerms<Value>(options: CacheOptions<Value>): CacheTerms {
  checkOptions('options', options, KNOWN)
  const { maxLoad = '30s', early = 'ahead', negativeTtl } = options
  const maxLoadMs = toMs('maxLoad', maxLoad, { max: '1h' })
  return {
    ...toSpan(options, { ttlMs: 60_000, staleWhileRevalidateMs: 0 }),
    negativeMs:
      negativeTtl === undefined ? -1 : toMs('negativeTtl', negativeTtl, { min: '0s', max: LONGEST }),
    jitter: fraction('jitter', options.jitter ?? 0, 0.5),
    early: early === false ? false : checkOneOf<'ahead' | 'xfetch'>('early', early, ['ahead', 'xfetch']),
    beta: fraction('beta', options.beta ?? 1, 100),
    patienceMs: toMs('patience', options.patience ?? '0s', { min: '0s', max: '1h' }),
    maxLoadMs,
    waitMs:
      options.wait === undefined ? maxLoadMs + 1000 : toMs('wait', options.wait, { min: '0s', max: '1h' }),
    leaseMs: toLeaseMs(options.lease ?? '10s'),
    restMs: toMs('restFor', options.restFor ?? '1s', { min: '0s', max: '1h' }),
    storeMs: toMs('storeWithin', options.storeWithin ?? '1s', { max: '1h' }),
    localConcurrency: checkInteger('localConcurrency', options.localConcurrency ?? 8, 1, 1000),
    l1: options.l1 === undefined ? null : toLimits(options.l1),
  }
}

/** Throws InvalidArgumentError. */
function toLimits(l1: L1Options): LevelLimits {
  checkOptions('l1', l1, ['count', 'bytes', 'age', 'share'])
  const { count, bytes = 64 * 1024 * 1024, age = '10s', share = false } = l1
  return {
    count: checkInteger('l1.count', count, 1, 10_000_000),
    bytes: checkInteger('l1.bytes', bytes, 1, Number.MAX_SAFE_INTEGER),
    ageMs: toMs('l1.age', age, { max: '1h' }),
    share: checkFlag('l1.share', share),
  }
}

/** Throws InvalidArgumentError. */
export function toGetTerms(options: GetOptions, terms: CacheTerms): GetTerms {
  checkOptions('options', options, ['ttl', 'staleWhileRevalidate', 'tags', 'wait', 'signal'])
  const { wait, signal } = options
  return {
    span: toSpan(options, terms),
    tags: checkTags(options.tags),
    waitMs: wait === undefined ? terms.waitMs : toMs('wait', wait, { min: '0s', max: '1h' }),
    signal,
  }
}

/** A value that is not cached is not served stale either, whatever the options. Throws InvalidArgumentError. */
export function toSpan({ ttl, staleWhileRevalidate }: Freshness, otherwise: Span): Span {
  const ttlMs = ttl === undefined ? otherwise.ttlMs : toMs('ttl', ttl, { max: LONGEST })
  const staleWhileRevalidateMs =
    staleWhileRevalidate === undefined
      ? otherwise.staleWhileRevalidateMs
      : toMs('staleWhileRevalidate', staleWhileRevalidate, { min: '0s', max: LONGEST })
  return { ttlMs, staleWhileRevalidateMs: ttlMs > 0 ? staleWhileRevalidateMs : 0 }
}

/** How long a value is valid by default, for `toSpan`: `null` and `undefined` have their own TTL. */
export function spanOf(
  value: unknown,
  { negativeMs }: Pick<CacheTerms, 'negativeMs'>,
  otherwise: Span,
): Span {
  const isNothing = value === null || value === undefined
  if (!isNothing || negativeMs < 0) return otherwise
  return { ...otherwise, ttlMs: negativeMs }
}

/** Subtracts a random amount up to this part; the result is at least one millisecond. */
export function spread(ms: number, jitter: number): number {
  return Math.max(1, Math.round(ms * (1 - Math.random() * jitter)))
}

/** Throws InvalidArgumentError. */
export function toEmit(hooks: CacheHooks = {}): Emit | null {
  checkOptions('hooks', hooks, ['event'])
  const { event } = hooks
  return event === undefined ? null : notifying('hooks.event', event)
}

function fraction(argument: string, value: unknown, max: number): number {
  if (typeof value === 'number' && value >= 0 && value <= max) return value
  throw new InvalidArgumentError(argument, `must be a number from 0 to ${max}`)
}
