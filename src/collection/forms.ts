// The parts of an item by kind: its value in a list or set, field and value in a hash, score and value in a sorted
// set.

import { checkText } from '../runtime/values/arguments.ts'
import { checkEncoded, type Codec, type Undecodable } from '../runtime/values/codec.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'

export type Kind = 'list' | 'set' | 'hash' | 'sortedSet'

export const KINDS: readonly Kind[] = ['list', 'set', 'hash', 'sortedSet']

export type ItemPart = string | Uint8Array

/** `Key` identifies an item to remove: its value, or the field of a hash. */
export interface Form<Item, Key> {
  readonly kind: Kind
  /** The name of the codec of its values. */
  readonly codec: string
  /** The number of parts of an item. */
  readonly width: 1 | 2
  /** The index of the part that is unique per item; null if items may be equal. */
  readonly identity: 0 | 1 | null
  /** Appends the parts of an item and returns their size in bytes. Throws InvalidArgumentError. */
  encode(item: Item, into: ItemPart[]): number
  encodeKey(key: Key): ItemPart
  /** The items of a page, in their order, and the items that the codec cannot decode. */
  decode(parts: readonly Buffer[]): DecodedItems<Item>
}

/** An item whose value the codec cannot decode. */
export interface UndecodableItem extends Undecodable {
  /** The field, for an item of a hash. */
  readonly field?: string
  /** The score, for an item of a sorted set. */
  readonly score?: number
}

export interface DecodedItems<Item> {
  readonly items: readonly Item[]
  readonly undecodable: readonly UndecodableItem[]
}

const MAX_ITEM_BYTES = 1024 * 1024
const MAX_FIELD_BYTES = 512

/** Throws InvalidArgumentError when an item is too large. */
function checkBytes(bytes: number): number {
  if (bytes <= MAX_ITEM_BYTES) return bytes
  throw new InvalidArgumentError('items', `must each be at most ${MAX_ITEM_BYTES} bytes when encoded`)
}

function append(into: ItemPart[], part: ItemPart): number {
  into.push(checkEncoded('items', part))
  return checkBytes(Buffer.byteLength(part))
}

function appendPair(into: ItemPart[], first: string, value: ItemPart): number {
  into.push(first, checkEncoded('items', value))
  return checkBytes(Buffer.byteLength(first) + Buffer.byteLength(value))
}

export function formOfValues<Value>(kind: 'list' | 'set', codec: Codec<Value>): Form<Value, Value> {
  return {
    kind,
    codec: codec.name,
    width: 1,
    identity: kind === 'list' ? null : 0,
    encode: (value, into) => append(into, codec.encode(value)),
    encodeKey: (value) => checkEncoded('items', codec.encode(value)),
    decode: (parts) =>
      decodeEach(
        parts,
        (bytes) => ({ bytes }),
        ({ bytes }) => codec.decode(bytes),
      ),
  }
}

/** A field and its value. */
export type HashItem<Value> = readonly [field: string, value: Value]

export function formOfHash<Value>(codec: Codec<Value>): Form<HashItem<Value>, string> {
  return {
    kind: 'hash',
    codec: codec.name,
    width: 2,
    identity: 0,
    encode(item, into) {
      const [field, value] = checkPair(item)
      return appendPair(into, checkField(field), codec.encode(value))
    },
    encodeKey: checkField,
    decode: (parts) =>
      decodeEach(
        pairsOf(parts),
        ([field, bytes]) => ({ field: field.toString('utf8'), bytes }),
        ({ field, bytes }) => [field, codec.decode(bytes)],
      ),
  }
}

/** A value and its score. */
export type SortedSetItem<Value> = readonly [value: Value, score: number]

export function formOfSortedSet<Value>(codec: Codec<Value>): Form<SortedSetItem<Value>, Value> {
  return {
    kind: 'sortedSet',
    codec: codec.name,
    width: 2,
    identity: 1,
    encode(item, into) {
      const [value, score] = checkPair(item)
      return appendPair(into, checkScore(score), codec.encode(value))
    },
    encodeKey: (value) => checkEncoded('items', codec.encode(value)),
    decode: (parts) =>
      decodeEach(
        pairsOf(parts),
        ([bytes, score]) => ({ bytes, score: Number(score) }),
        ({ bytes, score }) => [codec.decode(bytes), score],
      ),
  }
}

/** Decodes each item separately: an undecodable one does not affect the others. */
function decodeEach<Stored, Raw extends { readonly bytes: Buffer }, Item>(
  stored: readonly Stored[],
  toRaw: (stored: Stored) => Raw,
  decode: (raw: Raw) => Item,
): DecodedItems<Item> {
  const items: Item[] = []
  const undecodable: UndecodableItem[] = []
  for (const each of stored) {
    const raw = toRaw(each)
    try {
      items.push(decode(raw))
    } catch (error) {
      undecodable.push({ ...raw, error })
    }
  }
  return { items, undecodable }
}

function checkPair<Item>(item: Item): Item {
  if (Array.isArray(item) && item.length === 2) return item
  throw new InvalidArgumentError('items', 'must be pairs')
}

function checkField(field: unknown): string {
  return checkText('field', field, MAX_FIELD_BYTES)
}

/** The shortest text that parses to the same number. */
function checkScore(score: unknown): string {
  if (typeof score !== 'number' || !Number.isFinite(score)) {
    throw new InvalidArgumentError('score', 'must be a finite number')
  }
  return String(score)
}

function pairsOf(parts: readonly Buffer[]): [Buffer, Buffer][] {
  const pairs: [Buffer, Buffer][] = []
  for (let at = 0; at + 1 < parts.length; at += 2) pairs.push([parts[at]!, parts[at + 1]!])
  return pairs
}
