// The headers that every call of /v2 must have.

import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { hasBody } from '../../http/bodies/forms.ts'
import type { Limits } from '../settings/limits.ts'
import { badRequest, notAcceptable } from '../../http/answers/problems.ts'

/** The caller. */
export interface Tenant {
  /** The prefix of every name of this project; no other project has the same, or one that begins with it. */
  readonly scope: string
  /** The client id in the form that messages store. */
  readonly origin: string
}

declare module 'fastify' {
  interface FastifyRequest {
    tenant: Tenant
  }
}

/** Throws a Problem for invalid headers. */
export function readTenant(headers: IncomingHttpHeaders, limits: Limits): Tenant {
  if (!acceptsJson(headers.accept)) throw notAcceptable()
  const isForm = headers['content-type']?.toLowerCase().includes('application/x-www-form-urlencoded')
  // Without a body the type does not matter: clients send one by default.
  if (isForm && hasBody({ headers })) {
    throw badRequest('A body must be JSON, not application/x-www-form-urlencoded.')
  }
  const origin = readClientId(headers['client-id'])
  return { origin, scope: scopeOf(readProject(headers['x-project-id'], limits.maxProjectLength)) }
}

/** The project in its header; only to be called after readTenant. */
export function projectOf(headers: IncomingHttpHeaders): string {
  return String(headers['x-project-id'])
}

const UUID = /^(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i

function readClientId(value: string | string[] | undefined): string {
  if (typeof value !== 'string' || !UUID.test(value)) {
    throw badRequest('The header Client-ID must be a UUID, with its dashes or as 32 hexadecimal digits.')
  }
  return value.replaceAll('-', '').toLowerCase()
}

function readProject(value: string | string[] | undefined, maxLength: number): string {
  if (typeof value !== 'string' || value === '')
    throw badRequest('The header X-Project-ID is missing or empty.')
  if (value.length > maxLength) {
    throw badRequest(`The header X-Project-ID must be at most ${maxLength} characters long.`)
  }
  return value
}

// Leaves room for a queue name within the 512 bytes of a name.
const PLAIN_BYTES = 400

/** A project's id itself if names may contain it, otherwise its hash; different first letters separate the two. */
function scopeOf(project: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  const plain = !/[\u0000-\u001f\u007f]/.test(project) && Buffer.byteLength(project) <= PLAIN_BYTES
  return plain ? `p:${project}` : `h:${createHash('sha256').update(project).digest('base64url')}`
}

const JSON_RANGES = new Set(['*/*', 'application/*', 'application/json'])

function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === '' || accept === '*/*') return true
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.toLowerCase().split(';')
    const refused = parameters.some((parameter) => /^\s*q\s*=\s*0(?:\.0*)?\s*$/.test(parameter))
    return JSON_RANGES.has(type.trim()) && !refused
  })
}
