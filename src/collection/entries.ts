// Items as calls take them: encoded and checked before the first is sent, each once where no two are alike. Their parts
// stand in one flat list, for a list of ten thousand is replaced in a few milliseconds, and as many objects take one.

import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import type { ItemPart } from './forms.ts'
import { ONE_CALL, type CollectionSource } from './source.ts'

export interface Entries {
  /** Parts of an item. */
  readonly width: number
  readonly parts: ItemPart[]
  /** Bytes of each item. */
  readonly sizes: number[]
}

/** Throws InvalidArgumentError. */
export function toEntries<Item, Key>({ form }: CollectionSource<Item, Key>, items: Iterable<Item>): Entries {
  const entries: Entries = { width: form.width, parts: [], sizes: [] }
  for (const item of checkIterable(items)) entries.sizes.push(form.encode(item, entries.parts))
  if (form.identity !== null) dropDoubles(entries, form.identity)
  return entries
}

/** As `toEntries`, for a call that takes a bounded number. */
export function toFewEntries<Item, Key>(source: CollectionSource<Item, Key>, items: Iterable<Item>): Entries {
  const entries = toEntries(source, items)
  checkOneCall(entries)
  return entries
}

/** What items are removed by, as many as one call takes. Throws InvalidArgumentError. */
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

/** Of items that share a part, the last one stays, in the place of the first. */
function dropDoubles({ width, parts, sizes }: Entries, identity: number): void {
  const keys = sizes.map((_, at) => identityOf(parts[at * width + identity] ?? ''))
  // As most are: to see that takes half as long as to find their places.
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

/** By what is stored: of half a surrogate pair U+FFFD; and bytes may be those of a text, other bytes begin as no text does but a very odd one. */
function identityOf(part: ItemPart): string {
  if (typeof part === 'string') return part.toWellFormed()
  const bytes = Buffer.from(part)
  const text = bytes.toString()
  return Buffer.from(text).equals(bytes) ? text : `\0${bytes.toString('latin1')}`
}

/** What the limit leaves: the last of a list, of a sorted set those with the greatest scores. */
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

/** As many items a group as fit into these bounds, in order; one that is larger alone. */
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
    throw new InvalidArgumentError('items', 'must be a list, or something else to iterate over')
  }
  return items
}
