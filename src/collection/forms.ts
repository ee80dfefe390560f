// What an item of each kind is made of. A list and a set store its value, a hash its field and its value, a
// sorted set its score and its value.

import { checkText } from '../runtime/arguments.ts'
import type { Codec } from '../runtime/codec.ts'
import { InvalidArgumentError } from '../runtime/errors.ts'

export type Kind = 'list' | 'set' | 'hash' | 'sortedSet'

export const KINDS: readonly Kind[] = ['list', 'set', 'hash', 'sortedSet']

type Part = string | Uint8Array

/** An item as the scripts take it. */
export interface Entry {
  readonly parts: readonly Part[]
  readonly bytes: number
}

/** `Key` is what an item is removed by: its value, or the field of a hash. */
export interface Form<Item, Key> {
  readonly kind: Kind
  /** Name of the codec that makes its values. */
  readonly codec: string
  encode(item: Item): Entry
  /** What no two items share; null where they may. */
  identityOf: ((entry: Entry) => string) | null
  encodeKey(key: Key): Part
  /** The items of a page. */
  decode(parts: readonly Buffer[]): Item[]
}

const MAX_ITEM_BYTES = 1024 * 1024
const MAX_FIELD_BYTES = 512

/** Throws InvalidArgumentError when an item is too large. */
function toEntry(parts: readonly Part[]): Entry {
  let bytes = 0
  for (const part of parts) bytes += Buffer.byteLength(part)
  if (bytes > MAX_ITEM_BYTES) {
    throw new InvalidArgumentError('items', `must each be at most ${MAX_ITEM_BYTES} bytes when encoded`)
  }
  return { parts, bytes }
}

function identityAt(at: number): (entry: Entry) => string {
  return ({ parts }) => {
    const part = parts[at] ?? ''
    // A codec makes one or the other; text that begins so is then no other item's bytes.
    return typeof part === 'string' ? part : `\0${Buffer.from(part).toString('latin1')}`
  }
}

export function formOfValues<Value>(kind: 'list' | 'set', codec: Codec<Value>): Form<Value, Value> {
  return {
    kind,
    codec: codec.name,
    encode: (value) => toEntry([codec.encode(value)]),
    identityOf: kind === 'list' ? null : identityAt(0),
    encodeKey: (value) => codec.encode(value),
    decode: (parts) => parts.map((part) => codec.decode(part)),
  }
}

/** A field and its value. */
export type HashItem<Value> = readonly [field: string, value: Value]

export function formOfHash<Value>(codec: Codec<Value>): Form<HashItem<Value>, string> {
  return {
    kind: 'hash',
    codec: codec.name,
    encode(item) {
      const [field, value] = checkPair(item)
      return toEntry([checkField(field), codec.encode(value)])
    },
    identityOf: identityAt(0),
    encodeKey: checkField,
    decode: (parts) => pairsOf(parts).map(([field, value]) => [field.toString('utf8'), codec.decode(value)]),
  }
}

/** A value and its score. */
export type SortedSetItem<Value> = readonly [value: Value, score: number]

export function formOfSortedSet<Value>(codec: Codec<Value>): Form<SortedSetItem<Value>, Value> {
  return {
    kind: 'sortedSet',
    codec: codec.name,
    encode(item) {
      const [value, score] = checkPair(item)
      return toEntry([checkScore(score), codec.encode(value)])
    },
    identityOf: identityAt(1),
    encodeKey: (value) => codec.encode(value),
    decode: (parts) => pairsOf(parts).map(([value, score]) => [codec.decode(value), Number(score)]),
  }
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
