// A request without its documents, such as the bodies of messages. They are stored as the text that was sent, and
// JSON.parse of megabytes makes all other requests wait.

import { isKey, skipSpace, skipString, skipValue } from './slices.ts'

const [QUOTE, COLON] = [0x22, 0x3a]
/** Shorter documents stay. */
const SHORT = 64

/**
 * The text with `null` in the place of each longer value under one of these names, at any depth. The text must be valid
 * JSON. A name that is written with escapes may be missed.
 */
export function outlineOf(text: string, documents: readonly string[]): string {
  const pieces: string[] = []
  let [at, copied] = [0, 0]
  while (at < text.length) {
    const from = at
    at = text.charCodeAt(at) === QUOTE ? skipString(text, at) : at + 1
    if (at === from + 1) continue
    const colon = skipSpace(text, at)
    // Most texts are no names.
    if (text.charCodeAt(colon) !== COLON || !documents.some((name) => isKey(text, from, at, name))) continue
    const value = skipSpace(text, colon + 1)
    at = skipValue(text, value)
    if (at - value <= SHORT) continue
    pieces.push(text.slice(copied, value), 'null')
    copied = at
  }
  return pieces.join('') + text.slice(copied)
}
