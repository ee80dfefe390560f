// An index in plain memory: the expected answers of `lua/autocomplete`. Texts are of lower case letters and spaces.

import { fold, markWords } from '../../src/autocomplete/fold.ts'

const MOST_EDITED = 24

export interface ModelEntry {
  readonly id: string
  readonly text: string
  readonly score: number
  /** Never: Infinity. */
  readonly expiresAtMs: number
  readonly number: number
}

export class AutocompleteModel {
  nowMs: number
  readonly entries: Map<string, ModelEntry> = new Map()
  #last = 0

  constructor(nowMs: number) {
    this.nowMs = nowMs
  }

  /** True when it took the place of an entry. */
  add(id: string, text: string, score: number, expireMs: number): boolean {
    const known = this.entries.get(id)
    this.#last += known === undefined ? 1 : 0
    const expiresAtMs = expireMs === 0 ? Infinity : this.nowMs + expireMs
    this.entries.set(id, { id, text, score, expiresAtMs, number: known?.number ?? this.#last })
    return known !== undefined && this.#lives(known)
  }

  /** True when there was such an entry. */
  remove(id: string): boolean {
    const known = this.entries.get(id)
    this.entries.delete(id)
    return known !== undefined && this.#lives(known)
  }

  /** Removes expired entries that are no longer stored: an entry of that id is a new one then. */
  forgetExpired(stored: ReadonlySet<number>): void {
    for (const entry of this.entries.values()) {
      if (!stored.has(entry.number) && !this.#lives(entry)) this.entries.delete(entry.id)
    }
  }

  suggest(query: string, limit: number, fuzzy: boolean): readonly [id: string, edited: boolean][] {
    const exact = this.#ranked((suffix) => suffix.startsWith(query))
    const near = fuzzy && query.length >= 3 ? this.#ranked((suffix) => isNear(suffix, query)) : []
    const edited = near.filter((entry) => !exact.includes(entry))
    return [
      ...exact.map(({ id }): [string, boolean] => [id, false]),
      ...edited.map(({ id }): [string, boolean] => [id, true]),
    ].slice(0, limit)
  }

  #ranked(matches: (suffix: string) => boolean): ModelEntry[] {
    return [...this.entries.values()]
      .filter((entry) => this.#lives(entry) && suffixesOf(entry.text).some(matches))
      .toSorted(inOrder)
  }

  #lives({ expiresAtMs }: ModelEntry): boolean {
    return expiresAtMs > this.nowMs
  }
}

export function inOrder(one: ModelEntry, other: ModelEntry): number {
  return other.score - one.score || one.number - other.number
}

export function suffixesOf(text: string): string[] {
  const words = markWords(fold(text)).split('\u0001')
  return words.map((_, at) => words.slice(at).join(''))
}

/** Whether the text begins with the query but for one edit, which is sought in its first characters only. */
function isNear(text: string, query: string): boolean {
  const places = Math.min(query.length, MOST_EDITED)
  return Array.from({ length: places }, (_, at) => at).some(
    (at) => isOneTooMany(text, query, at) || (at < places - 1 && isEdited(text, query, at)),
  )
}

function isOneTooMany(text: string, query: string, at: number): boolean {
  return text.startsWith(query.slice(0, at) + query.slice(at + 1))
}

/** Another one there, one missing before it, or it and the next one swapped. */
function isEdited(text: string, query: string, at: number): boolean {
  const [one = '', other = ''] = query.slice(at, at + 2)
  const rest = text.slice(at + 1)
  return (
    text.startsWith(query.slice(0, at)) &&
    ((text.length > at && (rest.startsWith(query.slice(at + 1)) || rest.startsWith(query.slice(at)))) ||
      text.slice(at).startsWith(other + one + query.slice(at + 2)))
  )
}
