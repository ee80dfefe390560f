// Middleware for Express 5. `idempotency` belongs behind the body parser and before the handlers.

import type { Answer } from './answer.ts'
import { admit, checkIdempotencyOptions, type IdempotencyOptions, type Store } from './idempotency.ts'
import { askedOf, forgetConditions, incomingOf, type ParsedRequest } from './node-request.ts'
import {
  checkRateLimitOptions,
  type Limiter,
  pass,
  type RateLimitMiddlewareOptions,
} from './rate-limiting.ts'
import { type NodeResponse, record } from './record-node-response.ts'
import {
  type BegunResponse,
  checkResponseCacheOptions,
  lookUp,
  type ResponseCacheOptions,
  type ResponseStore,
} from './response-caching.ts'
import { whenClosed } from './when-closed.ts'

/** What is used of an Express request. */
export interface ExpressRequest extends ParsedRequest {
  readonly ip?: string | undefined
}

export type ExpressMiddleware<Request> = (
  request: Request,
  response: NodeResponse,
  next: (error?: unknown) => void,
) => Promise<void>

/** As `withRateLimit`: `app.use(rateLimit(limiter, { subject: (request) => request.ip ?? '' }))`. */
export function rateLimit<Request extends ExpressRequest>(
  limiter: Limiter,
  options: RateLimitMiddlewareOptions<Request>,
): ExpressMiddleware<Request> {
  checkRateLimitOptions(options)
  return async (request, response, next) => {
    const passage = await pass(limiter, options, request)
    if (!passage.allowed) return send(response, passage.answer)
    whenClosed(response, passage.done)
    for (const [name, value] of passage.headers) response.setHeader(name, value)
    next()
  }
}

/** As `withIdempotency`: `app.post('/orders', express.json(), idempotency(once), handler)`. */
export function idempotency<Request extends ExpressRequest>(
  once: Store,
  options: IdempotencyOptions<Request> = {},
): ExpressMiddleware<Request> {
  const { maxBytes } = checkIdempotencyOptions(options)
  return async (request, response, next) => {
    const admission = await admit(once, options, incomingOf(request, options, maxBytes))
    if (admission.status === 'answered') return send(response, admission.answer)
    if (admission.status === 'begun') record(response, admission.recording, maxBytes)
    next()
  }
}

/** As `withResponseCache`: `app.get('/products', responseCache(cache), handler)`. */
export function responseCache<Request extends ExpressRequest>(
  cache: ResponseStore,
  options: ResponseCacheOptions<Request> = {},
): ExpressMiddleware<Request> {
  const { maxBytes } = checkResponseCacheOptions(options)
  return async (request, response, next) => {
    const admitted = await lookUp(cache, options, askedOf(request), request)
    if (admitted.status === 'answered') return replace(response, admitted.answer)
    for (const [name, value] of admitted.headers) response.appendHeader(name, value)
    if (admitted.status === 'begun') {
      forgetConditions(request)
      keepWhole(response, admitted.begun, maxBytes)
    }
    next()
  }
}

function keepWhole(response: NodeResponse, begun: BegunResponse, maxBytes: number): void {
  // Before `record` takes what was written so far for the response.
  whenClosed(response, () => {
    if (!response.writableEnded) begun.fail()
  })
  record(response, begun, maxBytes)
}

/** Headers that stand there already are those that the kept response had been given, too. */
function replace(response: NodeResponse, { status, headers, body }: Answer): void {
  for (const [name] of headers) {
    response.setHeader(
      name,
      headers.filter(([other]) => other === name).map(([, value]) => value),
    )
  }
  response.statusCode = status
  response.end(body)
}

function send(response: NodeResponse, { status, headers, body }: Answer): void {
  response.statusCode = status
  for (const [name, value] of headers) response.appendHeader(name, value)
  response.end(body)
}

export type { IdempotencyOptions } from './idempotency.ts'
export type { Limiter, RateLimitMiddlewareOptions } from './rate-limiting.ts'
export type { KeptResponse } from './kept-response.ts'
export type { StoredResponse } from './recording.ts'
export type { ResponseCacheOptions, ResponseStore } from './response-caching.ts'
