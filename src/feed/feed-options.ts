import { checkInteger, checkOptions } from '../runtime/values/arguments.ts'
import type { Codec } from '../runtime/values/codec.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'

export interface FeedOptions<Body> {
  /** What to keep when appending; default: everything. */
  retention?: number | Retention
  /** How long messages live that say nothing themselves; default: until they are removed. */
  ttl?: Duration
  /** Who appends through this handle: `read({ echo: false })` hides the same origin's messages. Default: nobody. */
  origin?: string
  /** Claims after which a message becomes a dead letter; default: never. */
  maxClaims?: number
  /** How long a dead letter lives; default: as long as the message would have. */
  deadLettersTtl?: Duration
  /** How long idempotency keys are known; default one hour. */
  idempotencyTtl?: Duration
  /** How bodies become bytes; default JSON. */
  codec?: Codec<Body>
}

/** What the feed keeps; a number is a count of messages. Whatever is beyond goes, oldest first. */
export interface Retention {
  count?: number
  age?: Duration
  /** Of all bodies together. */
  bytes?: number
}

export const FEED_OPTIONS = [
  'retention',
  'ttl',
  'origin',
  'maxClaims',
  'deadLettersTtl',
  'idempotencyTtl',
  'codec',
] as const

type WithoutCodec = Omit<FeedOptions<unknown>, 'codec'>

/** What is the same for all that one handle does, as the scripts take it. */
export interface FeedTerms {
  readonly retention: RetentionTerms
  /** How long messages live that say nothing themselves; 0: until they are removed. */
  readonly ttlMs: number
  readonly origin: string
  readonly deadLetters: DeadLetterTerms
}

export interface RetentionTerms {
  readonly retentionCount: number
  readonly retentionMs: number
  readonly retentionBytes: number
  readonly idempotencyTtlMs: number
}

export interface DeadLetterTerms {
  /** Claims after which a message becomes a dead letter; 0: never. */
  readonly maxClaims: number
  /** How long a dead letter lives; 0: as long as the message would have. */
  readonly deadMs: number
}

/** Checks the options, but for the codec. Throws InvalidArgumentError. */
export function toFeedTerms(options: WithoutCodec): FeedTerms {
  checkOptions('options', options, FEED_OPTIONS)
  const { maxClaims, deadLettersTtl, ttl, origin } = options
  return {
    retention: toRetention(options),
    ttlMs: ttl === undefined ? 0 : toMs('ttl', ttl),
    origin: checkOrigin(origin ?? ''),
    deadLetters: {
      maxClaims: checkInteger('maxClaims', maxClaims ?? 0, 0, 1_000_000),
      deadMs: deadLettersTtl === undefined ? 0 : toMs('deadLettersTtl', deadLettersTtl),
    },
  }
}

function toRetention({ retention = {}, idempotencyTtl = '1h' }: WithoutCodec): RetentionTerms {
  checkOptions('retention', typeof retention === 'number' ? {} : retention, ['count', 'age', 'bytes'])
  const { count, age, bytes } = typeof retention === 'number' ? { count: retention } : retention
  return {
    retentionCount:
      count === undefined ? 0 : checkInteger('retention.count', count, 1, Number.MAX_SAFE_INTEGER),
    retentionMs: age === undefined ? 0 : toMs('retention.age', age),
    retentionBytes:
      bytes === undefined ? 0 : checkInteger('retention.bytes', bytes, 1, Number.MAX_SAFE_INTEGER),
    idempotencyTtlMs: toMs('idempotencyTtl', idempotencyTtl, { max: '30d' }),
  }
}

function checkOrigin(origin: unknown): string {
  if (typeof origin !== 'string' || !/^[A-Za-z0-9_.-]{0,64}$/.test(origin)) {
    throw new InvalidArgumentError('origin', 'must be at most 64 of A-Z a-z 0-9 _ . -')
  }
  return origin
}
