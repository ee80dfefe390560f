// Errors as problem documents (RFC 9457). `code` is the library's, if the error comes from the library.

import {
  BacklogError,
  InvalidArgumentError,
  LeaseLostError,
  OverflowError,
  PeriluneError,
  RefusedError,
  ResultNotKeptError,
  SinkError,
  UnknownCounterError,
} from 'perilune'
import { isLasting, LASTING, Problem } from './problems.ts'

interface ProblemDocument {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  /** The invalid argument. */
  readonly argument?: string
  /** Why a message was not acked or removed, or a job no longer belongs to the caller. */
  readonly reason?: string
  /** After how many milliseconds the same request may succeed. */
  readonly retryAfterMs?: number
}

export interface ProblemAnswer {
  readonly headers: Readonly<Record<string, string>>
  readonly document: ProblemDocument
}

/** Counters named in a refusal. */
const MOST_NAMED = 10

const REFUSALS = { 'not-found': 404, refused: 409, 'lease-lost': 410 } as const

/** A call that was understood, but cannot be carried out in the present state. */
export class RefusedRequest extends Error {
  override readonly name = 'Refusal'
  readonly code: keyof typeof REFUSALS
  readonly reason: string | undefined

  constructor(code: RefusedRequest['code'], detail: string, reason?: string) {
    super(detail)
    this.code = code
    this.reason = reason
  }
}

const DENIALS = {
  held: [409, 'Held'],
  full: [409, 'Full'],
  running: [409, 'Running'],
  loading: [409, 'Loading'],
  'load-failed': [409, 'Load failed'],
  conflict: [422, 'Conflict'],
  'rate-limited': [429, 'Rate limited'],
} as const

/** An expected refusal. `retryAfterMs`: when to retry; `members` are added to the document unchanged. */
export class Denial extends Error {
  override readonly name = 'Denial'
  readonly code: keyof typeof DENIALS
  readonly members: object
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: Denial['code'],
    detail: string,
    { retryAfterMs, ...members }: { readonly retryAfterMs?: number } = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail)
    this.code = code
    this.members = retryAfterMs === undefined ? members : { retryAfterMs, ...members }
    this.headers =
      retryAfterMs === undefined ? headers : { 'Retry-After': toSeconds(retryAfterMs), ...headers }
  }
}

const TITLES: Readonly<Record<number, readonly [code: string, title: string]>> = {
  400: ['invalid-argument', 'Invalid argument'],
  403: ['foreign-origin', 'Foreign origin'],
  404: ['not-found', 'Not found'],
  405: ['method-not-allowed', 'Method not allowed'],
  409: ['refused', 'Refused'],
  410: ['lease-lost', 'Lease lost'],
  413: ['too-large', 'Content too large'],
  415: ['unsupported-media-type', 'Unsupported media type'],
  422: ['overflow', 'Overflow'],
  500: ['internal', 'Internal server error'],
  503: ['unavailable', 'Service unavailable'],
}

/** The answer for an error; null if it is unexpected. */
export function toProblemAnswer(error: unknown): ProblemAnswer | null {
  if (error instanceof PeriluneError) return fromLibrary(error)
  if (error instanceof RefusedRequest) {
    const { code, reason, message } = error
    const document = problem(REFUSALS[code], message)
    return { headers: {}, document: reason === undefined ? document : { ...document, reason } }
  }
  if (error instanceof Denial) {
    const [status, title] = DENIALS[error.code]
    const document = { ...problem(status, error.message, error.code), title, ...error.members }
    return { headers: error.headers, document }
  }
  if (error instanceof Problem) {
    return { headers: error.headers, document: problem(error.status, error.message) }
  }
  return fromFramework(error)
}

/** The answer for an unexpected error; the log has the details. */
export function unforeseenAnswer(): ProblemAnswer {
  return { headers: {}, document: problem(500, 'The request could not be carried out.') }
}

function fromLibrary(error: PeriluneError): ProblemAnswer {
  if (error instanceof InvalidArgumentError) {
    const detail = `${withoutOptions(error.message)}.`
    return { headers: {}, document: { ...problem(400, detail), argument: withoutOptions(error.argument) } }
  }
  if (error instanceof LeaseLostError) {
    return { headers: {}, document: problem(410, `The lease ${error.token} has ended, or never existed.`) }
  }
  if (error instanceof ResultNotKeptError) {
    return {
      headers: {},
      document: problem(409, 'The work was done, but its result could not be stored.', error.code),
    }
  }
  if (error instanceof UnknownCounterError) {
    return { headers: {}, document: problem(404, `The counter ${error.id} does not exist.`, error.code) }
  }
  if (error instanceof BacklogError) {
    const detail = `The counter ${error.id} was not incremented: too many counters wait for the database. Please try again.`
    return { headers: { 'Retry-After': '1' }, document: problem(503, detail, error.code) }
  }
  if (error instanceof OverflowError) {
    const detail = `The counter ${error.id} would leave the range of a 64-bit integer; nothing was counted.`
    return { headers: {}, document: problem(422, detail, error.code) }
  }
  if (error instanceof RefusedError) {
    const named = error.refused
      .map(({ id }) => id)
      .slice(0, MOST_NAMED)
      .join(', ')
    const detail = `The database refused the rows of ${error.refused.length} counters: ${named}. All others are written; these are kept and retried.`
    return { headers: {}, document: problem(503, detail, error.code) }
  }
  if (error instanceof SinkError) return fromDatabase(error)
  if (isLasting(error)) return { headers: {}, document: problem(503, LASTING, error.code) }
  const detail =
    error.code === 'ambiguous'
      ? 'The store did not answer in time: the request may have been carried out.'
      : 'The store did not carry out the request. Please try again.'
  return { headers: { 'Retry-After': '1' }, document: problem(503, detail, error.code) }
}

/** Messages of the database only go to the log. */
function fromDatabase({ code, isPassing }: SinkError): ProblemAnswer {
  const detail = isPassing
    ? 'The database of the counters does not answer. Please try again.'
    : 'The database of the counters refuses the request; the log of the service says why.'
  return { headers: isPassing ? { 'Retry-After': '1' } : {}, document: problem(503, detail, code) }
}

/** The library's messages name its options, a word that requests do not have. */
function withoutOptions(text: string): string {
  return text.replace(/^options\./, '')
}

/** Fastify's own errors: bodies too large or of another type, paths that cannot be decoded, shutting down. */
function fromFramework(error: unknown): ProblemAnswer | null {
  if (!(error instanceof Error) || !('statusCode' in error)) return null
  const status = Number(error.statusCode)
  if (status === 503) {
    return { headers: { 'Retry-After': '1' }, document: problem(503, 'The service is shutting down.') }
  }
  if (!(status >= 400 && status < 500)) return null
  return { headers: {}, document: problem(status in TITLES ? status : 400, `${error.message}.`) }
}

function problem(status: number, detail: string, code?: string): ProblemDocument {
  const [byDefault = 'internal', title = 'Error'] = TITLES[status] ?? []
  const named = code ?? byDefault
  return { type: `urn:perilune:problem:${named}`, title, status, detail, code: named }
}

/** Rounded up, so that no retry comes too early. */
function toSeconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1000)))
}
