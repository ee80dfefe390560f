// What `lua/shared/autocomplete/hot` promises of the lists of hot prefixes, checked on what is stored.

import { expect } from 'vitest'
import { inOrder, type ModelEntry, suffixesOf } from './autocomplete-model.ts'

const MOST_COLD = 32
const LEAST_TOP = 100
const LEAST_HOT = 16
const LEAST_NEW = 24
const PLACE_BYTES = 16

/** `tops` as it is stored: prefixes and lists. `entries`: all that are stored, expired ones too. */
export function checkLists(
  tops: readonly (readonly [Buffer, Buffer])[],
  entries: readonly ModelEntry[],
): void {
  const matching = matchesByPrefix(entries)
  const lists = new Map(tops.map(([prefix, list]) => [String(prefix), list]))
  for (const [prefix, { words, matches }] of matching) {
    const list = lists.get(prefix)
    if (list === undefined) expect(words <= MOST_COLD || matches.length <= LEAST_NEW, prefix).toBe(true)
    else checkList(prefix, list, matches)
  }
  for (const prefix of lists.keys()) {
    expect(matching.has(prefix), `nothing begins with ${prefix}`).toBe(true)
    expect(prefix === '' || lists.has(prefix.slice(0, -1)), `what begins ${prefix} is hot`).toBe(true)
  }
}

function checkList(prefix: string, list: Buffer, matches: readonly ModelEntry[]): void {
  const size = (list.length - 1) / PLACE_BYTES
  const numbers = Array.from({ length: size }, (_, at) => list.readDoubleBE(1 + at * PLACE_BYTES + 8))
  const first = matches.toSorted(inOrder).slice(0, size)
  expect(numbers, `the list of ${prefix}`).toEqual(first.map(({ number }) => number))
  const isAll = String.fromCharCode(list[0] ?? 0) === 'a'
  if (isAll) expect(size, prefix).toBe(matches.length)
  expect(size, prefix).toBeGreaterThanOrEqual(isAll ? LEAST_HOT + 1 : LEAST_TOP)
}

interface Matches {
  words: number
  readonly matches: ModelEntry[]
}

function matchesByPrefix(entries: readonly ModelEntry[]): Map<string, Matches> {
  const found = new Map<string, Matches>()
  for (const entry of entries) {
    for (const suffix of new Set(suffixesOf(entry.text))) {
      for (let length = 0; length <= suffix.length; length++) note(found, suffix.slice(0, length), entry)
    }
  }
  return found
}

function note(found: Map<string, Matches>, prefix: string, entry: ModelEntry): void {
  const known = found.get(prefix) ?? { words: 0, matches: [] }
  known.words += 1
  if (known.matches.at(-1) !== entry) known.matches.push(entry)
  found.set(prefix, known)
}
