// Queue metadata: any JSON object, in which some keys have a meaning.

import type { Limits } from '../settings/limits.ts'
import { badRequest } from '../../http/answers/problems.ts'
import { isTooIntricate, TOO_MUCH } from '../../json/effort.ts'
import { isRetryPolicy, retryPolicyForm } from './retry-policy.ts'
import { isWhole, type JsonObject, parseObject } from './body.ts'
import { nestingOf } from '../../json/slices.ts'
import { isQueueName } from './names.ts'

export type Metadata = JsonObject

interface Reserved {
  readonly byDefault: unknown
  readonly expected: string
  readonly isValid: (value: unknown) => boolean
}

/** The keys that have a meaning, in the order of answers. */
export function reservedKeys(limits: Limits): Readonly<Record<string, Reserved>> {
  const { minMessageTtl, maxMessageTtl } = limits
  return {
    _max_messages_post_size: whole(limits.maxMessagesPostSize, 1, limits.maxMessagesPostSize),
    _default_message_ttl: whole(limits.defaultMessageTtl, minMessageTtl, maxMessageTtl),
    _default_message_delay: whole(limits.defaultMessageDelay, 0, limits.maxMessageDelay),
    _dead_letter_queue: orNull('the name of a queue', isQueueName),
    _dead_letter_queue_messages_ttl: orNull(between(minMessageTtl, maxMessageTtl), (value) =>
      isWhole(value, minMessageTtl, maxMessageTtl),
    ),
    _max_claim_count: orNull(between(0, limits.maxClaimCount), (value) =>
      isWhole(value, 0, limits.maxClaimCount),
    ),
    // Undefined, because Zaqar does not show it unless it was set.
    _retry_policy: { byDefault: undefined, expected: retryPolicyForm, isValid: isRetryPolicy },
  }
}

/** The metadata of a request: text of any object, or nothing. */
export function readMetadata(text: string, limits: Limits): Metadata {
  if (text === '') return {}
  return checkMetadata(parseNested(text, parseObject, limits), limits)
}

/** Metadata is passed to JSON.stringify, which recurses: deeper nesting must not reach it. */
export function parseNested<Value>(text: string, parse: (text: string) => Value, limits: Limits): Value {
  const value = parse(text)
  if (nestingOf(text) > limits.maxMetadataDepth) {
    throw badRequest(`The body must be nested at most ${limits.maxMetadataDepth} deep.`)
  }
  return value
}

export function checkMetadata(metadata: Metadata, limits: Limits): Metadata {
  for (const [key, { isValid, expected }] of Object.entries(reservedKeys(limits))) {
    if (Object.hasOwn(metadata, key) && !isValid(metadata[key]))
      throw badRequest(`${key} must be ${expected}.`)
  }
  if (metadata['_enable_encrypt_messages'] === true) {
    throw badRequest('_enable_encrypt_messages must be false: this service does not encrypt what it stores.')
  }
  const text = JSON.stringify(metadata)
  if (Buffer.byteLength(text) > limits.maxQueueMetadata) {
    throw badRequest(`Metadata must be at most ${limits.maxQueueMetadata} bytes.`)
  }
  if (isTooIntricate(text)) throw badRequest(`Metadata ${TOO_MUCH}.`)
  return metadata
}

/** The metadata with every reserved key, as clients see it. */
export function withDefaults(metadata: Metadata, limits: Limits): Metadata {
  const defaults = Object.entries(reservedKeys(limits)).map(([key, { byDefault }]) => [key, byDefault])
  return { ...Object.fromEntries(defaults), ...metadata }
}

const MEANINGFUL = new Set([
  '_max_messages_post_size',
  '_default_message_ttl',
  '_default_message_delay',
  '_dead_letter_queue',
  '_dead_letter_queue_messages_ttl',
  '_max_claim_count',
  '_retry_policy',
])

/** The members that have a meaning: this part is small enough to be kept in memory. */
export function meaningOf(metadata: Metadata): Metadata {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => MEANINGFUL.has(key)))
}

/** The effect of the metadata on messages and claims. */
export interface QueueTerms {
  readonly postSize: number
  readonly messageTtl: number
  /** Null: the queue has no delay, and `delay` of a message has no effect. */
  readonly delay: number | null
  /** Null: no message becomes a dead letter. */
  readonly deadLetters: {
    readonly queue: string
    readonly maxClaims: number
    readonly ttl: number | null
  } | null
}

export function termsOf(metadata: Metadata, limits: Limits): QueueTerms {
  const number = (key: string): number => (typeof metadata[key] === 'number' ? metadata[key] : 0)
  const queue = metadata['_dead_letter_queue']
  const maxClaims = number('_max_claim_count')
  const ttl = number('_dead_letter_queue_messages_ttl') || null
  return {
    postSize: number('_max_messages_post_size') || limits.maxMessagesPostSize,
    messageTtl: number('_default_message_ttl') || limits.defaultMessageTtl,
    delay: number('_default_message_delay') || null,
    deadLetters: isQueueName(queue) && maxClaims > 0 ? { queue, maxClaims, ttl } : null,
  }
}

const between = (min: number, max: number): string => `a whole number from ${min} to ${max}`

function whole(byDefault: number, min: number, max: number): Reserved {
  return { byDefault, expected: between(min, max), isValid: (value) => isWhole(value, min, max) }
}

function orNull(expected: string, isValid: (value: unknown) => boolean): Reserved {
  return {
    byDefault: null,
    expected: `${expected}, or null`,
    isValid: (value) => value === null || isValid(value),
  }
}
