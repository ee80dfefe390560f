// Middleware for Hono, whose requests and responses are those of fetch. Headers already set on its context stay.

import type { Answer } from './responses/answer.ts'
import { askedOf, incomingOf, isOfTarget, type Origin, withoutConditions } from './requests/fetch-request.ts'
import { keepResponse, toResponse, withHeaders } from './responses/fetch-response.ts'
import { bodyOf, type ReadRequest } from './requests/hono-body.ts'
import { type IdempotencyOptions, IdempotencyPolicy, type Store } from './policies/idempotency.ts'
import type { KeepsResponses } from './responses/record-node-response.ts'
import { KEPT_HEADERS, type HandlerResponse } from './responses/response-recorder.ts'
import { type Limiter, type RateLimitMiddlewareOptions, RateLimitPolicy } from './policies/rate-limit.ts'
import {
  type BegunResponse,
  type ResponseCacheOptions,
  ResponseCachePolicy,
  type ResponseStore,
} from './policies/response-cache.ts'
import { type SendsHead, untilSent } from './responses/until-sent.ts'
import { whenClosed } from './responses/when-closed.ts'
import { whenDone } from './responses/when-done.ts'

/** The part of Hono's context that the middleware uses. */
export interface HonoContext {
  readonly req: ReadRequest & { raw: Request }
  readonly env?: unknown
  /** False while there is no response. */
  readonly finalized?: boolean
  get res(): Response
  set res(response: Response | undefined)
}

export type HonoMiddleware = (
  context: HonoContext,
  next: () => Promise<void>,
) => Promise<Response | undefined>

/** As `withRateLimit`: `app.use(rateLimit(limiter, { subject: (request) => … }))`. */
export function rateLimit(limiter: Limiter, options: RateLimitMiddlewareOptions<Request>): HonoMiddleware {
  const policy = new RateLimitPolicy(limiter, options)
  return async (context, next) => {
    const request = context.req.raw
    const passage = await policy.pass(request)
    if (!passage.allowed) return answer(context, passage.answer)
    const sent = sentBy(context)
    if (sent !== null) whenClosed(sent, passage.done)
    try {
      await next()
      if (isUnanswered(context)) {
        passage.done()
        return undefined
      }
      // A response was sent already, after a timeout, or the handler answered on Node's own response.
      if (sent?.headersSent === true || isByNode(context)) return undefined
      return put(context, whenDone(withHeaders(context.res, passage.headers), request, passage.done))
    } catch (error) {
      passage.done()
      throw error
    }
  }
}

