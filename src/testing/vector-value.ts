// Values in the notation of vectors. Bytes that are valid UTF-8 are text, others { "base64": … }.

import { isUtf8 } from 'node:buffer'
import type { Reply } from '../driver.ts'

export type Value = string | number | boolean | null | Base64 | Value[]

interface Base64 {
  readonly base64: string
}

function isBase64(value: unknown): value is Base64 {
  return typeof value === 'object' && value !== null && 'base64' in value
}

/** An argument as it is sent. Throws for a value that is neither text, number nor bytes. */
export function toBytes(value: unknown): string | number | Buffer {
  if (typeof value === 'string' || typeof value === 'number') return value
  if (isBase64(value)) return Buffer.from(value.base64, 'base64')
  throw new Error(`not an argument: ${JSON.stringify(value)}`)
}

/** A part of a reply in the notation of vectors. */
export function toValue(part: Reply): Value {
  if (Buffer.isBuffer(part)) return isUtf8(part) ? part.toString('utf8') : { base64: part.toString('base64') }
  return Array.isArray(part) ? part.map(toValue) : part
}
