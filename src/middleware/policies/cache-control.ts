// What a response says of being kept (RFC 9111), to a cache that all callers share.

import type { HandlerResponse } from '../responses/response-recorder.ts'

export type KeepableResponse =
  /** In milliseconds; null: the response does not say. How old it is already counts to how long it is fresh. */
  | {
      readonly status: 'keep'
      readonly ageMs: number
      readonly freshMs: number | null
      readonly staleMs: number | null
    }
  /** It must not be shared. */
  | { readonly status: 'pass' }
  /** The server failed, or it is no answer to what others ask. */
  | { readonly status: 'failed' }

export interface KeepRules {
  /** Request headers that the key tells apart, in lower case. */
  readonly vary: readonly string[]
  /** Whether a response that sets cookies may be kept without them. */
  readonly stripCookies: boolean
}

/** All that stands under a name in lower case, with commas between. */
type ValuesOf = (name: string) => string

// Those that may be kept without being told so (RFC 9110, 15.1), but for parts and methods.
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
  // What older servers say in the place of Cache-Control.
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

/** Names in lower case, and what stands behind `=`, without its quotes; of two with one name the first counts. */
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

/** Null when nothing was said; what is no number of seconds is over already (RFC 9111, 4.2.1). */
function msOf(seconds: string | undefined): number | null {
  if (seconds === undefined) return null
  return /^\d+$/.test(seconds) ? Number(seconds) * 1000 : 0
}

/** Null when nothing was said; what is no date, such as 0, is over already (RFC 9111, 5.3). */
function untilExpires(expires: string, date: string): number | null {
  if (expires === '') return null
  const [endMs, saidMs] = [Date.parse(expires), Date.parse(date)]
  if (Number.isNaN(endMs) || /^-?\d+$/.test(expires.trim())) return 0
  return Math.max(0, endMs - (Number.isNaN(saidMs) ? Date.now() : saidMs))
}

/** For how long other caches had it. */
function ageOf(header: string): number {
  return /^\d+$/.test(header.split(',')[0]?.trim() ?? '') ? Number.parseInt(header, 10) * 1000 : 0
}
