// Changes of metadata: the part of JSON Patch that Zaqar accepts.

import type { Limits } from '../settings/limits.ts'
import { badRequest, conflict } from '../../http/answers/problems.ts'
import { isObject, parseJson } from '../requests/body.ts'
import { checkMetadata, type Metadata, parseNested, reservedKeys } from '../requests/metadata.ts'

export const PATCH_TYPE = 'application/openstack-messaging-v2.0-json-patch'

export interface MetadataChange {
  readonly op: 'add' | 'replace' | 'remove'
  readonly key: string
  readonly value: unknown
}

export function readPatch(text: string, limits: Limits): MetadataChange[] {
  const changes = parseNested(text, parseJson, limits)
  if (!Array.isArray(changes)) throw badRequest('The body must be a list of changes.')
  return changes.map(readChange)
}

/** The metadata after the changes. Throws a Problem if one of them is invalid. */
export function applyPatch(metadata: Metadata, changes: readonly MetadataChange[], limits: Limits): Metadata {
  const reserved = reservedKeys(limits)
  // A map, because a key may be `__proto__`.
  const changed = new Map(Object.entries(metadata))
  for (const { op, key, value } of changes) {
    if (op !== 'add' && !changed.has(key) && !Object.hasOwn(reserved, key)) {
      throw conflict(`Metadata has no key ${key} to ${op}.`)
    }
    if (op === 'remove') changed.delete(key)
    else changed.set(key, value)
  }
  return checkMetadata(Object.fromEntries(changed), limits)
}

function readChange(change: unknown): MetadataChange {
  if (!isObject(change)) throw badRequest('A change must be an object.')
  const { op, path, value } = change
  if (op !== 'add' && op !== 'replace' && op !== 'remove') {
    throw badRequest('op must be add, replace or remove.')
  }
  if (op !== 'remove' && !Object.hasOwn(change, 'value'))
    throw badRequest(`A change with op ${op} needs a value.`)
  return { op, key: readPath(path), value }
}

function readPath(path: unknown): string {
  const parts = typeof path === 'string' ? path.split('/') : []
  const [root, metadata, key] = parts
  if (parts.length !== 3 || root !== '' || metadata !== 'metadata' || key === undefined || key === '') {
    throw badRequest('path must be /metadata/ and one key.')
  }
  if (/~(?![01])/.test(key)) throw badRequest('path must write ~ as ~0 and / as ~1.')
  return key.replaceAll('~1', '/').replaceAll('~0', '~')
}
