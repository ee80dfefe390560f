import { checkOneOf, checkOptions } from '../runtime/values/arguments.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import {
  CollectionHash,
  CollectionList,
  type CollectionOptions,
  CollectionSet,
  CollectionSortedSet,
} from './collection.ts'
import { KINDS, type Kind } from './forms.ts'

/** The options of `redis.collection`: the kind selects the class. */
export type CollectionOptionsOf<Value, OfKind extends Kind> = CollectionOptions<Value> & { kind: OfKind }

/** The classes by kind. */
export interface CollectionsByKind<Value> {
  list: CollectionList<Value>
  set: CollectionSet<Value>
  hash: CollectionHash<Value>
  sortedSet: CollectionSortedSet<Value>
}

/** Throws InvalidArgumentError. */
export function openCollection<Value>(
  runtime: Runtime,
  name: string,
  options: CollectionOptionsOf<Value, Kind>,
): CollectionsByKind<Value>[Kind] {
  checkOptions('options', options, ['kind', 'ttl', 'limit', 'codec'])
  const { kind, ...others } = options
  switch (checkOneOf('kind', kind, KINDS)) {
    case 'list':
      return new CollectionList(runtime, name, others)
    case 'set':
      return new CollectionSet(runtime, name, others)
    case 'hash':
      return new CollectionHash(runtime, name, others)
    default:
      return new CollectionSortedSet(runtime, name, others)
  }
}
