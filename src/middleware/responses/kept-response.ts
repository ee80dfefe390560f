// A response as it is stored, and as it is served.

import { type Answer, BODILESS, type Headers } from './answer.ts'
import { KEPT_HEADERS, type HandlerResponse } from './response-recorder.ts'

/** Stored in the codec of the cache. */
export interface KeptResponse {
  readonly status: number
  readonly headers: Headers
  /** In base64; null marks a resource whose responses must not be shared: each request goes to the handler. */
  readonly body: string | null
  /** When the origin made it, in milliseconds of the server's clock. */
  readonly madeAtMs: number
  /** For how many milliseconds it is fresh from then on; null: as long as the cache keeps it fresh. */
  readonly freshMs: number | null
}

export function toKept(
  { status, headers, body }: HandlerResponse,
  {
    nowMs,
    ageMs,
    freshMs,
  }: { readonly nowMs: number; readonly ageMs: number; readonly freshMs: number | null },
  keepHeaders: readonly string[],
): KeptResponse {
  const wanted = new Set([...KEPT_HEADERS, ...keepHeaders.map((name) => name.toLowerCase())])
  const keeps = (name: string): boolean => wanted.has(name) && !NEVER.has(name)
  const kept = [...headers].filter(([name]) => keeps(name.toLowerCase()))
  const text = body === null ? null : Buffer.from(body).toString('base64')
  return { status, headers: kept, body: text, madeAtMs: nowMs - ageMs, freshMs }
}

// Headers that belong to one client, one connection, or one path to this server.
const NEVER: ReadonlySet<string> = new Set([
  'age',
  'cache-status',
  'connection',
  'content-length',
  'keep-alive',
  'set-cookie',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Marks a resource whose responses must not be shared. */
export function toPass(): KeptResponse {
  return { status: 0, headers: [], body: null, madeAtMs: 0, freshMs: null }
}

/** The header Cache-Status (RFC 9211). */
export function cacheStatus(what: string): Headers[number] {
  return ['cache-status', `perilune; ${what}`]
}

/** The answer for a client; null when the request goes to the handler. */
export function toAnswer(
  { status, headers, body, madeAtMs, freshMs }: KeptResponse,
  asked: { readonly nowMs: number; readonly method: string; readonly etags: string | null },
): Answer | null {
  if (body === null) return null
  const ageMs = Math.max(0, asked.nowMs - madeAtMs)
  const ttl = freshMs === null ? '' : `; ttl=${Math.floor((freshMs - ageMs) / 1000)}`
  const all: Headers = [...headers, ['age', String(Math.floor(ageMs / 1000))], cacheStatus(`hit${ttl}`)]
  const bytes = Buffer.from(body, 'base64')
  if (asked.etags !== null && isFound(status) && isKnown(asked.etags, headers)) {
    const described = all.filter(([name]) => !OF_THE_BODY.test(name))
    return { status: 304, headers: described, body: Buffer.alloc(0), without: KEPT_HEADERS }
  }
  const answer = { status, headers: all, body: bytes, without: KEPT_HEADERS }
  // The sender omits the body.
  if (asked.method !== 'HEAD' || BODILESS.has(status)) return answer
  return { ...answer, headers: [...all, ['content-length', String(bytes.length)]] }
}

/** Conditions apply to existing content: a 404 stays a 404 (RFC 9110, 13.2.1). */
function isFound(status: number): boolean {
  return status >= 200 && status < 300
}

/** A 304 carries the other headers of the 200 (RFC 9110, 15.4.5). */
const OF_THE_BODY = /^content-(?!location$)/i

/** Whether the client has this response already; weak tags match too (RFC 9110, 13.1.2). */
function isKnown(etags: string, headers: Headers): boolean {
  const own = headers.find(([name]) => name.toLowerCase() === 'etag')?.[1]
  if (own === undefined) return false
  const opaque = (tag: string): string => tag.trim().replace(/^W\//, '')
  // A quoted tag may contain commas.
  const tags = etags.match(/(?:W\/)?"[^"]*"|[^\s,]+/g) ?? []
  return etags.trim() === '*' || tags.some((tag) => opaque(tag) === opaque(own))
}
