// Query strings as Zaqar reads them. A literal comma separates the parts of a list, an encoded one does not. The last
// of several values is used, and an empty one is ignored. Unknown parameters are ignored. The native API rejects
// unknown and repeated parameters, and sees the empty ones as well.

import type { FastifyRequest } from 'fastify'
import { InvalidArgumentError } from 'perilune'
import { badRequest } from '../answers/problems.ts'

/** The values of each parameter as they were written, still encoded. */
export type Query = Readonly<Record<string, readonly string[]>>

export function parseQuery(text: string): Record<string, string[]> {
  const query: Record<string, string[]> = Object.create(null)
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const [name, value] = equals === -1 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)]
    ;(query[decode(name)] ??= []).push(value)
  }
  return query
}

export function queryOf(request: FastifyRequest): Query {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Fastify calls parseQuery
  return request.query as Query
}

/**
 * For a route that checks its query itself: the values as they were written. Only the first question mark ends the
 * path.
 */
export function writtenQueryOf({ raw }: Pick<FastifyRequest, 'raw'>): Query {
  const { url = '' } = raw
  const mark = url.indexOf('?')
  return parseQuery(mark === -1 ? '' : url.slice(mark + 1))
}

/** Undefined if it is missing or empty. */
export function textOf(query: Query, name: string): string | undefined {
  const value = valuesOf(query, name)?.at(-1)
  return value === undefined ? undefined : decode(value)
}

/** Undefined if it is missing or empty. */
export function listOf(query: Query, name: string): string[] | undefined {
  const parts = valuesOf(query, name)
    ?.flatMap((value) => value.split(','))
    .filter((part) => part !== '')
  return parts?.map(decode)
}

/** Like `listOf`, for the native API: an empty part, or an invalid escape, is an error. */
export function exactListOf(query: Query, name: string): string[] {
  const written = valuesOf(query, name) ?? []
  return written
    .flatMap((value) => value.split(','))
    .map((part) => {
      if (part === '') throw new InvalidArgumentError(name, 'must not have an empty part between commas')
      try {
        return decodeURIComponent(part.replaceAll('+', ' '))
      } catch {
        throw new InvalidArgumentError(name, `must be encoded as UTF-8, and ${part} is not`)
      }
    })
}

/** Without the empty values; undefined if there are none. */
function valuesOf(query: Query, name: string): readonly string[] | undefined {
  const values = query[name]?.filter((value) => value !== '') ?? []
  return values.length === 0 ? undefined : values
}

/** A whole number from 1 to `max`. */
export function countOf(query: Query, name: string, max: number): number | undefined {
  const text = textOf(query, name)
  if (text === undefined) return undefined
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (count < 1 || count > max) throw badRequest(`${name} must be a whole number from 1 to ${max}.`)
  return count
}

const WORDS = new Map([
  ...['true', 'True', 't', 'yes', 'y', '1', 'on'].map((word) => [word, true] as const),
  ...['false', 'False', 'f', 'no', 'n', '0', 'off'].map((word) => [word, false] as const),
])

export function flagOf(query: Query, name: string): boolean {
  const text = textOf(query, name)
  if (text === undefined) return false
  const flag = WORDS.get(text)
  if (flag === undefined) throw badRequest(`${name} must be true or false.`)
  return flag
}

/** The query of a link to the next page: the given parameters that apply there, and the marker. */
export function nextQuery(query: Query, names: readonly string[], marker: string): string {
  const next = new URLSearchParams()
  for (const name of names) {
    const text = textOf(query, name)
    if (text !== undefined) next.set(name, text)
  }
  next.set('marker', marker)
  return next.toString()
}

/** An invalid escape is kept unchanged. */
function decode(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    return spaced
  }
}
