// The exports of `perilune/collection`.

import * as operations from '../generated/collection.ts'
import { type HasRuntime, runtimeOf } from '../runtime/connection/access.ts'
import { scriptsOf, type StructureScripts } from '../runtime/connection/connection.ts'
import type { CollectionHash, CollectionList, CollectionSet, CollectionSortedSet } from './collection.ts'
import type { Kind } from './forms.ts'
import { type CollectionOptionsOf, type CollectionsByKind, openCollection } from './open.ts'

export type { Kind } from './forms.ts'
export * from './names.ts'

/** For `preload` of a connection. */
export const collectionScripts: StructureScripts = /* @__PURE__ */ scriptsOf('collection', operations)

/** A cached list, replaced in one step. Throws InvalidArgumentError. */
export function collection<Value = unknown>(
  connection: HasRuntime,
  name: string,
  options: CollectionOptionsOf<Value, 'list'>,
): CollectionList<Value>
/** A cached set, replaced in one step. Throws InvalidArgumentError. */
export function collection<Value = unknown>(
  connection: HasRuntime,
  name: string,
  options: CollectionOptionsOf<Value, 'set'>,
): CollectionSet<Value>
/** A cached hash, replaced in one step. Throws InvalidArgumentError. */
export function collection<Value = unknown>(
  connection: HasRuntime,
  name: string,
  options: CollectionOptionsOf<Value, 'hash'>,
): CollectionHash<Value>
/** A cached sorted set, replaced in one step. Throws InvalidArgumentError. */
export function collection<Value = unknown>(
  connection: HasRuntime,
  name: string,
  options: CollectionOptionsOf<Value, 'sortedSet'>,
): CollectionSortedSet<Value>
/** A cached collection of any kind, replaced in one step. Throws InvalidArgumentError. */
export function collection<Value = unknown>(
  connection: HasRuntime,
  name: string,
  options: CollectionOptionsOf<Value, Kind>,
): CollectionsByKind<Value>[Kind]
export function collection<Value>(
  connection: HasRuntime,
  name: string,
  options: CollectionOptionsOf<Value, Kind>,
): CollectionsByKind<Value>[Kind] {
  return openCollection(runtimeOf(connection), name, options)
}
