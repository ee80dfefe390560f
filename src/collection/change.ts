// Adds items to a collection, and removes items from it.

import { add, remove } from '../generated/collection.ts'
import { largestOf, toFewEntries, toFewKeys } from './entries.ts'
import type { CollectionSource } from './source.ts'

/**
 * The result of `append` or `add`. An absent collection stays absent: with these items alone it would look complete.
 */
export type AddedItems =
  | {
      readonly status: 'added'
      /** The number of items in the collection now. */
      readonly size: number
      /** The number of items that were new. */
      readonly added: number
      /** The number of items removed because of `limit`. */
      readonly removed: number
    }
  | { readonly status: 'absent' }

/** The result of `remove`. */
export type RemovedItems =
  | { readonly status: 'removed'; readonly size: number; readonly removed: number }
  | { readonly status: 'absent' }

export async function addItems<Item, Key>(
  source: CollectionSource<Item, Key>,
  items: Iterable<Item>,
): Promise<AddedItems> {
  const { unit, form, limit } = source
  const entries = toFewEntries(source, items)
  const args = {
    kind: form.kind,
    codec: form.codec,
    limit,
    largest: largestOf(entries),
    parts: entries.parts,
  }
  return unit.runOnce(add, (id) => ({ ...id, ...args }))
}

export async function removeItems<Item, Key>(
  source: CollectionSource<Item, Key>,
  keys: Iterable<Key>,
): Promise<RemovedItems> {
  const { unit, form } = source
  const parts = toFewKeys(source, keys)
  return unit.runOnce(remove, (id) => ({ ...id, kind: form.kind, codec: form.codec, parts }))
}
