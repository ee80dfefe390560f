// The keys of one unit: `<namespace>:{<structure>:<name>}:<part>`, or `…:<name>:<unit>}…` when a name has several. All
// keys of a unit share the hash tag, so they live in one cluster slot; no two units share a key, whatever their names
// contain.

import { checkText } from './arguments.ts'
import { InvalidArgumentError } from '../errors/errors.ts'

const MAX_NAME_BYTES = 512

export function checkNamespace(namespace: unknown): string {
  if (typeof namespace !== 'string' || !/^[A-Za-z0-9_.-]{1,64}$/.test(namespace)) {
    throw new InvalidArgumentError('namespace', 'must be 1 to 64 of A-Z a-z 0-9 _ . -')
  }
  return namespace
}

export function checkName(argument: string, name: unknown): string {
  return checkText(argument, name, MAX_NAME_BYTES)
}

/** `shop:{feed:room%3A7}`, or `shop:{feed:room%3A7:12}`: the beginning of every key of the unit. */
export function unitPrefix(namespace: string, structure: string, name: string, unit?: string): string {
  const tag = unit === undefined ? encodeName(name) : `${encodeName(name)}:${encodeName(unit)}`
  return `${namespace}:{${structure}:${tag}}`
}

/** Like `unitPrefix`, for many units of one name. */
export function unitPrefixes(namespace: string, structure: string, name: string): (unit: string) => string {
  const beginning = `${namespace}:{${structure}:${encodeName(name)}:`
  return (unit) => `${beginning}${encodeName(unit)}}`
}

/** Escapes characters with a meaning in a key: braces, the colon, and the escape itself. */
export function encodeName(name: string): string {
  // Most names contain none of them, and a test costs a third of a replace.
  if (!/[%{}:]/.test(name)) return name
  return name.replace(/[%{}:]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
