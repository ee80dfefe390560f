// Headers already set on a response before the middleware adds its own. Others have set them (CORS, cookies, request
// ids), and they stay.

import type { Answer, Headers } from './answer.ts'

/** The new values of each header, in the answer's spelling; an empty list removes the header. */
export type HeaderChanges = ReadonlyMap<string, readonly string[]>

/** The current values of a header, one per line. */
type Standing = (name: string) => readonly string[]

// Each hop and each limit appends its own value to these.
const LISTS: ReadonlySet<string> = new Set(['cache-status', 'ratelimit', 'ratelimit-policy', 'vary'])

/** How headers are added to a response. Lists are extended; any other header replaces that of the same name. */
export function changesFor(
  { headers, without = new Set() }: Partial<Pick<Answer, 'without'>> & { readonly headers: Headers },
  standing: Standing,
): HeaderChanges {
  const changes = new Map<string, readonly string[]>()
  const spelt = new Map<string, string>()
  for (const [given, value] of headers) {
    const key = given.toLowerCase()
    const name = spelt.get(key) ?? given
    spelt.set(key, name)
    changes.set(name, [...(changes.get(name) ?? []), value])
  }
  for (const [key, name] of spelt) {
    if (LISTS.has(key)) changes.set(name, [joined(key, standing(key), changes.get(name) ?? [])])
  }
  for (const key of without) {
    if (!spelt.has(key) && key !== 'vary' && standing(key).length > 0) changes.set(key, [])
  }
  return changes
}

/** The lines of a header value in Node's representation. */
export function linesOf(value: number | string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : [value].flat().map(String)
}

function joined(key: string, standing: readonly string[], added: readonly string[]): string {
  if (key !== 'vary') return [...standing, ...added].join(', ')
  const words = [...standing, ...added].flatMap((line) => line.split(',')).map((word) => word.trim())
  const isFirst = (word: string, at: number): boolean =>
    words.findIndex((other) => other.toLowerCase() === word.toLowerCase()) === at
  return words.filter(isFirst).join(', ')
}
