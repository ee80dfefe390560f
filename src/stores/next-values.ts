// Values of Next.js as JSON. Bytes, and maps of bytes, at their top level are stored separately, in base64.

import { isMap as isAnyMap, isUint8Array } from 'node:util/types'
import type { NextCacheControl, NextContext } from './next-context.ts'
import type { TagTurn } from './next-turns.ts'

/** An entry as it is stored. */
export interface StoredEntry {
  readonly value: object | null
  readonly bytes: Readonly<Record<string, string>>
  readonly maps: Readonly<Record<string, readonly (readonly [string, string])[]>>
  readonly tags: readonly string[]
  readonly cacheControl?: NextCacheControl
  /** The turn before it was stored; absent when another version has stored it. */
  readonly turn?: TagTurn
}

/** The header in which pages and routes have their tags. */
const TAGS_HEADER = 'x-next-cache-tags'

export function toStored(value: object | null, context: NextContext, turn: TagTurn): StoredEntry {
  const { cacheControl } = context
  const fields = Object.entries(value ?? {})
  return {
    value: value === null ? null : Object.fromEntries(fields.filter(([, field]) => isPlain(field))),
    bytes: Object.fromEntries(
      fields.flatMap(([name, field]) => (isBytes(field) ? [[name, toText(field)]] : [])),
    ),
    maps: Object.fromEntries(
      fields.flatMap(([name, field]) => (isMap(field) ? [[name, toPairs(field)]] : [])),
    ),
    tags: [...new Set([...(context.tags ?? []), ...tagsOf(value)])],
    ...(cacheControl === undefined ? {} : { cacheControl }),
    turn,
  }
}

export function fromStored<Value extends object>({ value, bytes, maps }: StoredEntry): Value | null {
  if (value === null) return null
  const wholeBytes = Object.entries(bytes).map(([name, text]) => [name, toBytes(text)])
  const wholeMaps = Object.entries(maps).map(([name, pairs]) => [
    name,
    new Map(pairs.map(([key, text]) => [key, toBytes(text)])),
  ])
  return { ...value, ...Object.fromEntries([...wholeBytes, ...wholeMaps]) } as Value
}

function tagsOf(value: object | null): readonly string[] {
  const { tags = [], headers } = (value ?? {}) as { tags?: string[]; headers?: Record<string, unknown> }
  const header = headers?.[TAGS_HEADER]
  return typeof header === 'string' && header !== '' ? [...tags, ...header.split(',')] : tags
}

function isBytes(field: unknown): field is Uint8Array {
  return isUint8Array(field)
}

function isMap(field: unknown): field is ReadonlyMap<string, Uint8Array> {
  return isAnyMap(field)
}

function isPlain(field: unknown): boolean {
  return !isBytes(field) && !isMap(field)
}

function toPairs(map: ReadonlyMap<string, Uint8Array>): [string, string][] {
  return [...map].map(([key, bytes]) => [key, toText(bytes)])
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

function toBytes(text: string): Buffer {
  return Buffer.from(text, 'base64')
}
