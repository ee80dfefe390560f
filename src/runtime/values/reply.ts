// Reads the parts of an answer. A script's answer has the shape that its head declares, so any other shape is a fault
// of the server or of a proxy in between, and deserves a clear error.

import type { Reply } from '../../driver.ts'

export function integer(part: Reply | undefined): number {
  if (typeof part === 'number') return part
  return unexpected('an integer', part)
}

/** Fractions and numbers above 2^53 are sent as text. */
export function number(part: Reply | undefined): number {
  return Number(text(part))
}

export function bigint(part: Reply | undefined): bigint {
  return BigInt(text(part))
}

export function text(part: Reply | undefined): string {
  if (typeof part === 'string') return part
  if (Buffer.isBuffer(part)) return part.toString('utf8')
  return unexpected('text', part)
}

export function bytes(part: Reply | undefined): Buffer {
  if (Buffer.isBuffer(part)) return part
  if (typeof part === 'string') return Buffer.from(part)
  return unexpected('bytes', part)
}

export function flag(part: Reply | undefined): boolean {
  return integer(part) === 1
}

export function list(part: Reply | undefined): Reply[] {
  if (Array.isArray(part)) return part
  return unexpected('a list', part)
}

export function unexpected(wanted: string, part: Reply | undefined): never {
  throw new TypeError(`the server answered ${describe(part)} where ${wanted} was expected`)
}

function describe(part: Reply | undefined): string {
  if (Array.isArray(part)) return 'a list'
  if (part === null || part === undefined) return 'nothing'
  return typeof part === 'number' ? `the number ${part}` : `text of ${part.length} characters`
}
