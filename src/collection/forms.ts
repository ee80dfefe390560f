// What an item of each kind is made of. A list and a set store its value, a hash its field and its value, a
// sorted set its score and its value.

import { checkText } from '../runtime/values/arguments.ts'
import type { Codec, Undecodable } from '../runtime/values/codec.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'

export type Kind = 'list' | 'set' | 'hash' | 'sortedSet'

export const KINDS: readonly Kind[] = ['list', 'set', 'hash', 'sortedSet']

export type ItemPart = string | Uint8Array

/** `Key` is what an item is removed by: its value, or the field of a hash. */
export interface Form<Item, Key> {
  readonly kind: Kind
  /** Name of the codec that makes its values. */
  readonly codec: string
  /** How many parts an item has. */
  readonly width: 1 | 2
  /** Which of them no two items share; null where they may share all. */
  readonly identity: 0 | 1 | null
  /** Appends the parts of an item, and answers how many bytes they have. Throws InvalidArgumentError. */
  encode(item: Item, into: ItemPart[]): number
  encodeKey(key: Key): ItemPart
  /** The items of a page, in their order, and those that the codec cannot read. */
  decode(parts: readonly Buffer[]): DecodedItems<Item>
}

/** An item whose value the codec cannot read. */
export interface UndecodableItem extends Undecodable {
  /** Of a hash. */
  readonly field?: string
  /** Of a sorted set. */
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
  into.push(part)
  return checkBytes(Buffer.byteLength(part))
}

function appendPair(into: ItemPart[], first: string, value: ItemPart): number {
  into.push(first, value)
  return checkBytes(Buffer.byteLength(first) + Buffer.byteLength(value))
}

export function formOfValues<Value>(kind: 'list' | 'set', codec: Codec<Value>): Form<Value, Value> {
  return {
    kind,
    codec: codec.name,
    width: 1,
    identity: kind === 'list' ? null : 0,
    encode: (value, into) => append(into, codec.encode(value)),
    encodeKey: (value) => codec.encode(value),
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
    encodeKey: (value) => codec.encode(value),
    decode: (parts) =>
      decodeEach(
        pairsOf(parts),
        ([bytes, score]) => ({ bytes, score: Number(score) }),
        ({ bytes, score }) => [codec.decode(bytes), score],
      ),
  }
}

/** Each by itself: one that cannot be read keeps none of the others. */
function decodeEach<Stored, Told extends { readonly bytes: Buffer }, Item>(
  stored: readonly Stored[],
  tell: (stored: Stored) => Told,
  decode: (told: Told) => Item,
): DecodedItems<Item> {
  const items: Item[] = []
  const undecodable: UndecodableItem[] = []
  for (const each of stored) {
    const told = tell(each)
    try {
      items.push(decode(told))
    } catch (error) {
      undecodable.push({ ...told, error })
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

/** The shortest text that gives the same number again. */
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
