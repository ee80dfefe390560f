// The public types that all middleware entry points share.

export type { IdempotencyOptions } from './policies/idempotency.ts'
export type { Limiter, RateLimitMiddlewareOptions } from './policies/rate-limit.ts'
export type { ResponseCacheOptions, ResponseStore } from './policies/response-cache.ts'
export type { KeptResponse } from './responses/kept-response.ts'
export type { StoredResponse } from './responses/response-recorder.ts'
