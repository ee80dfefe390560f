// Items in the form that calls take: encoded and checked before the first call, and deduplicated where the kind
// requires it. Their parts are in one flat list: replacing ten thousand items takes a few milliseconds, and
// allocating as many objects would take one of them.

import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import type { ItemPart } from './forms.ts'
import { ONE_CALL, type CollectionSource } from './source.ts'

export interface Entries {
  /** The number of parts of an item. */
  readonly width: number
  readonly parts: ItemPart[]
  /** The size of each item in bytes. */
  readonly sizes: number[]
}

/** Throws InvalidArgumentError. */
export function toEntries<Item, Key>({ form }: CollectionSource<Item, Key>, items: Iterable<Item>): Entries {
  const entries: Entries = { width: form.width, parts: [], sizes: [] }
  for (const item of checkIterable(items)) entries.sizes.push(form.encode(item, entries.parts))
  if (form.identity !== null) dropDoubles(entries, form.identity)
  return entries
}

/** Like `toEntries`, for a call with a bounded number of items. */
export function toFewEntries<Item, Key>(source: CollectionSource<Item, Key>, items: Iterable<Item>): Entries {
  const entries = toEntries(source, items)
  checkOneCall(entries)
  return entries
}

/** The keys by which items are removed, at most as many as one call takes. Throws InvalidArgumentError. */
export function toFewKeys<Item, Key>({ form }: CollectionSource<Item, Key>, keys: Iterable<Key>): ItemPart[] {
  const parts = Array.from(checkIterable(keys), (key) => form.encodeKey(key))
  checkOneCall({ sizes: parts.map((part) => Buffer.byteLength(part)) })
  return parts
}

function checkOneCall(entries: Pick<Entries, 'sizes'>): void {
  if (fitOneCall(entries)) return
  throw new InvalidArgumentError(
    'items',
    `must be at most ${ONE_CALL.items} and ${ONE_CALL.bytes} bytes a call when encoded`,
  )
}

export function fitOneCall({ sizes }: Pick<Entries, 'sizes'>): boolean {
  return sizes.length <= ONE_CALL.items && sizes.reduce((sum, size) => sum + size, 0) <= ONE_CALL.bytes
}

/** Of items with the same identity the last one is kept, at the place of the first. */
function dropDoubles({ width, parts, sizes }: Entries, identity: number): void {
  const keys = sizes.map((_, at) => identityOf(parts[at * width + identity] ?? ''))
  // The usual case: this check takes half as long as finding their places.
  if (new Set(keys).size === keys.length) return
  const places = new Map<string, number>()
  for (const [at, key] of keys.entries()) {
    const place = places.get(key) ?? places.size
    places.set(key, place)
    if (place === at) continue
    parts.copyWithin(place * width, at * width, (at + 1) * width)
    sizes[place] = sizes[at] ?? 0
  }
  sizes.length = places.size
  parts.length = places.size * width
}

/**
 * The identity as stored: a lone surrogate becomes U+FFFD, and bytes that are valid UTF-8 equal their text. Other
 * bytes get a lone surrogate as prefix, which none of these has.
 */
function identityOf(part: ItemPart): string {
  if (typeof part === 'string') return part.toWellFormed()
  const bytes = Buffer.from(part)
  const text = bytes.toString()
  return Buffer.from(text).equals(bytes) ? text : `\ud800${bytes.toString('latin1')}`
}

/** The items within the limit: the last of a list, or those of a sorted set with the greatest scores. */
export function withinLimit<Item, Key>(
  { form, limit }: CollectionSource<Item, Key>,
  entries: Entries,
): Entries {
  const size = entries.sizes.length
  if (limit === 0 || size <= limit) return entries
  return form.kind === 'list' ? slice(entries, size - limit, size) : greatest(entries, limit)
}

function greatest({ width, parts, sizes }: Entries, count: number): Entries {
  const scoreAt = (at: number): number => Number(parts[at * width])
  const places = [...sizes.keys()].toSorted((a, b) => scoreAt(b) - scoreAt(a)).slice(0, count)
  return {
    width,
    parts: places.flatMap((at) => parts.slice(at * width, (at + 1) * width)),
    sizes: places.map((at) => sizes[at] ?? 0),
  }
}

export function slice({ width, parts, sizes }: Entries, from: number, to: number): Entries {
  return { width, parts: parts.slice(from * width, to * width), sizes: sizes.slice(from, to) }
}

/** Groups of consecutive items within these bounds; a larger item has a group of its own. */
export function inGroups(entries: Entries, most: typeof ONE_CALL): Entries[] {
  const groups: Entries[] = []
  let [from, bytes] = [0, 0]
  for (const [at, size] of entries.sizes.entries()) {
    bytes += size
    if (at > from && (at - from === most.items || bytes > most.bytes)) {
      groups.push(slice(entries, from, at))
      ;[from, bytes] = [at, size]
    }
  }
  if (from < entries.sizes.length) groups.push(slice(entries, from, entries.sizes.length))
  return groups
}

export function largestOf({ sizes }: Entries): number {
  return sizes.reduce((largest, size) => Math.max(largest, size), 0)
}

export function checkIterable<Item>(items: Iterable<Item>): Iterable<Item> {
  if (typeof items !== 'object' || items === null || !(Symbol.iterator in items)) {
    throw new InvalidArgumentError('items', 'must be a list or another iterable')
  }
  return items
}
