// The parts of a fetch request that the middleware uses.

import { fingerprintOf } from '../../once/once.ts'
import { readBounded } from '../responses/bounded-body.ts'
import { passOn, type RequestIdentity } from '../policies/begun-for.ts'
import { type IdempotencyOptions, type Incoming, subjectOf } from '../policies/idempotency.ts'
import { partsOf } from './parts-of-body.ts'
import { type AskedResource, CONDITIONS } from '../policies/response-cache.ts'
import { returnedText } from '../policies/returned.ts'

/** The body; the handler can still read it. Null when it is larger than `maxBytes`. */
export type ReadsBody = (request: Request, maxBytes: number) => Promise<Uint8Array | null>

export interface Reading {
  readonly maxBytes: number
  readonly readBody?: ReadsBody
  readonly origin?: Origin | null
}

/** The message of Node's connection that a request was made of. */
export interface Origin {
  readonly message: object
  /** The target of the client's request. */
  readonly target: string | undefined
}

export function incomingOf(
  request: Request,
  options: IdempotencyOptions<Request>,
  { maxBytes, readBody = copyOfBody, origin }: Reading,
): Incoming {
  return {
    ...identityOf(request, origin),
    method: request.method,
    header: request.headers.get('idempotency-key'),
    subject: () => subjectOf(options, request),
    fingerprint: async () => {
      if (options.fingerprint !== undefined)
        return returnedText('fingerprint', await options.fingerprint(request))
      const body = await readBody(request, maxBytes)
      if (body === null) return null
      const parts = partsOf(body, request.headers.get('content-type'))
      return fingerprintOf(request.method, pathOf(new URL(request.url), origin?.target), ...parts)
    },
  }
}

export function askedOf(request: Request, origin?: Origin | null): AskedResource {
  const { method, headers } = request
  const url = new URL(request.url)
  return {
    ...identityOf(request, origin),
    method,
    place: `${url.protocol}//${url.host}${pathOf(url, origin?.target)}`,
    hasContent: (headers.get('content-length') ?? '0') !== '0' || headers.get('transfer-encoding') !== null,
    header: (name) => headers.get(name),
  }
}

/** `origin`: undefined for a request of another framework than Hono, null for one that is not from Node. */
function identityOf(request: Request, origin: Origin | null | undefined): RequestIdentity {
  return { request, message: origin?.message, isAwaited: origin !== undefined }
}

/**
 * The path with query. A framework that mounts an app shortens it, and other code may rewrite it: then the client's own
 * one is added. No URL has a space.
 */
function pathOf({ pathname, search }: URL, target: string | undefined): string {
  const path = `${pathname}${search}`
  if (target === undefined) return path
  const wanted = pathOfTarget(target)
  return wanted === path ? path : `${path} of ${wanted}`
}

/** False when other code has rewritten the path. A framework that mounts an app removes its beginning. */
export function isOfTarget(request: Request, target: string): boolean {
  const { pathname, search } = new URL(request.url)
  return pathOfTarget(target).endsWith(`${pathname === '/' ? '' : pathname}${search}`)
}

/** Of a target that may be a whole URL, as proxies send it. */
function pathOfTarget(target: string): string {
  const text = target.startsWith('/') ? `http://host${target}` : target
  const whole = URL.canParse(text) ? new URL(text) : null
  return whole === null ? target : `${whole.pathname}${whole.search}`
}

/** The handler must make the whole response, because it will be stored. */
export function withoutConditions(request: Request): Request {
  if (CONDITIONS.every((name) => !request.headers.has(name))) return request
  const whole = new Request(request)
  for (const name of CONDITIONS) whole.headers.delete(name)
  passOn(request, whole)
  return whole
}

const READ =
  'idempotency: the body of the request has been read already; put this middleware before the reader of the body, or give `fingerprint`'

export async function copyOfBody(request: Request, maxBytes: number): Promise<Buffer | null> {
  if (request.bodyUsed) throw new TypeError(READ)
  const copy = request.clone()
  if (copy.body === null) return Buffer.alloc(0)
  const read = await readBounded(copy.body, maxBytes)
  if (read.whole) return read.bytes
  // Not awaited: it settles only when the other copy is cancelled too.
  read.stream.cancel().catch(() => undefined)
  return null
}
