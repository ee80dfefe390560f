// Common to Express and Fastify: requests whose body is parsed before the middleware runs.

import { isUint8Array } from 'node:util/types'
import { fingerprintOf } from '../../once/once.ts'
import type { RequestIdentity } from '../policies/begun-for.ts'
import { type IdempotencyOptions, type Incoming, subjectOf } from '../policies/idempotency.ts'
import { textOfParsed } from './parsed-body.ts'
import { partsOf } from './parts-of-body.ts'
import { type AskedResource, CONDITIONS } from '../policies/response-cache.ts'
import { returnedText } from '../policies/returned.ts'

export interface ParsedRequest {
  readonly method: string
  readonly originalUrl: string
  /**
   * The requested host, as the framework reports it. Over HTTP/2, and after a trusted proxy, it comes from another
   * header than `Host`.
   */
  readonly host?: string
  /** `http` or `https`, as the framework reports it: after a trusted proxy it comes from a header. */
  readonly protocol?: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body?: unknown
  /** Of Express, when a parser puts files next to the body; in Fastify these are methods. */
  readonly file?: unknown
  readonly files?: unknown
}

const UNPARSED =
  'idempotency: the body of the request has not been parsed; put a body parser before this middleware'

const FILES =
  'idempotency: the request has files in addition to its body; give `fingerprint`, and include the files in it'

export function incomingOf<Request extends ParsedRequest>(
  request: Request,
  options: IdempotencyOptions<Request>,
  maxBytes: number,
): Incoming {
  return {
    ...identityOf(request),
    method: request.method,
    header: headerOf(request, 'idempotency-key'),
    subject: () => subjectOf(options, request),
    fingerprint: async () => {
      if (options.fingerprint !== undefined)
        return returnedText('fingerprint', await options.fingerprint(request))
      // The empty frame may be behind the headers.
      if (request.body === undefined && mayHaveContent(request)) await new Promise(setImmediate)
      const body = bodyOf(request)
      if (Buffer.byteLength(body) > maxBytes) return null
      const parts = partsOf(body, headerOf(request, 'content-type'))
      return fingerprintOf(request.method, request.originalUrl, ...parts)
    },
  }
}

export function askedOf(request: ParsedRequest): AskedResource {
  const { method, originalUrl } = request
  const header = (name: string): string | null => headerOf(request, name)
  return {
    ...identityOf(request),
    method,
    place: `${request.protocol ?? 'http'}://${hostOf(request)}${originalUrl}`,
    hasContent: mayHaveContent(request),
    header,
  }
}

function identityOf(request: ParsedRequest): RequestIdentity {
  return { request: messageOf(request), isAwaited: false }
}

/** The message of Node's connection, which Fastify has in `raw`. */
function messageOf(request: ParsedRequest & { readonly raw?: unknown }): object {
  const { raw } = request
  return typeof raw === 'object' && raw !== null ? raw : request
}

/** What Node says of a message over HTTP/2. */
interface Http2Message {
  readonly httpVersionMajor?: unknown
  readonly readableLength?: unknown
  readonly stream?: {
    readonly endAfterHeaders?: unknown
    readonly readableLength?: unknown
    readonly state?: { readonly remoteClose?: unknown }
  }
}

/** Over HTTP/2 content needs no header: a request without content ends with its headers, or with an empty frame. */
function mayHaveContent(request: ParsedRequest): boolean {
  const length = headerOf(request, 'content-length')
  if (length !== null) return length !== '0'
  if (headerOf(request, 'transfer-encoding') !== null) return true
  const message: Http2Message = messageOf(request)
  if (message.httpVersionMajor !== 2 || message.stream?.endAfterHeaders !== false) return false
  // Some clients end a request without content with an empty frame.
  const { state, readableLength } = message.stream
  return state?.remoteClose !== 1 || readableLength !== 0 || message.readableLength !== 0
}

/** Node accepts any host. A slash in it would yield the key of another page. */
function hostOf(request: ParsedRequest): string {
  const host = request.host ?? headerOf(request, ':authority') ?? headerOf(request, 'host') ?? ''
  return host.replaceAll('/', '%2F')
}

/** The handler must make the whole response, because it will be stored. */
export function forgetConditions({ headers }: ParsedRequest): void {
  for (const name of CONDITIONS) delete (headers as Record<string, unknown>)[name]
}

const JSON_TYPE = /^[^;]*[/+]json\s*(?:;|$)/i

function bodyOf(request: ParsedRequest): string | Uint8Array {
  const { body } = request
  if (isObject(request.file) || isObject(request.files)) throw new TypeError(FILES)
  // The text of a JSON text is in quotes: `"5"` is not `5`.
  if (typeof body === 'string')
    return JSON_TYPE.test(headerOf(request, 'content-type') ?? '') ? JSON.stringify(body) : body
  if (isUint8Array(body)) return body
  if (!mayHaveContent(request) && (body === undefined || body === null)) return ''
  if (body === undefined) throw new TypeError(UNPARSED)
  return textOfParsed(body)
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function headerOf({ headers }: ParsedRequest, name: string): string | null {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : (value ?? null)
}
