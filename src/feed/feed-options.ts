import { checkInteger, checkOptions } from '../runtime/values/arguments.ts'
import type { Codec } from '../runtime/values/codec.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'

export interface FeedOptions<Body> {
  /** What to keep when appending; default: everything. */
  keep?: number | Keep
  /** How long messages live that say nothing themselves; default: until they are removed. */
  expireAfter?: Duration
  /** Who appends through this handle: `read({ echo: false })` hides the same origin's messages. Default: nobody. */
  origin?: string
  /** Claims after which a message becomes a dead letter; default: never. */
  maxClaims?: number
  /** How long a dead letter lives; default: as long as the message would have. */
  deadLettersExpireAfter?: Duration
  /** How long idempotency keys are known; default one hour. */
  rememberFor?: Duration
  /** How bodies become bytes; default JSON. */
  codec?: Codec<Body>
}

/** What the feed keeps; a number is a count of messages. Whatever is beyond goes, oldest first. */
export interface Keep {
  count?: number
  age?: Duration
  /** Of all bodies together. */
  bytes?: number
}

const OPTIONS = [
  'keep',
  'expireAfter',
  'origin',
  'maxClaims',
  'deadLettersExpireAfter',
  'rememberFor',
  'codec',
] as const

type WithoutCodec = Omit<FeedOptions<unknown>, 'codec'>

/** What is the same for all that one handle does, as the scripts take it. */
export interface FeedTerms {
  readonly retention: Retention
  /** How long messages live that say nothing themselves; 0: until they are removed. */
  readonly expireMs: number
  readonly origin: string
  readonly deadLetters: DeadLetterTerms
}

export interface Retention {
  readonly keepCount: number
  readonly keepMs: number
  readonly keepBytes: number
  readonly rememberMs: number
}

export interface DeadLetterTerms {
  /** Claims after which a message becomes a dead letter; 0: never. */
  readonly maxClaims: number
  /** How long a dead letter lives; 0: as long as the message would have. */
  readonly deadMs: number
}

/** Checks the options, but for the codec. Throws InvalidArgumentError. */
export function toFeedTerms(options: WithoutCodec): FeedTerms {
  checkOptions('options', options, OPTIONS)
  const { maxClaims, deadLettersExpireAfter, expireAfter, origin } = options
  return {
    retention: toRetention(options),
    expireMs: expireAfter === undefined ? 0 : toMs('expireAfter', expireAfter),
    origin: checkOrigin(origin ?? ''),
    deadLetters: {
      maxClaims: checkInteger('maxClaims', maxClaims ?? 0, 0, 1_000_000),
      deadMs:
        deadLettersExpireAfter === undefined ? 0 : toMs('deadLettersExpireAfter', deadLettersExpireAfter),
    },
  }
}

function toRetention({ keep = {}, rememberFor = '1h' }: WithoutCodec): Retention {
  checkOptions('keep', typeof keep === 'number' ? {} : keep, ['count', 'age', 'bytes'])
  const { count, age, bytes } = typeof keep === 'number' ? { count: keep } : keep
  return {
    keepCount: count === undefined ? 0 : checkInteger('keep.count', count, 1, Number.MAX_SAFE_INTEGER),
    keepMs: age === undefined ? 0 : toMs('keep.age', age),
    keepBytes: bytes === undefined ? 0 : checkInteger('keep.bytes', bytes, 1, Number.MAX_SAFE_INTEGER),
    rememberMs: toMs('rememberFor', rememberFor, { max: '30d' }),
  }
}

function checkOrigin(origin: unknown): string {
  if (typeof origin !== 'string' || !/^[A-Za-z0-9_.-]{0,64}$/.test(origin)) {
    throw new InvalidArgumentError('origin', 'must be at most 64 of A-Z a-z 0-9 _ . -')
  }
  return origin
}
