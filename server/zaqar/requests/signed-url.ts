// Pre-signed URLs: a signature grants the permission of a project to use some paths until a time. A path allows itself
// and the items directly below it, never another name with the same beginning.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { notFound, type Problem } from '../../http/answers/problems.ts'

export interface Permission {
  readonly paths: readonly string[]
  readonly methods: readonly string[]
  readonly project: string
  /** UTC, to the second: `2030-01-31T12:00:00`. */
  readonly expires: string
}

export interface SignedUrl extends Permission {
  readonly signature: string
}

export class Signer {
  readonly #secret: string | Buffer

  /** Without a secret: a random one, which only this process has until it ends. */
  constructor(secret: string | null) {
    this.#secret = secret ?? randomBytes(32)
  }

  /** `expiresAtMs`: Unix milliseconds; a fraction of a second is truncated. */
  sign(permission: Omit<Permission, 'expires'>, expiresAtMs: number): SignedUrl {
    const signed = {
      paths: permission.paths.toSorted(),
      methods: permission.methods.toSorted(),
      project: permission.project,
      expires: new Date(expiresAtMs).toISOString().slice(0, 19),
    }
    return { ...signed, signature: this.#signatureOf(signed) }
  }

  /** Accepts requests without a signature, or with a valid one for their path. Throws a Problem. */
  check(headers: IncomingHttpHeaders, method: string, path: string): void {
    const signature = headers['url-signature']
    if (signature === undefined) return
    const permission = readPermission(headers)
    const allowed =
      permission !== null &&
      this.#isOurs(permission, String(signature)) &&
      permission.methods.includes(method) &&
      permission.paths.some((signed) => isWithin(path, signed)) &&
      expiryOf(permission.expires) > Date.now()
    if (!allowed) throw refused()
  }

  #isOurs(permission: Permission, signature: string): boolean {
    const expected = Buffer.from(this.#signatureOf(permission))
    const given = Buffer.from(signature)
    return given.length === expected.length && timingSafeEqual(given, expected)
  }

  // The parts are separated by a backslash and an n. Only a project may contain such a pair itself, and its neighbours
  // cannot: no two permissions have the same text.
  #signatureOf({ paths, methods, project, expires }: Permission): string {
    const parts = [paths.toSorted().join(','), methods.toSorted().join(','), project, expires]
    return createHmac('sha256', this.#secret).update(parts.join(String.raw`\n`)).digest('hex')
  }
}

const EXPIRES = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/
const PATHS = /^[\w/.,-]+$/
const METHODS = /^[A-Z,]+$/

/** Null for headers that no signed URL has. */
function readPermission(headers: IncomingHttpHeaders): Permission | null {
  const read = (name: string, form: RegExp): string | null => {
    const value = headers[name]
    return typeof value === 'string' && form.test(value) ? value : null
  }
  const paths = read('url-paths', PATHS)?.split(',')
  const methods = read('url-methods', METHODS)?.split(',')
  const expires = read('url-expires', EXPIRES)
  const project = read('x-project-id', /^/)
  if (paths === undefined || methods === undefined || expires === null || project === null) return null
  return { paths, methods, project, expires }
}

function expiryOf(expires: string): number {
  return Date.parse(`${expires}Z`)
}

function isWithin(path: string, signed: string): boolean {
  if (path === signed) return true
  const item = path.startsWith(`${signed}/`) ? path.slice(signed.length + 1) : ''
  return item !== '' && !item.includes('/')
}

/** Does not say what is wrong: a client without permission learns nothing. */
function refused(): Problem {
  return notFound('The signature of this URL does not allow this.')
}
