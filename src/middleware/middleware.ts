// Middleware for handlers in the style of fetch: a Request in, a Response out. The adapters of frameworks
// stand beside it.

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

/** Answers a request; further arguments (an environment, a context) are passed on. */
export type RequestHandler<Rest extends readonly unknown[]> = (
  request: Request,
  ...rest: Rest
) => Response | Promise<Response>

export type FetchHandler<Rest extends readonly unknown[]> = (
  request: Request,
  ...rest: Rest
) => Promise<Response>

/**
 * Lets a request through when the limiter allows it, and tells the client how it stands. Else 429, or 503
 * while the store is out and the limiter fails closed. A place of a concurrency limit is given back when
 * the response has been read to its end.
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
 * Carries out a request with an Idempotency-Key once, and replays its response. Responses of 500 and above
 * are not kept, and a handler that throws frees the key.
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
    const { recording } = admission
    try {
      return await keepResponse(recording, await handler(request, ...rest), maxBytes)
    } catch (error) {
      await recording.free()
      throw error
    }
  }
}

/**
 * Serves kept responses to GET and HEAD. Where there is none, or soon will be, one request in all processes has its
 * handler make another. What is `no-store` or `private`, sets cookies or answers Authorization is not kept.
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
    const { begun, headers } = admitted
    try {
      const response = await handler(withoutConditions(request), ...rest)
      return withHeaders(await keepResponse(begun, response, maxBytes), headers)
    } catch (error) {
      begun.fail()
      throw error
    }
  }
}

export type * from './public-types.ts'
