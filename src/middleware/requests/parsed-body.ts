// A parsed body as text again: equal bytes parse to equal values, which give equal text.

import { isUint8Array } from 'node:util/types'

/**
 * Throws TypeError when JSON could give the same text for different bodies: a stream, a Map or an ArrayBuffer becomes
 * `{}`, or only its own fields.
 */
export function textOfParsed(body: unknown): string {
  let text: string
  try {
    text = JSON.stringify(body)
  } catch (error) {
    throw new TypeError(NOT_JSON, { cause: error })
  }
  const look = { hasOddNumbers: false }
  if (!isCompleteInJson(body, look)) throw new TypeError(NOT_JSON)
  return look.hasOddNumbers ? JSON.stringify(body, withOddNumbers) : text
}

/** `1e999` and `-0` are JSON, but JSON.stringify writes `null` and `0`. */
function isOdd(value: unknown): value is number {
  return typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0))
}

function withOddNumbers(_: string, value: unknown): unknown {
  return isOdd(value) ? `\0${Object.is(value, -0) ? '-0' : value}` : value
}

const NOT_JSON =
  'idempotency: JSON cannot represent the whole body of this request (such as a stream or a Map); give `fingerprint`'

/**
 * Whether JSON represents the whole value, but for odd numbers, which it notes. It has no cycles: JSON.stringify has
 * rejected those.
 */
function isCompleteInJson(body: unknown, look: { hasOddNumbers: boolean }): boolean {
  const left = [body]
  while (left.length > 0) {
    const value = left.pop()
    if (isOdd(value)) look.hasOddNumbers = true
    if (typeof value !== 'object' || value === null || hasJsonForm(value)) continue
    if (!Array.isArray(value) && !isPlain(value)) return false
    for (const part of Object.values(value)) left.push(part)
  }
  return true
}

/** Whether the value defines its own JSON form, as dates and Node's buffers do. */
function hasJsonForm(value: object): boolean {
  return typeof (value as { toJSON?: unknown }).toJSON === 'function' || isUint8Array(value)
}

/** Whether the value is a plain object, of any realm. */
function isPlain(value: object): boolean {
  const kind: unknown = Object.getPrototypeOf(value)
  return kind === null || Object.getPrototypeOf(kind) === null
}
