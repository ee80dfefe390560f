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
  /** How long items count after a replace that does not say; default 24 hours. */
  ttl?: Duration
  /**
   * How many items there may be: a list keeps the newest, a sorted set those with the greatest scores. A set and a
   * hash have no order, and no limit. Default: any number.
   */
  limit?: number
}

export interface CollectionOptions<Value> extends CollectionBounds {
  /** How values become bytes; default JSON. */
  codec?: Codec<Value>
}

/**
 * Items that are cached as a whole: replaced in one step, whatever their number, so that nobody ever sees none, half
 * or twice of them. `Item` is what it holds.
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
   * Replaces all items, in one step; no items are items, too. An older `version` than the stored one is refused, the
   * same one again changes nothing. More than 1,000 items or 1 MiB are written beside the collection first.
   *
   * Throws InvalidArgumentError when an item is larger than 1 MiB or cannot be encoded, when the collection has another
   * kind or codec; AmbiguousError when it may have happened.
   */
  async replace(items: Iterable<Item>, options: ReplaceOptions = {}): Promise<Replaced> {
    checkOptions('options', options, ['ttl', 'version'])
    return replaceItems(this.#source, items, options)
  }

  /** A page of items, in their order where they have one. Throws InvalidArgumentError. */
  async read(options: CollectionReadOptions = {}): Promise<CollectionRead<Item>> {
    checkOptions('options', options, ['after', 'limit'])
    return readItems(this.#source, options)
  }

  /** A read-only picture of the collection. */
  async inspect(): Promise<CollectionInspection> {
    return inspectItems(this.#source.unit)
  }

  /** Forgets the items and their version. Resolves to false when there was nothing. */
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

/** Values in the order in which they came, some perhaps several times. */
export class CollectionList<Value> extends Collection<Value> {
  constructor(runtime: Runtime, name: string, options: CollectionOptions<Value> = {}) {
    super(runtime, name, formOfValues('list', codecOf(options)), options)
  }

  /**
   * Appends at most 1,000 values at the end, unless the list is absent. Resolves to `added` with the size and how many came and went,
   * or to `absent`. Throws InvalidArgumentError.
   */
  async append(items: Iterable<Value>): Promise<AddedItems> {
    return this.addAll(items)
  }
}

/** Values, each once. */
export class CollectionSet<Value> extends Collection<Value> {
  constructor(runtime: Runtime, name: string, options: CollectionOptions<Value> = {}) {
    super(runtime, name, formOfValues('set', codecOf(options)), options)
  }

  /**
   * Adds at most 1,000 values, unless the set is absent. Resolves to `added` with the size and how many came and went,
   * or to `absent`. Throws InvalidArgumentError.
   */
  async add(items: Iterable<Value>): Promise<AddedItems> {
    return this.addAll(items)
  }

  /**
   * Removes at most 1,000 values. Resolves to `removed` with the size and how many there were, or to `absent`.
   * Throws InvalidArgumentError.
   */
  async remove(items: Iterable<Value>): Promise<RemovedItems> {
    return this.removeAll(items)
  }
}

/** Values by their fields. */
export class CollectionHash<Value> extends Collection<HashItem<Value>, string> {
  constructor(runtime: Runtime, name: string, options: CollectionOptions<Value> = {}) {
    super(runtime, name, formOfHash(codecOf(options)), options)
  }

  /**
   * Sets at most 1,000 fields, unless the hash is absent. Resolves to `added` with the size and how many came and went,
   * or to `absent`. Throws InvalidArgumentError.
   */
  async add(items: Iterable<HashItem<Value>>): Promise<AddedItems> {
    return this.addAll(items)
  }

  /**
   * Removes at most 1,000 fields. Resolves to `removed` with the size and how many there were, or to `absent`.
   * Throws InvalidArgumentError.
   */
  async remove(fields: Iterable<string>): Promise<RemovedItems> {
    return this.removeAll(fields)
  }
}

/** Values, each once, in the order of their scores. */
export class CollectionSortedSet<Value> extends Collection<SortedSetItem<Value>, Value> {
  constructor(runtime: Runtime, name: string, options: CollectionOptions<Value> = {}) {
    super(runtime, name, formOfSortedSet(codecOf(options)), options)
  }

  /**
   * Gives at most 1,000 values their scores, unless the sorted set is absent. Resolves to `added` with the size and how many came and went,
   * or to `absent`. Throws InvalidArgumentError.
   */
  async add(items: Iterable<SortedSetItem<Value>>): Promise<AddedItems> {
    return this.addAll(items)
  }

  /**
   * Removes at most 1,000 values. Resolves to `removed` with the size and how many there were, or to `absent`.
   * Throws InvalidArgumentError.
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
