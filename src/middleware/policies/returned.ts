// Checks what option functions return for a request. An empty result is rejected: requests of several users would be
// taken for one.

import { InvalidArgumentError } from '../../runtime/errors/errors.ts'

/** The string that an option function returned. Throws InvalidArgumentError when it is no string, or empty. */
export function returnedText(option: string, returned: unknown): string {
  if (typeof returned === 'string' && returned !== '') return returned
  const kind = typeof returned === 'object' ? 'no string' : typeof returned
  const what = returned === '' ? 'an empty string' : kind
  throw new InvalidArgumentError(
    option,
    `must return a string of at least one character for each request, but returned ${what}`,
  )
}

/** The list of strings that an option function returned. Throws InvalidArgumentError. */
export function returnedTexts(option: string, returned: unknown): readonly string[] {
  if (Array.isArray(returned)) return returned as readonly string[]
  throw new InvalidArgumentError(option, 'must return a list of strings for each request')
}
