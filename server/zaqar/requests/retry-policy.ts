// How often and when a failed push is retried: at once, then after the shortest delay, then after growing ones, then
// after the longest.

import { badRequest } from '../../http/answers/problems.ts'
import { isObject, isWhole, type JsonObject } from './body.ts'

export interface RetryPolicy {
  readonly retries_with_no_delay: number
  readonly minimum_delay_retries: number
  /** Seconds. */
  readonly minimum_delay: number
  readonly maximum_delay: number
  readonly maximum_delay_retries: number
  readonly retry_backoff_function: string
}

const usual: RetryPolicy = {
  retries_with_no_delay: 3,
  minimum_delay_retries: 3,
  minimum_delay: 5,
  maximum_delay: 30,
  maximum_delay_retries: 3,
  retry_backoff_function: 'linear',
}

const GROWTH_STEP = 5 // seconds of the range between the two delays for each retry
const MAX_GROWING = 100
const MAX_RETRIES = 100
const MAX_DELAY = 86_400

// How far a delay has grown, from 0 to 1, when `done` of all growing retries (0 to 1) are done.
const growth: Readonly<Record<string, (done: number, ratio: number) => number>> = {
  linear: (done) => done,
  arithmetic: (done) => done ** 2,
  geometric: (done, ratio) => (ratio ** done - 1) / (ratio - 1),
  exponential: (done, ratio) => (ratio ** done - 1) / (ratio - 1),
}

const WHOLE: Readonly<Record<string, readonly [min: number, max: number]>> = {
  retries_with_no_delay: [0, MAX_RETRIES],
  minimum_delay_retries: [0, MAX_RETRIES],
  minimum_delay: [1, MAX_DELAY],
  maximum_delay: [1, MAX_DELAY],
  maximum_delay_retries: [0, MAX_RETRIES],
}

export const retryPolicyForm: string = `an object with some of ${Object.keys(usual).join(', ')} and ignore_subscription_override: whole numbers, a minimum_delay not above maximum_delay, and one of ${Object.keys(growth).join(', ')}`

export function isRetryPolicy(value: unknown): value is JsonObject {
  if (!isObject(value)) return false
  const { minimum_delay, maximum_delay } = { ...usual, ...value }
  return minimum_delay <= maximum_delay && Object.entries(value).every(([key, part]) => isPart(key, part))
}

function isPart(key: string, value: unknown): boolean {
  if (key === 'ignore_subscription_override') return typeof value === 'boolean'
  if (key === 'retry_backoff_function') return typeof value === 'string' && Object.hasOwn(growth, value)
  const bounds = Object.hasOwn(WHOLE, key) ? WHOLE[key] : undefined
  return bounds !== undefined && isWhole(value, ...bounds)
}

/** Throws a Problem. */
export function checkRetryPolicy(value: unknown): void {
  if (!isRetryPolicy(value)) throw badRequest(`_retry_policy must be ${retryPolicyForm}.`)
}

/** The policy of a subscription, unless the queue's overrides it; missing members have their defaults. */
export function choosePolicy(ofSubscription: unknown, ofQueue: unknown): RetryPolicy {
  const [own, queues] = [ofSubscription, ofQueue].map((value) => (isRetryPolicy(value) ? value : null))
  const queueWins = [own, queues].some((policy) => policy?.['ignore_subscription_override'] === true)
  return { ...usual, ...(queueWins ? queues : (own ?? queues)) }
}

/** Seconds before each retry, in order. */
export function delaysOf(policy: RetryPolicy): number[] {
  const { minimum_delay: least, maximum_delay: most } = policy
  return [
    ...repeat(policy.retries_with_no_delay, 0),
    ...repeat(policy.minimum_delay_retries, least),
    ...growing(policy, Math.min(MAX_GROWING, Math.floor((most - least) / GROWTH_STEP))),
    ...repeat(policy.maximum_delay_retries, most),
  ]
}

function growing(
  { minimum_delay, maximum_delay, retry_backoff_function }: RetryPolicy,
  count: number,
): number[] {
  const grow = growth[retry_backoff_function] ?? ((done) => done)
  const range = maximum_delay - minimum_delay
  const ratio = maximum_delay / minimum_delay
  return Array.from({ length: count }, (_, at) => Math.round(minimum_delay + range * grow(at / count, ratio)))
}

function repeat(count: number, delay: number): number[] {
  return Array.from({ length: count }, () => delay)
}
