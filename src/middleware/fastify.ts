// Hooks for Fastify 5: for one route (`app.post('/orders', { ...idempotency(once) }, handler)`) or, with `addHook`, for
// all routes.

import { Readable } from 'node:stream'
import type { Answer } from './responses/answer.ts'
import { type FastifyReplyLike, keepSent, removeHeader, Sendings } from './fastify-sent.ts'
import { type IdempotencyOptions, IdempotencyPolicy, type Store } from './policies/idempotency.ts'
import { askedOf, forgetConditions, incomingOf, type ParsedRequest } from './requests/node-request.ts'
import { type Limiter, type RateLimitMiddlewareOptions, RateLimitPolicy } from './policies/rate-limit.ts'
import type { ResponseRecorder } from './responses/response-recorder.ts'
import {
  type BegunResponse,
  type ResponseCacheOptions,
  ResponseCachePolicy,
  type ResponseStore,
} from './policies/response-cache.ts'
import { changesFor, linesOf } from './responses/standing-headers.ts'
import { type UntilSent, untilSent } from './responses/until-sent.ts'
import { whenClosed } from './responses/when-closed.ts'

/** The part of Fastify's request that the middleware uses. */
export interface FastifyRequestLike extends ParsedRequest {
  readonly ip: string
}

export interface RateLimitHooks<Request> {
  onRequest(request: Request, reply: FastifyReplyLike): Promise<unknown>
}

export interface ResponseHooks<Request> {
  preHandler(request: Request, reply: FastifyReplyLike): Promise<unknown>
  /** Returns a promise, or calls `done` at once and returns undefined. */
  onSend(
    request: Request,
    reply: FastifyReplyLike,
    payload: unknown,
    done: Done,
  ): Promise<unknown> | undefined
}

type Done = (error: null, payload: unknown) => void

/** As `withRateLimit`. */
export function rateLimit<Request extends FastifyRequestLike>(
  limiter: Limiter,
  options: RateLimitMiddlewareOptions<Request>,
): RateLimitHooks<NoInfer<Request>> {
  const policy = new RateLimitPolicy(limiter, options)
  return {
    async onRequest(request, reply) {
      const passage = await policy.pass(request)
      if (!passage.allowed) return send(reply, passage.answer)
      whenClosed(reply.raw, passage.done)
      lay(reply, passage)
      return undefined
    },
  }
}

/** As `withIdempotency`. */
export function idempotency<Request extends FastifyRequestLike>(
  once: Store,
  options: IdempotencyOptions<Request> = {},
): ResponseHooks<NoInfer<Request>> {
  const policy = new IdempotencyPolicy(once, options)
  const { maxBytes } = policy
  const recordings = new Sendings<Request, ResponseRecorder>()
  return {
    async preHandler(request, reply) {
      const admission = await policy.admit(incomingOf(request, options, maxBytes))
      if (admission.status === 'answered') return send(reply, admission.answer)
      if (admission.status === 'begun') begin(admission.recording, request, reply)
      return undefined
    },
    onSend(request, reply, payload, done) {
      const kept = recordings.send(request, payload, async (recording) => {
        try {
          return await keepSent(recording, reply, payload, maxBytes)
        } catch (error) {
          await recording.free()
          throw error
        }
      })
      if (kept === null) done(null, payload)
      return kept ?? undefined
    },
  }

  function begin(recording: ResponseRecorder, request: Request, reply: FastifyReplyLike): void {
    recordings.begin(request, recording)
    // The response was sent in a form that `onSend` cannot see, or bypassed Fastify (`hijack`), or its client
    // disconnected.
    whenClosed(reply.raw, () => {
      const { statusCode: status } = reply.raw
      if (reply.sent) recordings.end(request, () => void recording.keep({ status, headers: [], body: null }))
    })
  }
}

/** As `withResponseCache`. */
export function responseCache<Request extends FastifyRequestLike>(
  cache: ResponseStore,
  options: ResponseCacheOptions<Request> = {},
): ResponseHooks<NoInfer<Request>> {
  const policy = new ResponseCachePolicy(cache, options)
  const { maxBytes } = policy
  const under = new Sendings<Request, UntilSent>()
  return {
    async preHandler(request, reply) {
      const admitted = await policy.lookUp(askedOf(request), request)
      if (admitted.status === 'answered') return send(reply, admitted.answer)
      lay(reply, admitted)
      if (admitted.status === 'begun') begin(admitted.begun, request, reply)
      return undefined
    },
    onSend(request, reply, payload, done) {
      const kept = under.send(request, payload, async (begun) => {
        try {
          return await keepSent(begun, reply, payload, maxBytes)
        } catch (error) {
          begun.fail()
          throw error
        }
      })
      if (kept === null) done(null, payload)
      return kept ?? undefined
    },
  }

  function begin(begun: BegunResponse, request: Request, reply: FastifyReplyLike): void {
    // Headers of later hooks are taken into account.
    under.begin(request, untilSent(begun, reply.raw))
    forgetConditions(request)
    // For requests without any response.
    whenClosed(reply.raw, () => begun.fail())
  }
}

function send(reply: FastifyReplyLike, answer: Answer): unknown {
  lay(reply, answer)
  reply.code(answer.status)
  if (answer.body.length === 0) return reply.send(undefined)
  // Fastify adds a content type to bytes without one; to a stream it adds none.
  if (reply.getHeaders()['content-type'] !== undefined) return reply.send(answer.body)
  reply.header('content-length', String(answer.body.length))
  return reply.send(Readable.from([answer.body]))
}

function lay(reply: FastifyReplyLike, given: Pick<Answer, 'headers'>): void {
  const standing = reply.getHeaders()
  const changes = changesFor(given, (name) => linesOf(standing[name]))
  for (const [name, values] of changes) {
    const [first] = values
    if (first === undefined) removeHeader(reply, name)
    else reply.header(name, values.length === 1 ? first : [...values])
  }
}

export type { FastifyReplyLike } from './fastify-sent.ts'
export type * from './public-types.ts'
