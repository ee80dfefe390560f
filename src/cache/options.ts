// What a cache and a call on it may be told, with units and bounds; and what it tells of itself.

import { checkFlag, checkInteger, checkOneOf, checkOptions } from '../runtime/values/arguments.ts'
import type { Codec } from '../runtime/values/codec.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { notifying } from '../runtime/errors/notify.ts'
import { toLeaseMs } from '../runtime/leases/lease-options.ts'
import type { Earliness } from './envelope.ts'
import { checkTags } from './tags.ts'

/** How long a value counts. */
export interface Freshness {
  /** How long it is served without question; default one minute. */
  ttl?: Duration
  /** How long it may be served after that, while it is loaded again; default: not at all. */
  staleWhileRevalidate?: Duration
}

export interface CacheOptions<Value> extends Freshness {
  /**
   * As `ttl`, for `null` and `undefined`: there is nothing. '0s': that is not kept, and a value that was there ends.
   * Default: `ttl`.
   */
  negativeTtl?: Duration
  /** Up to this part of `ttl` is taken off by chance, so that values made together end apart. 0 to 0.5; default 0. */
  jitter?: number
  /**
   * When a fresh value is loaded again. `'ahead'`: when 1.5 times as long is left as its load took, by the first
   * who reads it then. `'xfetch'`: earlier or later by chance. false: not before it is stale. Default `'ahead'`.
   */
  early?: 'ahead' | 'xfetch' | false
  /** How eager `'xfetch'` is; default 1. */
  beta?: number
  /** How long a stale value is held back in the hope of a newer one; default: not at all. */
  patience?: Duration
  /** How long a loader may take: then its signal aborts and its load has failed. Default 30 seconds. */
  maxLoad?: Duration
  /** How long somebody waits for a load, his own or another's; default: one second more than `maxLoad`. */
  wait?: Duration
  /** How long a load is leased; it is extended while its process lives. Default 10 seconds. */
  lease?: Duration
  /** How long nobody tries again after a failure, while there is something to serve; default one second. */
  restFor?: Duration
  /** How long Redis may take before the loader answers without it; default one second. */
  storeWithin?: Duration
  /** How many loaders this process runs at once while Redis is away; default 8. */
  localConcurrency?: number
  /** How values become bytes; default JSON. */
  codec?: Codec<Value>
  /** Copies of values in this process, so that most hits need no Redis; default: none. */
  l1?: L1Options
  /** Where metrics take hold of the cache. */
  hooks?: CacheHooks
}

export interface L1Options {
  /** How many values it keeps at most; those that were not asked for the longest go first. */
  count: number
  /** How many bytes they have at most, as stored; default 64 MiB. */
  bytes?: number
  /** How long a copy is served at most, though nothing was told of its end: messages can be lost. Default 10 seconds. */
  age?: Duration
  /**
   * True: whoever is served a copy gets the same object, which was decoded once; nobody may change it. Default: each gets one
   * of their own.
   */
  share?: boolean
}

export interface GetOptions extends Freshness {
  /** The value ends when one of these is invalidated. A value that was stored with others does not count. */
  tags?: readonly string[]
  /** How long to wait for a load; default: that of the cache. */
  wait?: Duration
  /** Ends the waiting, not the load: others may wait for it. */
  signal?: AbortSignal
}

export interface SetOptions extends Freshness {
  /** Rises with every change of what is cached: one that is not greater than the last is refused. */
  version?: number
  tags?: readonly string[]
}

/** `process`: from the level of this process. */
export type ServedFrom = 'process' | 'redis'

/**
 * What a process tells of its own use of a cache, for metrics. Each get begins with `fresh`, `stale`, `absent` or `outage`;
 * `undecodable` and an `outage` may follow.
 */
export type CacheEvent =
  /** A hit. */
  | { readonly kind: 'fresh' | 'stale'; readonly key: string; readonly from: ServedFrom }
  /** A miss: the value is loaded, here or elsewhere. */
  | { readonly kind: 'absent'; readonly key: string }
  /** Redis is away: the loader answers without it. */
  | { readonly kind: 'outage'; readonly key: string }
  /** A loader of this process ended well; `stored`: others get its value too. */
  | { readonly kind: 'loaded'; readonly key: string; readonly loadMs: number; readonly stored: boolean }
  /** What it found was refused: an invalidation, a set, another load or a greater version came between. */
  | {
      readonly kind: 'refused'
      readonly key: string
      readonly loadMs: number
      readonly why: 'revoked' | 'lost' | 'superseded'
    }
  /** It threw, took longer than `maxLoad`, or lost its lease. */
  | { readonly kind: 'failed'; readonly key: string; readonly loadMs: number; readonly error: unknown }
  /** The codec threw at what is kept: the value is loaded, here or elsewhere. */
  | { readonly kind: 'undecodable'; readonly key: string; readonly error: unknown }
  /** The level made room. */
  | { readonly kind: 'evicted'; readonly key: string }

export interface CacheHooks {
  /** Called at once with what happens in this process: it must be quick; what it throws becomes an uncaught exception. */
  event?: (event: CacheEvent) => void
}

export type Tell = (event: CacheEvent) => void

/** How long a value counts, in milliseconds. */
export interface Span {
  readonly ttlMs: number
  readonly staleWhileRevalidateMs: number
}

/** What a level may keep. */
export interface LevelLimits {
  readonly count: number
  readonly bytes: number
  readonly ageMs: number
  /** Whether all who are served a copy get the same value. */
  readonly share: boolean
}

/** The options of a cache, checked. */
export interface CacheTerms extends Span, Earliness {
  /** -1: as `ttlMs`. */
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
// A tag is remembered for 60 days after it was invalidated: a value must not outlive that.
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

/** Throws InvalidArgumentError. */
export function toSpan({ ttl, staleWhileRevalidate }: Freshness, otherwise: Span): Span {
  return {
    ttlMs: ttl === undefined ? otherwise.ttlMs : toMs('ttl', ttl, { max: LONGEST }),
    staleWhileRevalidateMs:
      staleWhileRevalidate === undefined
        ? otherwise.staleWhileRevalidateMs
        : toMs('staleWhileRevalidate', staleWhileRevalidate, { min: '0s', max: LONGEST }),
  }
}

/** How long a value counts where nothing was said of it by itself: that there is nothing has a time of its own. */
export function spanOf(
  value: unknown,
  { negativeMs }: Pick<CacheTerms, 'negativeMs'>,
  otherwise: Span,
): Span {
  const isNothing = value === null || value === undefined
  if (!isNothing || negativeMs < 0) return otherwise
  return negativeMs === 0 ? { ttlMs: 0, staleWhileRevalidateMs: 0 } : { ...otherwise, ttlMs: negativeMs }
}

/** Up to this part of it less, by chance; at least a millisecond. */
export function spread(ms: number, jitter: number): number {
  return Math.max(1, Math.round(ms * (1 - Math.random() * jitter)))
}

/** Throws InvalidArgumentError. */
export function toTell(hooks: CacheHooks = {}): Tell | null {
  checkOptions('hooks', hooks, ['event'])
  const { event } = hooks
  if (event === undefined) return null
  return notifying('hooks.event', event)
}

function fraction(argument: string, value: unknown, max: number): number {
  if (typeof value === 'number' && value >= 0 && value <= max) return value
  throw new InvalidArgumentError(argument, `must be a number from 0 to ${max}`)
}
