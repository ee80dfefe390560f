// Headers that stand on a response before middleware adds its own: others have set them (CORS, cookies, request ids), and they stay.

import type { Answer, Headers } from './answer.ts'

/** Of each name, as the answer spells it, all values from now on; none: it goes. */
export type HeaderChanges = ReadonlyMap<string, readonly string[]>

/** What stands under a name, one value a line. */
type Standing = (name: string) => readonly string[]

// Each hop and each limit adds what it has to say.
const LISTS: ReadonlySet<string> = new Set(['cache-status', 'ratelimit', 'ratelimit-policy', 'vary'])

/** How headers go onto a response. Lists go on; another header is replaced by that of the same name. */
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

/** A header's value as Node has it, as its lines. */
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
