// What functions of users tell of a request. One that tells nothing is refused: requests of several users would be taken for one.

import { InvalidArgumentError } from '../../runtime/errors/errors.ts'

/** The text that an option's function returned. Throws InvalidArgumentError where it is none, or empty. */
export function toldText(option: string, told: unknown): string {
  if (typeof told === 'string' && told !== '') return told
  const what = told === '' ? 'an empty string' : typeof told === 'object' ? 'no string' : String(typeof told)
  throw new InvalidArgumentError(
    option,
    `must return a string of at least one character for each request, and returned ${what}`,
  )
}

/** The list of texts that an option's function returned. Throws InvalidArgumentError. */
export function toldTexts(option: string, told: unknown): readonly string[] {
  if (Array.isArray(told)) return told as readonly string[]
  throw new InvalidArgumentError(option, 'must return a list of strings for each request')
}
