// Which feed, lock or other structure a request means. `v1:<tenant>/<name>`: no queue of /v2 has such a
// name, and no two tenants share one, for in a tenant's part a slash is written as %2F.

import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { InvalidArgumentError } from 'perilune'
import { headerOf } from './headers.ts'

const MAX_NAME_BYTES = 512
const MAX_TENANT_LENGTH = 256
// Longer tenants go by their hash, so that there is room for names.
const PLAIN_BYTES = 128

export const DEFAULT_TENANT = 'default'

/** The library's name of what a tenant calls so. Throws InvalidArgumentError for a name or tenant that cannot be. */
export function nameOf(request: FastifyRequest, name: string, argument = 'name'): string {
  return namedBy(tenantOf(request), name, argument)
}

/** As `nameOf`, of a tenant of 1 to 256 characters. */
export function namedBy(tenant: string, name: string, argument = 'name'): string {
  const prefix = prefixOf(tenant)
  const left = MAX_NAME_BYTES - Buffer.byteLength(prefix)
  if (name === '') throw new InvalidArgumentError(argument, 'must not be empty')
  if (Buffer.byteLength(name) > left) {
    throw new InvalidArgumentError(argument, `must be at most ${left} bytes of UTF-8`)
  }
  return prefix + name
}

/** What the tenant calls a structure of its own. One that is no tenant's keeps the library's name. */
export function calledBy(request: FastifyRequest, name: string): string {
  const prefix = prefixOf(tenantOf(request))
  return name.startsWith(prefix) ? name.slice(prefix.length) : name
}

/** Throws InvalidArgumentError for a tenant that cannot be. */
export function tenantOf(request: FastifyRequest): string {
  const tenant = headerOf(request, 'X-Project-ID') ?? DEFAULT_TENANT
  if (tenant !== '' && tenant.length <= MAX_TENANT_LENGTH) return tenant
  throw new InvalidArgumentError('X-Project-ID', `must be 1 to ${MAX_TENANT_LENGTH} characters long`)
}

/** What begins the library's names of a tenant. */
export function prefixOf(tenant: string): string {
  const plain = tenant.replace(/[%/]/g, encodeURIComponent)
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  if (Buffer.byteLength(plain) <= PLAIN_BYTES && !/[\u0000-\u001f\u007f]/.test(plain)) return `v1:${plain}/`
  return `v1#${createHash('sha256').update(tenant).digest('base64url')}/`
}
