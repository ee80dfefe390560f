// Adding to and removing from what is there.

import { add, remove } from '../generated/collection.ts'
import { largestOf, toFewEntries, toFewKeys } from './entries.ts'
import type { CollectionSource } from './source.ts'

/** What became of an `append` or an `add`. An absent collection stays so: with these items alone it would seem whole. */
export type AddedItems =
  | {
      readonly status: 'added'
      /** How many items there are now. */
      readonly size: number
      /** How many of them were not there. */
      readonly added: number
      /** How many the `limit` has removed. */
      readonly removed: number
    }
  | { readonly status: 'absent' }

/** What became of a `remove`. */
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
