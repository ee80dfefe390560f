// Middleware for Hono, whose requests and responses are those of fetch.

import type { IdempotencyOptions, Store } from './idempotency.ts'
import { type FetchHandler, withIdempotency, withRateLimit, withResponseCache } from './middleware.ts'
import type { Limiter, RateLimitMiddlewareOptions } from './rate-limiting.ts'
import type { ResponseCacheOptions, ResponseStore } from './response-caching.ts'

/** What is used of Hono's context. */
export interface HonoContext {
  readonly req: { raw: Request }
  get res(): Response
  set res(response: Response | undefined)
}

export type HonoMiddleware = (
  context: HonoContext,
  next: () => Promise<void>,
) => Promise<Response | undefined>

type Rest = readonly [context: HonoContext, next: () => Promise<void>]

/** As `withRateLimit`: `app.use(rateLimit(limiter, { subject: (request) => … }))`. */
export function rateLimit(limiter: Limiter, options: RateLimitMiddlewareOptions<Request>): HonoMiddleware {
  return around(withRateLimit(limiter, options, goOn))
}

/** As `withIdempotency`: `app.use('/orders', idempotency(once, { required: true }))`. */
export function idempotency(once: Store, options: IdempotencyOptions<Request> = {}): HonoMiddleware {
  return around(withIdempotency(once, options, goOn))
}

/** As `withResponseCache`: `app.get('/products', responseCache(cache), handler)`. */
export function responseCache(
  cache: ResponseStore,
  options: ResponseCacheOptions<Request> = {},
): HonoMiddleware {
  return around(withResponseCache(cache, options, goOn))
}

async function goOn(request: Request, ...[context, next]: Rest): Promise<Response> {
  context.req.raw = request
  await next()
  return context.res
}

function around(handle: FetchHandler<Rest>): HonoMiddleware {
  return async (context, next) => {
    const response = await handle(context.req.raw, context, next)
    // Hono merges headers into a response that is there; this one has them already.
    context.res = undefined
    context.res = response
    return undefined
  }
}

export type { IdempotencyOptions } from './idempotency.ts'
export type { Limiter, RateLimitMiddlewareOptions } from './rate-limiting.ts'
export type { KeptResponse } from './kept-response.ts'
export type { StoredResponse } from './recording.ts'
export type { ResponseCacheOptions, ResponseStore } from './response-caching.ts'
