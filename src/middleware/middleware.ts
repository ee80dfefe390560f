// Middleware for handlers in the style of fetch: a Request in, a Response out. The adapters of frameworks
// stand beside it.

import { fingerprintOf } from '../once/once.ts'
import type { Answer } from './answer.ts'
import { type Bounded, readBounded } from './bounded-body.ts'
import {
  admit,
  checkIdempotencyOptions,
  type IdempotencyOptions,
  type Incoming,
  type Store,
} from './idempotency.ts'
import {
  checkRateLimitOptions,
  type Limiter,
  pass,
  type RateLimitMiddlewareOptions,
} from './rate-limiting.ts'
import type { KeepsResponses } from './record-node-response.ts'
import {
  type Asked,
  checkResponseCacheOptions,
  CONDITIONS,
  lookUp,
  type ResponseCacheOptions,
  type ResponseStore,
} from './response-caching.ts'
import { whenDone } from './when-done.ts'

/** Answers a request; further arguments (an environment, a context) are passed on. */
export type Handler<Rest extends readonly unknown[]> = (
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
  handler: Handler<Rest>,
): FetchHandler<Rest> {
  checkRateLimitOptions(options)
  return async (request, ...rest) => {
    const passage = await pass(limiter, options, request)
    if (!passage.allowed) return toResponse(passage.answer)
    try {
      const response = await handler(request, ...rest)
      return whenDone(withHeaders(response, passage.headers), passage.done)
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
  handler: Handler<Rest>,
): FetchHandler<Rest> {
  const { maxBytes } = checkIdempotencyOptions(options)
  return async (request, ...rest) => {
    const admission = await admit(once, options, incomingOf(request, options, maxBytes))
    if (admission.status === 'pass') return handler(request, ...rest)
    if (admission.status === 'answered') return toResponse(admission.answer)
    const { recording } = admission
    try {
      return await keep(recording, await handler(request, ...rest), maxBytes)
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
  handler: Handler<Rest>,
): FetchHandler<Rest> {
  const { maxBytes } = checkResponseCacheOptions(options)
  return async (request, ...rest) => {
    const admitted = await lookUp(cache, options, askedOf(request), request)
    if (admitted.status === 'answered') return toResponse(admitted.answer, request.method !== 'HEAD')
    if (admitted.status === 'pass') return withHeaders(await handler(request, ...rest), admitted.headers)
    const { begun, headers } = admitted
    try {
      return withHeaders(
        await keep(begun, await handler(withoutConditions(request), ...rest), maxBytes),
        headers,
      )
    } catch (error) {
      begun.fail()
      throw error
    }
  }
}

function askedOf({ method, url, headers }: Request): Asked {
  const { host, pathname, search } = new URL(url)
  return { method, place: `${host}${pathname}${search}`, header: (name) => headers.get(name) }
}

function withoutConditions(request: Request): Request {
  if (CONDITIONS.every((name) => !request.headers.has(name))) return request
  const whole = new Request(request)
  for (const name of CONDITIONS) whole.headers.delete(name)
  return whole
}

function toResponse({ status, headers, body }: Answer, whole = true): Response {
  return new Response(whole && mayHaveBody(status) ? new Uint8Array(body) : null, {
    status,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
  })
}

function withHeaders(response: Response, headers: Answer['headers']): Response {
  if (headers.length === 0) return response
  // A new one: those of fetch and of redirects cannot be changed.
  const changed = new Response(response.body, response)
  for (const [name, value] of headers) changed.headers.set(name, value)
  return changed
}

function incomingOf(request: Request, options: IdempotencyOptions<Request>, maxBytes: number): Incoming {
  return {
    method: request.method,
    header: request.headers.get('idempotency-key'),
    subject: options.subject?.(request) ?? null,
    fingerprint: async () => {
      if (options.fingerprint !== undefined) return options.fingerprint(request)
      const body = await bodyOf(request, maxBytes)
      const { pathname, search } = new URL(request.url)
      return body === null ? null : fingerprintOf(request.method, `${pathname}${search}`, body)
    },
  }
}

/** A copy of the body; null when it is too large. */
async function bodyOf(request: Request, maxBytes: number): Promise<Buffer | null> {
  const copy = request.clone()
  if (copy.body === null) return Buffer.alloc(0)
  const read = await readBounded(copy.body, maxBytes)
  if (read.whole) return read.bytes
  // Not awaited: it settles when the other copy is cancelled too.
  read.stream.cancel().catch(() => undefined)
  return null
}

async function keep(recording: KeepsResponses, response: Response, maxBytes: number): Promise<Response> {
  const { status, headers } = response
  const read = await readResponse(response, maxBytes)
  await recording.keep({ status, headers, body: read === null ? null : read.whole ? read.bytes : null })
  if (read === null) return response
  return new Response(
    read.whole ? (mayHaveBody(status) ? new Uint8Array(read.bytes) : null) : read.stream,
    response,
  )
}

/** Null for a stream of events, which may have no end. */
async function readResponse(response: Response, maxBytes: number): Promise<Bounded | null> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) return null
  if (response.body === null) return { whole: true, bytes: Buffer.alloc(0) }
  return readBounded(response.body, maxBytes)
}

function mayHaveBody(status: number): boolean {
  return ![101, 204, 205, 304].includes(status)
}

export type { IdempotencyOptions } from './idempotency.ts'
export type { Limiter, RateLimitMiddlewareOptions } from './rate-limiting.ts'
export type { KeptResponse } from './kept-response.ts'
export type { StoredResponse } from './recording.ts'
export type { ResponseCacheOptions, ResponseStore } from './response-caching.ts'
