// Hooks for Fastify 5, for a route (`app.post('/orders', { ...idempotency(once) }, handler)`) or, added with
// `addHook`, for all of them.

import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import type { Answer } from './answer.ts'
import { readBounded } from './bounded-body.ts'
import { admit, checkIdempotencyOptions, type IdempotencyOptions, type Store } from './idempotency.ts'
import { askedOf, forgetConditions, incomingOf, type ParsedRequest, pairsOf } from './node-request.ts'
import {
  checkRateLimitOptions,
  type Limiter,
  pass,
  type RateLimitMiddlewareOptions,
} from './rate-limiting.ts'
import type { Recording } from './recording.ts'
import {
  type BegunResponse,
  checkResponseCacheOptions,
  lookUp,
  type ResponseCacheOptions,
  type ResponseStore,
} from './response-caching.ts'
import { type Closing, whenClosed } from './when-closed.ts'

/** What is used of Fastify's request. */
export interface FastifyRequestLike extends ParsedRequest {
  readonly ip: string
}

/** What is used of Fastify's reply. */
export interface FastifyReplyLike {
  readonly statusCode: number
  readonly raw: Closing
  getHeaders(): Record<string, number | string | string[] | undefined>
  code(status: number): unknown
  header(name: string, value: string): unknown
  send(payload: unknown): unknown
}

export interface RateLimitHooks<Request> {
  onRequest(request: Request, reply: FastifyReplyLike): Promise<unknown>
}

export interface ResponseHooks<Request> {
  preHandler(request: Request, reply: FastifyReplyLike): Promise<unknown>
  onSend(request: Request, reply: FastifyReplyLike, payload: unknown): Promise<unknown>
}

/** As `withRateLimit`. */
export function rateLimit<Request extends FastifyRequestLike>(
  limiter: Limiter,
  options: RateLimitMiddlewareOptions<Request>,
): RateLimitHooks<NoInfer<Request>> {
  checkRateLimitOptions(options)
  return {
    async onRequest(request, reply) {
      const passage = await pass(limiter, options, request)
      if (!passage.allowed) return send(reply, passage.answer)
      whenClosed(reply.raw, passage.done)
      for (const [name, value] of passage.headers) reply.header(name, value)
      return undefined
    },
  }
}

/** As `withIdempotency`. */
export function idempotency<Request extends FastifyRequestLike>(
  once: Store,
  options: IdempotencyOptions<Request> = {},
): ResponseHooks<NoInfer<Request>> {
  const { maxBytes } = checkIdempotencyOptions(options)
  const recordings = new WeakMap<Request, Recording>()
  return {
    async preHandler(request, reply) {
      const admission = await admit(once, options, incomingOf(request, options, maxBytes))
      if (admission.status === 'answered') return send(reply, admission.answer)
      if (admission.status === 'begun') recordings.set(request, admission.recording)
      return undefined
    },
    async onSend(request, reply, payload) {
      const recording = recordings.get(request)
      if (recording === undefined) return payload
      recordings.delete(request)
      try {
        const [body, passedOn] = await read(payload, reply, maxBytes)
        await recording.keep({ status: reply.statusCode, headers: pairsOf(reply.getHeaders()), body })
        return passedOn
      } catch (error) {
        await recording.free()
        throw error
      }
    },
  }
}

/** As `withResponseCache`. */
export function responseCache<Request extends FastifyRequestLike>(
  cache: ResponseStore,
  options: ResponseCacheOptions<Request> = {},
): ResponseHooks<NoInfer<Request>> {
  const { maxBytes } = checkResponseCacheOptions(options)
  const under = new WeakMap<Request, BegunResponse>()
  return {
    async preHandler(request, reply) {
      const admitted = await lookUp(cache, options, askedOf(request), request)
      if (admitted.status === 'answered') return send(reply, admitted.answer)
      for (const [name, value] of admitted.headers) reply.header(name, value)
      if (admitted.status === 'begun') begin(admitted.begun, request, reply)
      return undefined
    },
    async onSend(request, reply, payload) {
      const begun = under.get(request)
      if (begun === undefined) return payload
      under.delete(request)
      try {
        const [body, passedOn] = await read(payload, reply, maxBytes)
        await begun.keep({ status: reply.statusCode, headers: pairsOf(reply.getHeaders()), body })
        return passedOn
      } catch (error) {
        begun.fail()
        throw error
      }
    },
  }

  function begin(begun: BegunResponse, request: Request, reply: FastifyReplyLike): void {
    under.set(request, begun)
    forgetConditions(request)
    // Where there is no response at all.
    whenClosed(reply.raw, () => begun.fail())
  }
}

/** The bytes to keep, or null, and the payload to send instead of one that has been read. */
async function read(
  payload: unknown,
  reply: FastifyReplyLike,
  maxBytes: number,
): Promise<[Uint8Array | null, unknown]> {
  if (String(reply.getHeaders()['content-type']).startsWith('text/event-stream')) return [null, payload]
  if (payload instanceof Readable) {
    const bounded = await readBounded(
      Readable.toWeb(payload) as ReadableStream<Uint8Array | string>,
      maxBytes,
    )
    if (bounded.whole) return [bounded.bytes, bounded.bytes]
    return [null, Readable.fromWeb(bounded.stream as NodeReadableStream)]
  }
  const bytes = toBytes(payload)
  return [bytes !== null && bytes.byteLength <= maxBytes ? bytes : null, payload]
}

function toBytes(payload: unknown): Uint8Array | null {
  if (payload === undefined || payload === null) return new Uint8Array()
  if (typeof payload === 'string') return Buffer.from(payload)
  return payload instanceof Uint8Array ? payload : null
}

function send(reply: FastifyReplyLike, { status, headers, body }: Answer): unknown {
  reply.code(status)
  for (const [name, value] of headers) reply.header(name, value)
  return reply.send(body)
}

export type { IdempotencyOptions } from './idempotency.ts'
export type { Limiter, RateLimitMiddlewareOptions } from './rate-limiting.ts'
export type { KeptResponse } from './kept-response.ts'
export type { StoredResponse } from './recording.ts'
export type { ResponseCacheOptions, ResponseStore } from './response-caching.ts'
