// Middleware for Hono, whose requests and responses are those of fetch. Headers that stand on its context already stay.

import type { Answer } from './answer.ts'
import { askedOf, incomingOf, withoutConditions } from './fetch-request.ts'
import { keepResponse, toResponse, withHeaders } from './fetch-response.ts'
import { bodyOf, type ReadRequest } from './hono-body.ts'
import { admit, checkIdempotencyOptions, type IdempotencyOptions, type Store } from './idempotency.ts'
import {
  checkRateLimitOptions,
  type Limiter,
  pass,
  type RateLimitMiddlewareOptions,
} from './rate-limiting.ts'
import {
  checkResponseCacheOptions,
  lookUp,
  type ResponseCacheOptions,
  type ResponseStore,
} from './response-caching.ts'
import { type Closing, whenClosed } from './when-closed.ts'
import { whenDone } from './when-done.ts'

/** What is used of Hono's context. */
export interface HonoContext {
  readonly req: ReadRequest & { raw: Request }
  readonly env?: unknown
  get res(): Response
  set res(response: Response | undefined)
}

export type HonoMiddleware = (
  context: HonoContext,
  next: () => Promise<void>,
) => Promise<Response | undefined>

/** As `withRateLimit`: `app.use(rateLimit(limiter, { subject: (request) => … }))`. */
export function rateLimit(limiter: Limiter, options: RateLimitMiddlewareOptions<Request>): HonoMiddleware {
  checkRateLimitOptions(options)
  return async (context, next) => {
    const request = context.req.raw
    const passage = await pass(limiter, options, request)
    if (!passage.allowed) return answer(context, passage.answer)
    const sent = sentBy(context)
    if (sent !== null) whenClosed(sent, passage.done)
    try {
      await next()
      // Another one, that waited no longer.
      if (sent?.headersSent === true) return undefined
      return put(context, whenDone(withHeaders(context.res, passage.headers), request, passage.done))
    } catch (error) {
      passage.done()
      throw error
    }
  }
}

/** As `withIdempotency`: `app.use('/orders', idempotency(once, { required: true }))`. */
export function idempotency(once: Store, options: IdempotencyOptions<Request> = {}): HonoMiddleware {
  const { maxBytes } = checkIdempotencyOptions(options)
  return async (context, next) => {
    const readBody = () => bodyOf(context.req, maxBytes)
    const admission = await admit(once, options, incomingOf(context.req.raw, options, { maxBytes, readBody }))
    if (admission.status === 'answered') return answer(context, admission.answer)
    if (admission.status === 'pass') return goOn(next)
    const { recording } = admission
    try {
      await next()
      return put(context, await keepResponse(recording, context.res, maxBytes))
    } catch (error) {
      await recording.free()
      throw error
    }
  }
}

/** As `withResponseCache`: `app.get('/products', responseCache(cache), handler)`. */
export function responseCache(
  cache: ResponseStore,
  options: ResponseCacheOptions<Request> = {},
): HonoMiddleware {
  const { maxBytes } = checkResponseCacheOptions(options)
  return async (context, next) => {
    const request = context.req.raw
    const admitted = await lookUp(cache, options, askedOf(request), request)
    if (admitted.status === 'answered') return answer(context, admitted.answer)
    if (admitted.status === 'pass') {
      await next()
      return put(context, withHeaders(context.res, admitted.headers))
    }
    const { begun, headers } = admitted
    try {
      context.req.raw = withoutConditions(request)
      await next()
      return put(context, withHeaders(await keepResponse(begun, context.res, maxBytes), headers))
    } catch (error) {
      begun.fail()
      throw error
    }
  }
}

type Sent = Closing & { readonly headersSent?: boolean }

/** What Node sends: it is closed also where others have put another response in the place of this one. */
function sentBy({ env }: HonoContext): Sent | null {
  const { outgoing } = (env ?? {}) as { readonly outgoing?: Sent }
  return typeof outgoing?.once === 'function' ? outgoing : null
}

async function goOn(next: () => Promise<void>): Promise<undefined> {
  await next()
}

function answer(context: HonoContext, given: Answer): undefined {
  // Before there is a response, `res` has the headers that others have set.
  const standing = context.res.headers
  return put(context, toResponse(given, { standing, whole: context.req.raw.method !== 'HEAD' }))
}

function put(context: HonoContext, response: Response): undefined {
  if (response === context.res) return
  // Hono merges headers into a response that is there; this one has them already.
  context.res = undefined
  context.res = response
}

export type { IdempotencyOptions } from './idempotency.ts'
export type { Limiter, RateLimitMiddlewareOptions } from './rate-limiting.ts'
export type { KeptResponse } from './kept-response.ts'
export type { StoredResponse } from './recording.ts'
export type { ResponseCacheOptions, ResponseStore } from './response-caching.ts'
