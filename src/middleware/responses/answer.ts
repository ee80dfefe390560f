// Answers of the middleware itself, for any framework: a problem document (RFC 9457) or a stored response.

/** Names and values, in order; a name may occur twice. */
export type Headers = readonly (readonly [name: string, value: string])[]

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
  /** In lower case: headers to remove from the response unless the answer sets them. */
  readonly without: ReadonlySet<string>
}

/** Statuses whose responses have no body. */
export const BODILESS: ReadonlySet<number> = new Set([101, 204, 205, 304])

/** Headers that describe another content than that of a problem. */
const OF_ANOTHER_CONTENT: ReadonlySet<string> = new Set([
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-location',
  'etag',
  'last-modified',
])

const TITLES = {
  'idempotency-key-missing': [400, 'Idempotency-Key is missing'],
  'idempotency-key-malformed': [400, 'Idempotency-Key is malformed'],
  running: [409, 'Running'],
  'response-not-kept': [409, 'The response was not kept'],
  'too-large': [413, 'Content too large'],
  conflict: [422, 'Conflict'],
  'rate-limited': [429, 'Rate limited'],
  unavailable: [503, 'Service unavailable'],
} as const

export type ProblemCode = keyof typeof TITLES

/**
 * A problem document, whose `code` never changes; the Perilune service uses the same codes. `members` are added to the
 * document unchanged.
 */
export function problem(
  code: ProblemCode,
  detail: string,
  headers: Headers = [],
  members: { readonly retryAfterMs?: number; readonly deniedBy?: string } = {},
): Answer {
  const [status, title] = TITLES[code]
  const document = { type: `urn:perilune:problem:${code}`, title, status, detail, code, ...members }
  return {
    status,
    headers: [['content-type', 'application/problem+json'], ...headers],
    body: Buffer.from(JSON.stringify(document)),
    without: OF_ANOTHER_CONTENT,
  }
}

/** The store cannot be asked just now. */
export function unavailable(): Answer {
  return problem('unavailable', 'The store did not answer. Please try again.', [['retry-after', '1']])
}
