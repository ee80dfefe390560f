// Items as a request has them. Values stay the text that was sent.

import { type CollectionKind, InvalidArgumentError } from 'perilune'
import { findElements, findElementsOf, findStart, type Slice } from '../../zaqar/json-slices.ts'

/** `text`: the body of the request, which has a list `items`. */
export function itemsIn(kind: CollectionKind, text: string): unknown[] {
  const items = slicesIn(text)
  if (kind === 'hash')
    return pairsIn(text, items).map(([field, value]) => [parsed(text, field), at(text, value)])
  if (kind === 'sortedSet') {
    return pairsIn(text, items).map(([value, score]) => [at(text, value), parsed(text, score)])
  }
  return items.map((item) => at(text, item))
}

/** What items are removed by: values, or the fields of a hash. */
export function keysIn(kind: CollectionKind, text: string): unknown[] {
  return slicesIn(text).map((item) => (kind === 'hash' ? parsed(text, item) : at(text, item)))
}

function slicesIn(text: string): Slice[] {
  return findElementsOf(text, findStart(text), 'items')
}

function pairsIn(text: string, items: readonly Slice[]): [Slice, Slice][] {
  return items.map(({ from }) => {
    const [first, second, ...others] = text[from] === '[' ? findElements(text, from) : []
    if (first === undefined || second === undefined || others.length > 0) {
      throw new InvalidArgumentError('items', 'must be pairs')
    }
    return [first, second]
  })
}

function at(text: string, { from, to }: Slice): string {
  return text.slice(from, to)
}

function parsed(text: string, slice: Slice): unknown {
  return JSON.parse(at(text, slice))
}

/** As an answer shows them. */
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
