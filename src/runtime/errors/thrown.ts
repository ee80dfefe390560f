// Text for a thrown value. A program can throw anything: a value that is no Error, one whose getters throw, or an error
// whose name is no string. Describing a failure must not throw itself.

import { inspect } from 'node:util'
import { isError } from './is-error.ts'

/** For a value that throws on every access. */
const INDESCRIBABLE = 'a value that cannot be described'

/** The name of an error on one line; empty when the value is no error or has no name. */
export function nameOf(thrown: unknown): string {
  const name = isError(thrown) ? read(thrown, 'name') : undefined
  return typeof name === 'string' ? inOneLine(name) : ''
}

/** The message of an error. For any other value, or an empty message, a description of the value. Never empty. */
export function messageOf(thrown: unknown): string {
  const message = isError(thrown) ? read(thrown, 'message') : undefined
  return typeof message === 'string' && message !== '' ? message : described(thrown)
}

/** Name and message, as `String(error)` gives them. Never empty. */
export function summaryOf(thrown: unknown): string {
  const name = nameOf(thrown)
  if (name === '') return messageOf(thrown)
  const message = read(thrown as Error, 'message')
  return typeof message === 'string' && message !== '' ? `${name}: ${message}` : name
}

/** The stack when there is one; else name and message. Never empty. */
export function stackOf(thrown: unknown): string {
  const stack = isError(thrown) ? read(thrown, 'stack') : undefined
  return typeof stack === 'string' && stack !== '' ? stack : summaryOf(thrown)
}

/** The beginning of a text, at most `maxBytes` long: whole characters, valid Unicode. */
export function cut(text: string, maxBytes: number): string {
  const whole = Buffer.from(text)
  if (whole.length <= maxBytes) return whole.toString('utf8')
  let end = maxBytes
  // Skip back over the continuation bytes of a character.
  while (end > 0 && ((whole[end] as number) & 0xc0) === 0x80) end -= 1
  return whole.toString('utf8', 0, end)
}

function inOneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- the pattern must match control characters
  return text.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim()
}

function read(thrown: Error, property: 'name' | 'message' | 'stack'): unknown {
  try {
    return thrown[property]
  } catch {
    return undefined
  }
}

function described(thrown: unknown): string {
  try {
    const text = typeof thrown === 'object' && thrown !== null ? inspect(thrown) : String(thrown)
    return text === '' ? "''" : text
  } catch {
    return INDESCRIBABLE
  }
}
