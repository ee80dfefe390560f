// What was thrown, in words. Anything can be thrown: it may be no error, may throw when it is asked, and its name may be no text.
// What tells of a failure must not be another one.

import { inspect } from 'node:util'
import { isError } from './is-error.ts'

/** Said of what throws whatever is done with it. */
const UNTELLABLE = 'something that cannot be told'

/** The name of an error, in one line; empty: it is none, or has none. */
export function nameOf(thrown: unknown): string {
  const name = isError(thrown) ? read(thrown, 'name') : undefined
  return typeof name === 'string' ? inOneLine(name) : ''
}

/** Its message; of what is no error, or has none, all that can be told. Never empty. */
export function messageOf(thrown: unknown): string {
  const message = isError(thrown) ? read(thrown, 'message') : undefined
  return typeof message === 'string' && message !== '' ? message : told(thrown)
}

/** Its name and its message, as `String` has them. Never empty. */
export function summaryOf(thrown: unknown): string {
  const name = nameOf(thrown)
  if (name === '') return messageOf(thrown)
  const message = read(thrown as Error, 'message')
  return typeof message === 'string' && message !== '' ? `${name}: ${message}` : name
}

/** Where it was thrown, as far as it tells; else its name and its message. Never empty. */
export function stackOf(thrown: unknown): string {
  const stack = isError(thrown) ? read(thrown, 'stack') : undefined
  return typeof stack === 'string' && stack !== '' ? stack : summaryOf(thrown)
}

/** The beginning of a text, of so many bytes at most: whole characters, valid Unicode. */
export function cut(text: string, maxBytes: number): string {
  const whole = Buffer.from(text)
  if (whole.length <= maxBytes) return whole.toString('utf8')
  let end = maxBytes
  // The bytes of a character behind its first one.
  while (end > 0 && ((whole[end] as number) & 0xc0) === 0x80) end -= 1
  return whole.toString('utf8', 0, end)
}

function inOneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  return text.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim()
}

function read(thrown: Error, property: 'name' | 'message' | 'stack'): unknown {
  try {
    return thrown[property]
  } catch {
    return undefined
  }
}

function told(thrown: unknown): string {
  try {
    const text = typeof thrown === 'object' && thrown !== null ? inspect(thrown) : String(thrown)
    return text === '' ? "''" : text
  } catch {
    return UNTELLABLE
  }
}
