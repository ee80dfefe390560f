// The common exports of `perilune` and `perilune/rate-limit`.

export type {
  Allowed,
  Decision,
  Denied,
  LimitState,
  Outage,
  SubjectInspection,
} from './decision.ts'
export {
  type RateLimitHeaderOptions,
  type RateLimitHeaders,
  rateLimitHeaders,
} from './headers.ts'
export type {
  Algorithm,
  ConcurrencyLimit,
  GcraLimit,
  Limit,
  SlidingWindowLimit,
} from './limits.ts'
export type { OnOutage } from './outage.ts'
export {
  type OutageOptions,
  RateLimit,
  type RateLimitOptions,
  type RefundOptions,
  type TakeOptions,
} from './rate-limit.ts'
