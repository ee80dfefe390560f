// The common exports of `perilune` and `perilune/collection`.

export {
  type AddedItems,
  Collection,
  type CollectionBounds,
  CollectionHash,
  type CollectionInspection,
  CollectionList,
  type CollectionOptions,
  type CollectionPage,
  type CollectionRead,
  type CollectionReadOptions,
  CollectionSet,
  CollectionSortedSet,
  type HashItem,
  type Kind as CollectionKind,
  type RemovedItems,
  type Replaced,
  type ReplaceOptions,
  type SortedSetItem,
  type UndecodableItem,
} from './collection.ts'
export type { CollectionOptionsOf, CollectionsByKind } from './open.ts'
