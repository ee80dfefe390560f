// Values of a request. They stay the text that was sent.

import { type FoundValue, InvalidArgumentError } from 'perilune'
import { findMember, findStart } from '../../json/slices.ts'

/** The text of the member `value` of a request; null if it is null. `text`: the request as it was sent. */
export function valueIn(text: string): string | null {
  const slice = findMember(text, findStart(text), 'value')
  if (slice === null) throw new InvalidArgumentError('value', 'is missing')
  const value = text.slice(slice.from, slice.to)
  return value === 'null' ? null : value
}

/** JSON of a cached value; the library may have cached that there is none. */
export function keptText({
  value,
  fresh,
  createdAtMs,
  freshUntilMs,
  staleUntilMs,
}: FoundValue<string | null>): string {
  const rest = JSON.stringify({ fresh, createdAtMs, freshUntilMs, staleUntilMs }).slice(1)
  return `{"value":${value ?? 'null'},${rest}`
}
