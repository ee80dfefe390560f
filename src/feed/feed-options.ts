import { checkInteger, checkOptions } from '../runtime/values/arguments.ts'
import type { Codec } from '../runtime/values/codec.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'

export interface FeedOptions<Body> {
  /** What to keep when appending: a number of messages, or bounds by count, age and bytes. Default: everything. */
  retention?: number | Retention
  /** How long messages without their own `ttl` live. Default: until they are removed. */
  ttl?: Duration
  /**
   * The origin of messages appended with this handle, 1 to 64 characters of A-Z a-z 0-9 _ . -; the option `echo` of
   * `read` hides messages of the same origin. Default: none.
   */
  origin?: string
  /** The number of claims after which a message becomes a dead letter. Default: never. */
  maxClaims?: number
  /** How long a dead letter lives. Default: as long as the message would have. */
  deadLettersTtl?: Duration
  /** How long idempotency keys are known, at most 30 days. Default: one hour. */
  idempotencyTtl?: Duration
  /** How bodies become bytes; it is stored with the feed, and another codec is rejected. Default: JSON. */
  codec?: Codec<Body>
}

/** What the feed keeps. Messages beyond these bounds are removed, oldest first. */
export interface Retention {
  /** The greatest number of messages. Default: no limit. */
  count?: number
  /** The greatest age of a message. Default: no limit. */
  age?: Duration
  /** The greatest total size of all bodies in bytes. Default: no limit. */
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

/** The terms of one handle in the form that the scripts take. */
export interface FeedTerms {
  readonly retention: RetentionTerms
  /** How long messages without their own `ttl` live; 0: until they are removed. */
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
  /** The number of claims after which a message becomes a dead letter; 0: never. */
  readonly maxClaims: number
  /** How long a dead letter lives; 0: as long as the message would have. */
  readonly deadMs: number
}

/** Checks the options except the codec. Throws InvalidArgumentError. */
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
    throw new InvalidArgumentError('origin', 'must be at most 64 characters of A-Z a-z 0-9 _ . -')
  }
  return origin
}
