import { checkInteger, checkOptions } from '../runtime/values/arguments.ts'
import { type Codec, codecOr, jsonOf } from '../runtime/values/codec.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { checkName } from '../runtime/values/keys.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { Unit } from '../runtime/connection/unit.ts'
import { type AddedItems, addItems, type RemovedItems, removeItems } from './change.ts'
import {
  type Form,
  formOfHash,
  formOfSortedSet,
  formOfValues,
  type HashItem,
  type SortedSetItem,
} from './forms.ts'
import {
  type CollectionInspection,
  type CollectionRead,
  type CollectionReadOptions,
  clearItems,
  inspectItems,
  readItems,
} from './read.ts'
import { type Replaced, type ReplaceOptions, replaceItems } from './replace.ts'
import { placeOf, type CollectionSource } from './source.ts'

export interface CollectionBounds {
  /** How long the items stay valid after a `replace` without its own `ttl`. Default: 24 hours. */
  ttl?: Duration
  /**
   * The greatest number of items: a list keeps the newest, a sorted set those with the greatest scores. Not for a set
   * or a hash, whose items have no order. At most 2,000 excess items are removed per call. Default: no limit.
   */
  limit?: number
}

export interface CollectionOptions<Value> extends CollectionBounds {
  /** How values become bytes; it is stored with the collection, and another codec is rejected. Default: JSON. */
  codec?: Codec<Value>
}

/**
 * Items that are cached as a whole and replaced in one step, whatever their number: no reader ever sees a partial,
 * empty or duplicated state. `Item` is the type of its items.
 */
export class Collection<Item, Key = Item> {
  readonly name: string
  readonly #source: CollectionSource<Item, Key>

  constructor(runtime: Runtime, name: string, form: Form<Item, Key>, options: CollectionBounds) {
    this.name = checkName('name', name)
    this.#source = {
      unit: new Unit(runtime, placeOf(this.name)),
      form,
      ttlMs: toMs('ttl', options.ttl ?? '24h'),
      limit: checkLimit(form.kind, options.limit),
    }
  }

  /**
   * Replaces all items in one step; an empty list is stored too. A `version` older than the stored one is refused;
   * the same version changes nothing. More than 1,000 items or 1 MiB are first written to a separate key.
   *
   * Throws InvalidArgumentError when an item is larger than 1 MiB or cannot be encoded, or when the collection has
   * another kind or codec. Throws AmbiguousError when the replacement may have happened.
   */
  async replace(items: Iterable<Item>, options: ReplaceOptions = {}): Promise<Replaced> {
    checkOptions('options', options, ['ttl', 'version'])
    return replaceItems(this.#source, items, options)
  }

  /** Reads a page, in order for a list or sorted set; `absent` without a collection. Throws InvalidArgumentError. */
  async read(options: CollectionReadOptions = {}): Promise<CollectionRead<Item>> {
    checkOptions('options', options, ['after', 'limit'])
    return readItems(this.#source, options)
  }

  /** Reads the state of the collection. */
  async inspect(): Promise<CollectionInspection> {
    return inspectItems(this.#source.unit)
  }

  /** Deletes the items and their version. Resolves to false when the collection was absent. */
  async clear(): Promise<boolean> {
    return clearItems(this.#source.unit)
  }

  protected addAll(items: Iterable<Item>): Promise<AddedItems> {
    return addItems(this.#source, items)
  }

  protected removeAll(keys: Iterable<Key>): Promise<RemovedItems> {
    return removeItems(this.#source, keys)
  }
}

function checkLimit(kind: string, limit: number | undefined): number {
  if (limit === undefined) return 0
  if (kind === 'list' || kind === 'sortedSet') return checkInteger('limit', limit, 1, Number.MAX_SAFE_INTEGER)
  throw new InvalidArgumentError('limit', `must not be given for a ${kind}: its items have no order`)
}

/** Values in the order in which they were added; duplicates are kept. */
export class CollectionList<Value> extends Collection<Value> {
  constructor(runtime: Runtime, name: string, options: CollectionOptions<Value> = {}) {
    super(runtime, name, formOfValues('list', codecOf(options)), options)
  }

  /**
   * Appends at most 1,000 values to the end, unless the list is absent. Resolves to `added` with the size and the
   * numbers of added and removed values, or to `absent`. Throws InvalidArgumentError.
   */
  async append(items: Iterable<Value>): Promise<AddedItems> {
    return this.addAll(items)
  }
}

/** Values without duplicates. */
export class CollectionSet<Value> extends Collection<Value> {
  constructor(runtime: Runtime, name: string, options: CollectionOptions<Value> = {}) {
    super(runtime, name, formOfValues('set', codecOf(options)), options)
  }

  /**
   * Adds at most 1,000 values, unless the set is absent. Resolves to `added` with the size and the numbers of added
   * and removed values, or to `absent`. Throws InvalidArgumentError.
   */
  async add(items: Iterable<Value>): Promise<AddedItems> {
    return this.addAll(items)
  }

  /**
   * Removes at most 1,000 values. Resolves to `removed` with the size and the number of removed values, or to
   * `absent`. Throws InvalidArgumentError.
   */
  async remove(items: Iterable<Value>): Promise<RemovedItems> {
    return this.removeAll(items)
  }
}

/** Values by field. */
export class CollectionHash<Value> extends Collection<HashItem<Value>, string> {
  constructor(runtime: Runtime, name: string, options: CollectionOptions<Value> = {}) {
    super(runtime, name, formOfHash(codecOf(options)), options)
  }

  /**
   * Sets at most 1,000 fields, unless the hash is absent. Resolves to `added` with the size and the numbers of added
   * and removed fields, or to `absent`. Throws InvalidArgumentError.
   */
  async add(items: Iterable<HashItem<Value>>): Promise<AddedItems> {
    return this.addAll(items)
  }

  /** Removes at most 1,000 fields: `removed` with the size and the number removed, or `absent`. */
  async remove(fields: Iterable<string>): Promise<RemovedItems> {
    return this.removeAll(fields)
  }
}

/** Values without duplicates, in the order of their scores. */
export class CollectionSortedSet<Value> extends Collection<SortedSetItem<Value>, Value> {
  constructor(runtime: Runtime, name: string, options: CollectionOptions<Value> = {}) {
    super(runtime, name, formOfSortedSet(codecOf(options)), options)
  }

  /**
   * Adds at most 1,000 values, or updates their scores, unless the sorted set is absent. Resolves to `added` with the
   * size and the numbers of added and removed values, or to `absent`. Throws InvalidArgumentError.
   */
  async add(items: Iterable<SortedSetItem<Value>>): Promise<AddedItems> {
    return this.addAll(items)
  }

  /**
   * Removes at most 1,000 values. Resolves to `removed` with the size and the number of removed values, or to
   * `absent`. Throws InvalidArgumentError.
   */
  async remove(items: Iterable<Value>): Promise<RemovedItems> {
    return this.removeAll(items)
  }
}

function codecOf<Value>({ codec }: CollectionOptions<Value>): Codec<Value> {
  return codecOr(codec, () => jsonOf<Value>('items'))
}

export type { AddedItems, RemovedItems } from './change.ts'
export type { HashItem, Kind, SortedSetItem, UndecodableItem } from './forms.ts'
export type {
  CollectionInspection,
  CollectionPage,
  CollectionRead,
  CollectionReadOptions,
} from './read.ts'
export type { Replaced, ReplaceOptions } from './replace.ts'
