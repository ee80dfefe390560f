// Middleware for Express 5. Put `idempotency` after the body parser and before the handlers.

import type { Answer } from './responses/answer.ts'
import { type IdempotencyOptions, IdempotencyPolicy, type Store } from './policies/idempotency.ts'
import { askedOf, forgetConditions, incomingOf, type ParsedRequest } from './requests/node-request.ts'
import { type Limiter, type RateLimitMiddlewareOptions, RateLimitPolicy } from './policies/rate-limit.ts'
import { type NodeResponse, record } from './responses/record-node-response.ts'
import {
  type BegunResponse,
  type ResponseCacheOptions,
  ResponseCachePolicy,
  type ResponseStore,
} from './policies/response-cache.ts'
import { changesFor, linesOf } from './responses/standing-headers.ts'
import { UntilSent } from './responses/until-sent.ts'
import { whenClosed } from './responses/when-closed.ts'

/** The part of an Express request that the middleware uses. */
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
  const policy = new RateLimitPolicy(limiter, options)
  return async (request, response, next) => {
    const passage = await policy.pass(request)
    if (!passage.allowed) return send(response, passage.answer)
    whenClosed(response, passage.done)
    lay(response, passage)
    next()
  }
}

/** As `withIdempotency`: `app.post('/orders', express.json(), idempotency(once), handler)`. */
export function idempotency<Request extends ExpressRequest>(
  once: Store,
  options: IdempotencyOptions<Request> = {},
): ExpressMiddleware<Request> {
  const policy = new IdempotencyPolicy(once, options)
  const { maxBytes } = policy
  return async (request, response, next) => {
    const admission = await policy.admit(incomingOf(request, options, maxBytes))
    if (admission.status === 'answered') return send(response, admission.answer)
    if (admission.status === 'pass') return next()
    record(response, admission.recording, maxBytes)
    admission.within(next)
  }
}

/** As `withResponseCache`: `app.get('/products', responseCache(cache), handler)`. */
export function responseCache<Request extends ExpressRequest>(
  cache: ResponseStore,
  options: ResponseCacheOptions<Request> = {},
): ExpressMiddleware<Request> {
  const policy = new ResponseCachePolicy(cache, options)
  const { maxBytes } = policy
  return async (request, response, next) => {
    const admitted = await policy.lookUp(askedOf(request), request)
    if (admitted.status === 'answered') return send(response, admitted.answer)
    lay(response, admitted)
    if (admitted.status === 'pass') return next()
    forgetConditions(request)
    keepWhole(response, admitted.begun, maxBytes)
    admitted.within(next)
  }
}

function keepWhole(response: NodeResponse, begun: BegunResponse, maxBytes: number): void {
  // Before `record`, which takes what was written so far as the response. A decision already made stays.
  whenClosed(response, () => begun.fail())
  record(response, new UntilSent(begun), maxBytes)
}

function send(response: NodeResponse, answer: Answer): void {
  lay(response, answer)
  response.statusCode = answer.status
  response.end(answer.body)
}

function lay(response: NodeResponse, given: Pick<Answer, 'headers'>): void {
  const changes = changesFor(given, (name) => linesOf(response.getHeader(name)))
  for (const [name, values] of changes) {
    const [first] = values
    if (first === undefined) response.removeHeader(name)
    else response.setHeader(name, values.length === 1 ? first : values)
  }
}

export type * from './public-types.ts'
