// Middleware for fetch-style handlers: a Request in, a Response out. The framework adapters are in this folder too.

import { askedOf, incomingOf, withoutConditions } from './requests/fetch-request.ts'
import { keepResponse, toResponse, withHeaders } from './responses/fetch-response.ts'
import { type IdempotencyOptions, IdempotencyPolicy, type Store } from './policies/idempotency.ts'
import { type Limiter, type RateLimitMiddlewareOptions, RateLimitPolicy } from './policies/rate-limit.ts'
import {
  type ResponseCacheOptions,
  ResponseCachePolicy,
  type ResponseStore,
} from './policies/response-cache.ts'
import { whenDone } from './responses/when-done.ts'

/** Answers a request. Further arguments (an environment, a context) are passed on. */
export type RequestHandler<Rest extends readonly unknown[]> = (
  request: Request,
  ...rest: Rest
) => Response | Promise<Response>

export type FetchHandler<Rest extends readonly unknown[]> = (
  request: Request,
  ...rest: Rest
) => Promise<Response>

/**
 * Passes a request on when the limiter allows it, and adds the rate limit headers to its response. Otherwise answers
 * 429, or 503 while the store is unavailable and the limiter fails closed. A concurrency permit is released once the
 * response has been read to its end.
 */
export function withRateLimit<Rest extends readonly unknown[]>(
  limiter: Limiter,
  options: RateLimitMiddlewareOptions<Request>,
  handler: RequestHandler<Rest>,
): FetchHandler<Rest> {
  const policy = new RateLimitPolicy(limiter, options)
  return async (request, ...rest) => {
    const passage = await policy.pass(request)
    if (!passage.allowed) return toResponse(passage.answer)
    try {
      const response = await handler(request, ...rest)
      return whenDone(withHeaders(response, passage.headers), request, passage.done)
    } catch (error) {
      passage.done()
      throw error
    }
  }
}

/**
 * Runs a request with an Idempotency-Key once, and replays its response. Responses with a status of 500 or above are
 * not stored. If the handler throws, the key is free again.
 */
export function withIdempotency<Rest extends readonly unknown[]>(
  once: Store,
  options: IdempotencyOptions<Request>,
  handler: RequestHandler<Rest>,
): FetchHandler<Rest> {
  const policy = new IdempotencyPolicy(once, options)
  const { maxBytes } = policy
  return async (request, ...rest) => {
    const admission = await policy.admit(incomingOf(request, options, { maxBytes }))
    if (admission.status === 'pass') return handler(request, ...rest)
    if (admission.status === 'answered') return toResponse(admission.answer)
    const { recording, within } = admission
    try {
      const response = await within(() => handler(request, ...rest))
      return await keepResponse(recording, response, maxBytes)
    } catch (error) {
      await recording.free()
      throw error
    }
  }
}

/**
 * Serves stored responses to GET and HEAD. When none is stored, or it will expire soon, one request among all processes
 * has its handler make a new one. Responses that are `no-store` or `private`, set cookies, or answer a request with
 * Authorization are not stored.
 */
export function withResponseCache<Rest extends readonly unknown[]>(
  cache: ResponseStore,
  options: ResponseCacheOptions<Request>,
  handler: RequestHandler<Rest>,
): FetchHandler<Rest> {
  const policy = new ResponseCachePolicy(cache, options)
  const { maxBytes } = policy
  return async (request, ...rest) => {
    const admitted = await policy.lookUp(askedOf(request), request)
    if (admitted.status === 'answered')
      return toResponse(admitted.answer, { whole: request.method !== 'HEAD' })
    if (admitted.status === 'pass') return withHeaders(await handler(request, ...rest), admitted.headers)
    const { begun, headers, within } = admitted
    try {
      const response = await within(() => handler(withoutConditions(request), ...rest))
      return withHeaders(await keepResponse(begun, response, maxBytes), headers)
    } catch (error) {
      begun.fail()
      throw error
    }
  }
}

export type * from './public-types.ts'
