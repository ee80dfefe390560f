// HTTP response headers for a decision.

import { checkOptions } from '../runtime/values/arguments.ts'
import type { Decision, LimitState } from './decision.ts'

export interface RateLimitHeaderOptions {
  /** When the response is sent, in milliseconds of the server's clock. Default: when the decision was made. */
  sentAtMs?: number
}

/** Header names and values; empty for an outage, when no limit was evaluated. */
export type RateLimitHeaders = Readonly<Record<string, string>>

/**
 * `RateLimit-Policy` and `RateLimit` as structured fields (draft-ietf-httpapi-ratelimit-headers-11, sections 3 and
 * 4), and `Retry-After` in seconds where the take was denied. Times are rounded up. `t` is the time until the limit
 * is fully available again, but never later than `Retry-After`, as section 6 requires.
 */
export function rateLimitHeaders(decision: Decision, options: RateLimitHeaderOptions = {}): RateLimitHeaders {
  checkOptions('options', options, ['sentAtMs'])
  if (decision.outage) return {}
  const states = Object.entries(decision.limits)
  const madeAtMs = decision.resetAtMs - Math.max(...states.map(([, { resetMs }]) => resetMs))
  const elapsedMs = Math.max(0, (options.sentAtMs ?? madeAtMs) - madeAtMs)
  const retryAfter = decision.allowed ? null : toSeconds(decision.retryAfterMs - elapsedMs)
  return {
    'RateLimit-Policy': states.map(policyItem).join(', '),
    RateLimit: states.map((state) => limitItem(state, elapsedMs, retryAfter ?? Infinity)).join(', '),
    ...(retryAfter === null ? {} : { 'Retry-After': String(retryAfter) }),
  }
}

function policyItem([name, { algorithm, limit, windowMs }]: [string, LimitState]): string {
  const rest = algorithm === 'concurrency' ? 'qu="concurrent-requests"' : `w=${toSeconds(windowMs)}`
  return `"${name}";q=${limit};${rest}`
}

function limitItem([name, state]: [string, LimitState], elapsedMs: number, atMost: number): string {
  const { algorithm, remaining, resetMs } = state
  // Places become free when other takes are released, at an unknown time, so there is no `t`.
  if (algorithm === 'concurrency') return `"${name}";r=${remaining}`
  return `"${name}";r=${remaining};t=${Math.min(toSeconds(resetMs - elapsedMs), atMost)}`
}

function toSeconds(ms: number): number {
  return Math.max(0, Math.ceil(ms / 1000))
}
