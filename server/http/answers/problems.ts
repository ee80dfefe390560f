// Errors as the answers for people and programs: a status, a title, a description. Never internals.

import {
  AmbiguousError,
  DriverError,
  InvalidArgumentError,
  LeaseLostError,
  type PeriluneError,
  UnsupportedServerError,
  WaitTimeoutError,
} from 'perilune'

export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: number
  readonly title: string
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, title: string, description: string, headers: Record<string, string> = {}) {
    super(description)
    this.status = status
    this.title = title
    this.headers = headers
  }
}

export const badRequest = (description: string): Problem =>
  new Problem(400, 'Invalid API request', description)

export const forbidden = (description: string): Problem => new Problem(403, 'Forbidden', description)

export const notFound = (description: string): Problem => new Problem(404, 'Not found', description)

export const methodNotAllowed = (allowed: string): Problem =>
  new Problem(405, 'Method not allowed', `This resource answers ${allowed}.`, { Allow: allowed })

export const notAcceptable = (): Problem =>
  new Problem(406, 'Not acceptable', 'The service answers in application/json only.')

export const conflict = (description: string): Problem => new Problem(409, 'Conflict', description)

export const unsupportedMediaType = (accepted: string): Problem =>
  new Problem(415, 'Unsupported media type', `The Content-Type must be ${accepted}.`)

export const unavailable = (description: string): Problem =>
  new Problem(503, 'Service temporarily unavailable', description)

const LASTING_CODES: ReadonlySet<string> = new Set([
  'forbidden',
  'unknown-layout',
  'script-failed',
  'unsupported-server',
])
export const LASTING =
  'The store rejects the request, and will do so again; the log of the service has the reason.'

/** Whether an error of the library persists until an operator repairs the store. */
export function isLasting(error: PeriluneError): boolean {
  return LASTING_CODES.has(error.code)
}

/** The answer for an error; null if it is unexpected. */
export function toProblem(error: unknown): Problem | null {
  if (error instanceof Problem) return error
  if (error instanceof InvalidArgumentError) return badRequest(`${error.message}.`)
  if (error instanceof AmbiguousError) {
    return unavailable('The store did not answer in time: the request may have been carried out.')
  }
  if (error instanceof WaitTimeoutError || error instanceof LeaseLostError) {
    return unavailable('Other requests are changing the same object. Please try again.')
  }
  if (error instanceof DriverError || error instanceof UnsupportedServerError) {
    if (isLasting(error)) return unavailable(LASTING)
    return unavailable('The store did not carry out the request. Please try again.')
  }
  return fromFramework(error)
}

/** The answer for an unexpected error; the log has the details. */
export const unforeseen = (): Problem =>
  new Problem(500, 'Internal server error', 'The request could not be carried out.')

/** Fastify's own 4xx errors: bodies too large, paths that cannot be decoded, parameters that do not match. */
function fromFramework(error: unknown): Problem | null {
  if (!(error instanceof Error) || !('statusCode' in error)) return null
  if (error.statusCode === 413) return badRequest('The body of the request is too large.')
  if (error.statusCode === 503) return unavailable('The service is shutting down.')
  if ('validation' in error) return badRequest('The name of a queue must be 1 to 64 of A-Z a-z 0-9 _ . -')
  const status = Number(error.statusCode)
  return status >= 400 && status < 500 ? badRequest(`${error.message}.`) : null
}
