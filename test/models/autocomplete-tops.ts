// The promises of `lua/shared/autocomplete/hot` and `top` about forks and tops, checked on the stored data.

import { expect } from 'vitest'
import { inOrder, type ModelEntry, suffixesOf } from './autocomplete-model.ts'

const MOST_COLD = 32
const LEAST_TOP = 100
const LEAST_HOT = 16
const LEAST_NEW = 24
const MOST_LEAF = 18
const LEAST_LEAF = 8
const FRONT_PLACES = 10
const PLACE_BYTES = 16
const HEAD_BYTES = 17

export type Hash = ReadonlyMap<string, Buffer>

export interface Top {
  /** The place that all of its places are before: rank and number. Infinite where it has all. */
  readonly limit: readonly [rank: number, number: number]
  readonly hasFront: boolean
  readonly prefixes: ReadonlyMap<string, number>
  /** Numbers of entries. */
  readonly places: readonly number[]
}

/** Members of `forks`, in their order: prefixes, each byte a character, and numbers of tops. */
export type Forks = readonly (readonly [prefix: string, top: string])[]

export function readForks(members: readonly Buffer[]): Forks {
  return members.map((member) => {
    const cut = member.indexOf(0)
    return [member.toString('latin1', 0, cut), member.toString('latin1', cut + 1)]
  })
}

/** Takes the fields of `tops` apart; each of them must belong to one. */
export function readTops(tops: Hash): Map<string, Top> {
  const left = new Set(tops.keys())
  const take = (field: string): Buffer => {
    left.delete(field)
    return tops.get(field) ?? expect.fail(`${field} is not there`)
  }
  const found = new Map<string, Top>()
  for (const id of tops.keys()) if (!id.includes(':')) found.set(id, readTop(id, take))
  expect([...left], 'leaves of no top').toEqual([])
  return found
}

function readTop(id: string, take: (field: string) => Buffer): Top {
  const [head, rest] = [take(id), take(`${id}:`)]
  const letters = head.toString('latin1', HEAD_BYTES).split('')
  expect(letters[0]).toBe('A')
  const leaves = letters.map((letter, at) => {
    const leaf = take(`${id}:${letter}`)
    checkLeaf(`${id}:${letter}`, leaf, rest.subarray(at * PLACE_BYTES, (at + 1) * PLACE_BYTES))
    const least = at === 0 ? FRONT_PLACES : LEAST_LEAF
    expect(leaf.length, `${id}:${letter}`).toBeGreaterThanOrEqual(least * PLACE_BYTES)
    return leaf
  })
  const places = Buffer.concat(leaves)
  return {
    limit: [head.readDoubleBE(0), head.readDoubleBE(8)],
    hasFront: head.readUInt8(16) === 1,
    prefixes: readPrefixes(rest, leaves.length * PLACE_BYTES),
    places: Array.from({ length: places.length / PLACE_BYTES }, (_, at) =>
      places.readDoubleBE(at * PLACE_BYTES + 8),
    ),
  }
}

function checkLeaf(field: string, places: Buffer, least: Buffer): void {
  expect(places.length, field).toBeLessThanOrEqual(MOST_LEAF * PLACE_BYTES)
  expect(Buffer.compare(least, places.subarray(0, PLACE_BYTES)), field).toBeLessThanOrEqual(0)
}

function readPrefixes(head: Buffer, from: number): Map<string, number> {
  const prefixes = new Map<string, number>()
  for (let at = from; at < head.length; ) {
    const to = at + 2 + head.readUInt8(at + 1)
    prefixes.set(head.toString('latin1', at + 2, to), head.readUInt8(at))
    at = to
  }
  return prefixes
}

/** `entries`: all that are stored, expired ones too. */
export function checkTops(
  forks: Forks,
  tops: ReadonlyMap<string, Top>,
  entries: readonly ModelEntry[],
): void {
  const matching = matchesByPrefix(entries)
  for (const [prefix, top] of forks) expect(tops.get(top)?.prefixes.has(prefix), prefix).toBe(true)
  const named = [...tops.values()].reduce((sum, { prefixes }) => sum + prefixes.size, 0)
  expect(named, 'forks that tops name').toBe(forks.length)
  const parting = new Set(forks.map(([prefix]) => prefix))
  for (const [prefix, { words, matches }] of matching) {
    const beginning = prefix.slice(0, -1)
    const shorter = prefix === '' ? undefined : matching.get(beginning)
    if (shorter?.words === words && parting.has(beginning)) expect.fail(`no words part at ${beginning}`)
    const fork = forks.find(([each]) => each.startsWith(prefix))
    if (fork === undefined) {
      expect(words <= MOST_COLD || matches.length <= LEAST_NEW, prefix).toBe(true)
      continue
    }
    const [behind, id] = fork
    expect(matching.get(behind)?.words, `words of ${prefix} and of ${behind}`).toBe(words)
    const top = tops.get(id) as Top
    expect(top.prefixes.get(behind), `the least of ${behind}`).toBeLessThanOrEqual(prefix.length)
    if (prefix === behind) checkTop(prefix, top, matches)
    if (prefix !== '' && shorter?.words !== words) {
      expect(top.prefixes.get(behind), `the least of ${behind}`).toBe(prefix.length)
    }
  }
}

function checkTop(
  prefix: string,
  { limit: [rank, number], places }: Top,
  matches: readonly ModelEntry[],
): void {
  const first = matches.toSorted(inOrder).filter((entry) => isBefore(entry, rank, number))
  expect(places, `the top of ${prefix}`).toEqual(first.map((entry) => entry.number))
  const isWhole = rank === Infinity
  expect(places.length, prefix).toBeGreaterThanOrEqual(isWhole ? LEAST_HOT + 1 : LEAST_TOP)
}

function isBefore(entry: ModelEntry, rank: number, number: number): boolean {
  const own = 2 ** 52 - entry.score
  return own < rank || (own === rank && entry.number < number)
}

interface Matches {
  words: number
  readonly matches: ModelEntry[]
}

function matchesByPrefix(entries: readonly ModelEntry[]): Map<string, Matches> {
  const found = new Map<string, Matches>()
  for (const entry of entries) {
    for (const suffix of new Set(suffixesOf(entry.text).map(toPrefix))) {
      for (let length = 0; length <= suffix.length; length++) note(found, suffix.slice(0, length), entry)
    }
  }
  return found
}

/** The compared part of a suffix, each byte a character. */
function toPrefix(suffix: string): string {
  return Buffer.from(suffix).toString('latin1', 0, 64)
}

function note(found: Map<string, Matches>, prefix: string, entry: ModelEntry): void {
  const known = found.get(prefix) ?? { words: 0, matches: [] }
  known.words += 1
  if (known.matches.at(-1) !== entry) known.matches.push(entry)
  found.set(prefix, known)
}
