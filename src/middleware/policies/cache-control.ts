// Whether a shared cache may store a response (RFC 9111).

import type { HandlerResponse } from '../responses/response-recorder.ts'

export type KeepableResponse =
  /** In milliseconds; null when the response does not say. `ageMs` is part of `freshMs`. */
  | {
      readonly status: 'keep'
      readonly ageMs: number
      readonly freshMs: number | null
      readonly staleMs: number | null
    }
  /** It must not be shared. */
  | { readonly status: 'pass' }
  /** The server failed, or the response does not answer other requests. */
  | { readonly status: 'failed' }

export interface KeepRules {
  /** Request headers that are part of the key, in lower case. */
  readonly vary: readonly string[]
  /** Whether a response that sets cookies may be stored without them. */
  readonly stripCookies: boolean
}

/** All values of a header (its name in lower case), joined by commas. */
type ValuesOf = (name: string) => string

// Statuses that are cacheable by default (RFC 9110, 15.1), except partial content and those of certain methods.
const KEPT_STATUSES: ReadonlySet<number> = new Set([200, 203, 204, 300, 301, 308, 404, 410, 414])
const FORBIDDING = ['no-store', 'private', 'no-cache']

export function judgeResponse(
  { status, headers, body }: HandlerResponse,
  rules: KeepRules,
): KeepableResponse {
  if (status >= 500 || status === 304 || status === 206) return { status: 'failed' }
  const lines = [...headers].map(([name, value]) => [name.toLowerCase(), value] as const)
  const valuesOf: ValuesOf = (wanted) =>
    lines.flatMap(([name, value]) => (name === wanted ? [value] : [])).join(',')
  const setsCookies = lines.some(([name]) => name === 'set-cookie') && !rules.stripCookies
  const varies = wordsOf(valuesOf('vary')).some((name) => !rules.vary.includes(name))
  if (body === null || setsCookies || varies || !KEPT_STATUSES.has(status)) return { status: 'pass' }
  return judgeControl(directivesOf(valuesOf('cache-control')), valuesOf)
}

function judgeControl(directives: ReadonlyMap<string, string>, valuesOf: ValuesOf): KeepableResponse {
  if (FORBIDDING.some((name) => directives.has(name))) return { status: 'pass' }
  // The older alternative to Cache-Control.
  if (directives.size === 0 && wordsOf(valuesOf('pragma')).includes('no-cache')) return { status: 'pass' }
  const freshMs =
    msOf(directives.get('s-maxage') ?? directives.get('max-age')) ??
    untilExpires(valuesOf('expires'), valuesOf('date'))
  const ageMs = ageOf(valuesOf('age'))
  if (freshMs !== null && freshMs <= ageMs) return { status: 'pass' }
  const strict = directives.has('must-revalidate') || directives.has('proxy-revalidate')
  const staleMs = strict ? 0 : msOf(directives.get('stale-while-revalidate'))
  return { status: 'keep', ageMs, freshMs, staleMs }
}

/** Names in lower case, each with its value without quotes. The first of two directives with the same name applies. */
function directivesOf(header: string): ReadonlyMap<string, string> {
  const pairs = wordsOf(header).map((directive) => {
    const [name = '', value = ''] = directive.split('=', 2)
    return [name.trim(), value.trim().replaceAll('"', '')] as const
  })
  return new Map(pairs.toReversed())
}

function wordsOf(header: string): string[] {
  return header
    .toLowerCase()
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
}

/** Null when absent; a value that is no number of seconds means stale (RFC 9111, 4.2.1). */
function msOf(seconds: string | undefined): number | null {
  if (seconds === undefined) return null
  return /^\d+$/.test(seconds) ? Number(seconds) * 1000 : 0
}

/** Null when absent; a value that is no date, such as 0, means stale (RFC 9111, 5.3). */
function untilExpires(expires: string, date: string): number | null {
  if (expires === '') return null
  const [endMs, saidMs] = [Date.parse(expires), Date.parse(date)]
  if (Number.isNaN(endMs) || /^-?\d+$/.test(expires.trim())) return 0
  return Math.max(0, endMs - (Number.isNaN(saidMs) ? Date.now() : saidMs))
}

/** How long other caches have held the response. */
function ageOf(header: string): number {
  return /^\d+$/.test(header.split(',')[0]?.trim() ?? '') ? Number.parseInt(header, 10) * 1000 : 0
}