/** As `withIdempotency`: `app.use('/orders', idempotency(once, { required: true }))`. */
export function idempotency(once: Store, options: IdempotencyOptions<Request> = {}): HonoMiddleware {
  const policy = new IdempotencyPolicy(once, options)
  const { maxBytes } = policy
  return async (context, next) => {
    const readBody = () => bodyOf(context.req, maxBytes)
    const admission = await policy.admit(
      incomingOf(context.req.raw, options, { maxBytes, readBody, origin: originOf(context) }),
    )
    if (admission.status === 'answered') return answer(context, admission.answer)
    if (admission.status === 'pass') return proceed(next)
    const { recording, within } = admission
    try {
      await within(next)
      if (isUnanswered(context)) {
        await recording.free()
        return undefined
      }
      if (isByNode(context)) return keepUnseen(context, recording)
      return put(context, await kept(context, recording, maxBytes))
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
  const policy = new ResponseCachePolicy(cache, options)
  const { maxBytes } = policy
  return async (context, next) => {
    const request = context.req.raw
    const admitted = await policy.lookUp(askedOf(request, originOf(context)), request)
    if (admitted.status === 'answered') return answer(context, admitted.answer)
    if (admitted.status === 'pass') {
      await next()
      if (isUnanswered(context) || isByNode(context)) return undefined
      return put(context, withHeaders(context.res, admitted.headers))
    }
    const { begun, headers, within } = admitted
    const recording = decidedBy(context, begun)
    try {
      context.req.raw = withoutConditions(request)
      await within(next)
      if (isUnanswered(context)) {
        begun.fail()
        return undefined
      }
      if (isByNode(context)) {
        await begun.keep(UNSEEN)
        return undefined
      }
      return put(context, withHeaders(await kept(context, recording, maxBytes), headers))
    } catch (error) {
      begun.fail()
      throw error
    }
  }
}

/**
 * Null unless `incoming` is a message of Node. The URL of a mounted app's request lacks the path of the mount, and
 * its request is another object.
 */
function originOf({ env }: HonoContext): MessageOfNode | null {
  const { incoming } = (env ?? {}) as { readonly incoming?: { originalUrl?: unknown; url?: unknown } | null }
  if (typeof incoming !== 'object' || incoming === null || typeof incoming.url !== 'string') return null
  // Express shortens `url`.
  const { originalUrl, url } = incoming
  return { message: incoming, target: typeof originalUrl === 'string' ? originalUrl : url }
}

type MessageOfNode = Origin & { readonly target: string }

type Sent = SendsHead & { readonly headersSent?: boolean }

/**
 * Node's response to this request. It is closed even when other code has replaced Hono's response. Null for a request
 * that a handler makes of its own app: its outer response may wait for it.
 */
function sentBy(context: HonoContext): Sent | null {
  const { outgoing } = (context.env ?? {}) as { readonly outgoing?: Sent }
  if (typeof outgoing?.once !== 'function') return null
  const target = originOf(context)?.target
  return target === undefined || isOfTarget(context.req.raw, target) ? outgoing : null
}

/** On Node, earlier middleware also affects the decision: it may set a cookie, or abandon the handler. */
function decidedBy(context: HonoContext, begun: BegunResponse): KeepsResponses {
  const sent = sentBy(context)
  if (sent === null) return begun
  whenClosed(sent, () => begun.fail())
  return untilSent(begun, sent)
}

/** Hono itself fails then, outside of any middleware. Reading `res` would create a response. */
function isUnanswered({ finalized }: HonoContext): boolean {
  return finalized === false
}

/**
 * The handler answers on Node's own response. Its return value is a marker (RESPONSE_ALREADY_SENT), which must stay the
 * same object.
 */
function isByNode({ res }: HonoContext): boolean {
  return res.headers.has('x-hono-already-sent')
}

const UNSEEN: HandlerResponse = { status: 200, headers: [], body: null }

function keepUnseen(context: HonoContext, recording: KeepsResponses): undefined {
  const sent = sentBy(context)
  const keep = () => void recording.keep({ ...UNSEEN, status: sent?.statusCode ?? UNSEEN.status })
  if (sent === null) keep()
  else whenClosed(sent, keep)
}

/**
 * The response, once it is stored. When its body fails, the error response carries no headers that described the body.
 */
async function kept(context: HonoContext, recording: KeepsResponses, maxBytes: number): Promise<Response> {
  const { res } = context
  try {
    return await keepResponse(recording, res, maxBytes)
  } catch (error) {
    const headers = new Headers(res.headers)
    for (const name of [...KEPT_HEADERS, 'content-length']) if (name !== 'vary') headers.delete(name)
    put(context, new Response(null, { headers }))
    throw error
  }
}

async function proceed(next: () => Promise<void>): Promise<undefined> {
  await next()
}

function answer(context: HonoContext, given: Answer): undefined {
  // Before a response exists, `res` holds the headers set by other code.
  const standing = context.res.headers
  return put(context, toResponse(given, { standing, whole: context.req.raw.method !== 'HEAD' }))
}

function put(context: HonoContext, response: Response): undefined {
  if (response === context.res) return
  // Hono would merge headers into an existing response; this one has them already.
  context.res = undefined
  context.res = response
}

export type * from './public-types.ts'
