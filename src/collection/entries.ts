// Items as calls take them: encoded and checked before the first is sent, each once where no two are alike.

import { InvalidArgumentError } from '../runtime/errors.ts'
import type { Entry } from './forms.ts'
import { MAX_CALL_BYTES, MAX_ITEMS, type Source } from './source.ts'

/** Throws InvalidArgumentError. */
export function toEntries<Item, Key>({ form }: Source<Item, Key>, items: Iterable<Item>): Entry[] {
  const entries = Array.from(checkIterable(items), (item) => form.encode(item))
  const { identityOf } = form
  if (identityOf === null) return entries
  return [...new Map(entries.map((entry) => [identityOf(entry), entry])).values()]
}

/** As `toEntries`, for a call that takes a bounded number. */
export function toFewEntries<Item, Key>(source: Source<Item, Key>, items: Iterable<Item>): Entry[] {
  const entries = toEntries(source, items)
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
  if (entries.length > MAX_ITEMS || bytes > MAX_CALL_BYTES) {
    throw new InvalidArgumentError(
      'items',
      `must be at most ${MAX_ITEMS} and ${MAX_CALL_BYTES} bytes a call when encoded`,
    )
  }
  return entries
}

/** What the limit leaves: the last of a list, of a sorted set those with the greatest scores. */
export function withinLimit<Item, Key>({ form, limit }: Source<Item, Key>, entries: Entry[]): Entry[] {
  if (limit === 0 || entries.length <= limit) return entries
  if (form.kind === 'list') return entries.slice(-limit)
  return entries.toSorted((a, b) => Number(b.parts[0]) - Number(a.parts[0])).slice(0, limit)
}

export function partsOf(entries: readonly Entry[]): (string | Uint8Array)[] {
  // A list of ten thousand is replaced in a few milliseconds: `flatMap` alone would take one of them.
  const all: (string | Uint8Array)[] = []
  for (const { parts } of entries) for (const part of parts) all.push(part)
  return all
}

export function largestOf(entries: readonly Entry[]): number {
  return entries.reduce((largest, { bytes }) => Math.max(largest, bytes), 0)
}

export function checkIterable<Item>(items: Iterable<Item>): Iterable<Item> {
  if (typeof items !== 'object' || items === null || !(Symbol.iterator in items)) {
    throw new InvalidArgumentError('items', 'must be a list, or something else to iterate over')
  }
  return items
}
