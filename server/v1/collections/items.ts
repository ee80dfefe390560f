// Items of a request. Values stay the text that was sent.

import { type CollectionKind, InvalidArgumentError } from 'perilune'
import { findElement, findElementsOf, findStart, type Slice } from '../../json/slices.ts'

/** The cost of parsing items depends on their number, and many small ones fit into few bytes. */
export const MOST_ITEMS = 100_000

/** `text`: the body of the request; `items`: its list of that name, parsed. */
export function itemsIn(kind: CollectionKind, text: string, items: readonly unknown[]): unknown[] {
  checkNumber(items)
  const slices = slicesIn(text)
  if (kind === 'list' || kind === 'set') return slices.map((item) => at(text, item))
  return slices.map(({ from }, nth) => {
    const [first, second] = pairOf(items[nth])
    return kind === 'hash'
      ? [first, at(text, findElement(text, from, 1))]
      : [at(text, findElement(text, from, 0)), second]
  })
}

function pairOf(item: unknown): readonly unknown[] {
  if (Array.isArray(item) && item.length === 2) return item
  throw new InvalidArgumentError('items', 'must be pairs')
}

/** The keys of items to remove: values, or the fields of a hash. */
export function keysIn(kind: CollectionKind, text: string, items: readonly unknown[]): readonly unknown[] {
  checkNumber(items)
  return kind === 'hash' ? items : slicesIn(text).map((item) => at(text, item))
}

function checkNumber({ length }: readonly unknown[]): void {
  if (length > MOST_ITEMS) throw new InvalidArgumentError('items', `must be at most ${MOST_ITEMS}`)
}

function slicesIn(text: string): Slice[] {
  return findElementsOf(text, findStart(text), 'items')
}

function at(text: string, { from, to }: Slice): string {
  return text.slice(from, to)
}

/** In the form of answers. */
export function encodeItems(kind: CollectionKind, items: readonly unknown[]): string {
  return `[${items.map((item) => encodeItem(kind, item)).join(',')}]`
}

function encodeItem(kind: CollectionKind, item: unknown): string {
  if (kind === 'list' || kind === 'set') return String(item)
  const [first, second] = item as readonly [unknown, unknown]
  return kind === 'hash'
    ? `[${JSON.stringify(first)},${String(second)}]`
    : `[${String(first)},${JSON.stringify(second)}]`
}
