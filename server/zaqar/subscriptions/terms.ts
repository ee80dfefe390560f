// Subscriptions of requests.

import { validateHeaderName, validateHeaderValue } from 'node:http'
import { isTooIntricate, TOO_MUCH } from '../../json/effort.ts'
import type { Limits } from '../settings/limits.ts'
import { badRequest } from '../../http/answers/problems.ts'
import { LetterForm } from './letter.ts'
import { checkRetryPolicy } from '../requests/retry-policy.ts'
import { isObject, type JsonObject, parseObject, wholeNumber } from '../requests/body.ts'
import { parseNested } from '../requests/metadata.ts'

export interface SubscriptionTerms {
  readonly subscriber: string
  readonly ttl: number
  readonly options: JsonObject
}

const CHANGEABLE = new Set(['subscriber', 'ttl', 'options'])
// The length and the destination of a request are set by this service.
const OURS = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'expect',
  'te',
  'trailer',
])

/** Throws a Problem. */
export function readSubscription(text: string, limits: Limits): SubscriptionTerms {
  const wanted = parseNested(text, parseObject, limits)
  const { subscriber } = wanted
  if (typeof subscriber !== 'string') throw badRequest('subscriber must be an http or https URL.')
  const ttl = readTtl(wanted, limits)
  return { subscriber, ttl, options: readOptions(wanted['options'] ?? {}, limits) }
}

/** The changes; at least one. Throws a Problem. */
export function readSubscriptionPatch(text: string, limits: Limits): Partial<SubscriptionTerms> {
  const wanted = parseNested(text, parseObject, limits)
  const keys = Object.keys(wanted)
  if (keys.length === 0 || !keys.every((key) => CHANGEABLE.has(key))) {
    throw badRequest(`The body must have some of ${[...CHANGEABLE].join(', ')}, and nothing else.`)
  }
  const whole = readSubscription(JSON.stringify({ subscriber: '', ...wanted }), limits)
  return Object.fromEntries(Object.entries(whole).filter(([key]) => Object.hasOwn(wanted, key)))
}

/** Throws a Problem. */
export function readConfirmation(text: string): boolean {
  const { confirmed } = parseObject(text)
  if (typeof confirmed !== 'boolean') throw badRequest('confirmed must be true or false.')
  return confirmed
}

function readTtl(wanted: JsonObject, limits: Limits): number {
  const { defaultSubscriptionTtl, minSubscriptionTtl, maxSubscriptionTtl } = limits
  return wholeNumber(wanted, 'ttl', defaultSubscriptionTtl, [minSubscriptionTtl, maxSubscriptionTtl])
}

function readOptions(options: unknown, { maxWebhookBody }: Limits): JsonObject {
  if (!isObject(options)) throw badRequest('options must be an object.')
  if (isTooIntricate(JSON.stringify(options))) throw badRequest(`options ${TOO_MUCH}.`)
  const { post_headers: headers, post_data: template, _retry_policy: policy } = options
  if (headers !== undefined && !areHeaders(headers)) {
    throw badRequest(`post_headers must be header fields with text, and none of ${[...OURS].join(', ')}.`)
  }
  if (template !== undefined && typeof template !== 'string') throw badRequest('post_data must be text.')
  if (policy !== undefined) checkRetryPolicy(policy)
  const form = new LetterForm(options)
  if (form.leastBytes > maxWebhookBody) {
    throw badRequest(
      `post_data contains the message ${form.places} times: each letter would exceed the limit of ${maxWebhookBody} bytes.`,
    )
  }
  return options
}

function areHeaders(headers: unknown): boolean {
  return isObject(headers) && Object.entries(headers).every(([name, value]) => isHeader(name, value))
}

function isHeader(name: string, value: unknown): boolean {
  if (typeof value !== 'string' || OURS.has(name.toLowerCase())) return false
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}
