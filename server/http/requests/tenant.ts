// The name of the feed, lock or other structure of a request: `v1:<tenant>/<name>`. No queue of /v2 has such a name.
// Two tenants never share one, because a slash in a tenant is written as %2F.

import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { InvalidArgumentError } from 'perilune'
import { headerOf } from './headers.ts'

const MAX_NAME_BYTES = 512
const MAX_TENANT_LENGTH = 256
// Longer tenants are represented by their hash, so that there is room for names.
const PLAIN_BYTES = 128

export const DEFAULT_TENANT = 'default'

/** The library's name for a tenant's name. Throws InvalidArgumentError for an invalid name or tenant. */
export function nameOf(request: FastifyRequest, name: string, argument = 'name'): string {
  return namedBy(tenantOf(request), name, argument)
}

/** Like `nameOf`, for a tenant of 1 to 256 characters. */
export function namedBy(tenant: string, name: string, argument = 'name'): string {
  const prefix = prefixOf(tenant)
  const left = MAX_NAME_BYTES - Buffer.byteLength(prefix)
  if (name === '') throw new InvalidArgumentError(argument, 'must not be empty')
  if (Buffer.byteLength(name) > left) {
    throw new InvalidArgumentError(argument, `must be at most ${left} bytes of UTF-8`)
  }
  return prefix + name
}

/** The tenant's name of one of its structures. A structure without a tenant keeps the library's name. */
export function calledBy(request: FastifyRequest, name: string): string {
  const prefix = prefixOf(tenantOf(request))
  return name.startsWith(prefix) ? name.slice(prefix.length) : name
}

/** Throws InvalidArgumentError for an invalid tenant. */
export function tenantOf(request: FastifyRequest): string {
  const tenant = headerOf(request, 'X-Project-ID') ?? DEFAULT_TENANT
  if (tenant !== '' && tenant.length <= MAX_TENANT_LENGTH) return tenant
  throw new InvalidArgumentError('X-Project-ID', `must be 1 to ${MAX_TENANT_LENGTH} characters long`)
}

/** The prefix of the library's names of a tenant. */
export function prefixOf(tenant: string): string {
  const plain = tenant.replace(/[%/]/g, encodeURIComponent)
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  if (Buffer.byteLength(plain) <= PLAIN_BYTES && !/[\u0000-\u001f\u007f]/.test(plain)) return `v1:${plain}/`
  return `v1#${createHash('sha256').update(tenant).digest('base64url')}/`
}
