import { clear, inspect, read } from '../generated/collection.ts'
import { checkInteger } from '../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import type { Kind, UndecodableItem } from './forms.ts'
import { ONE_CALL, type CollectionSource } from './source.ts'

export interface CollectionReadOptions {
  /** The `next` of the page before; default: from the beginning. */
  after?: string
  /** Items to return at most, a set and a hash may give some more; default 100, at most 1,000. */
  limit?: number
}

export interface CollectionPage<Item> {
  readonly status: 'page'
  readonly items: readonly Item[]
  /** Those whose value the codec cannot read: another version stored it, or another language. Empty nearly always. */
  readonly undecodable: readonly UndecodableItem[]
  /** Where to read on; null when this was the last page. */
  readonly next: string | null
  /** True when items left the head of a list, for its `limit`, before they were read. */
  readonly gap: boolean
  /** Of the whole collection. */
  readonly size: number
  /** Null when the items came without one. */
  readonly version: number | null
  readonly expiresAtMs: number
}

export type CollectionRead<Item> =
  | CollectionPage<Item>
  /** There is nothing, or no more: it was never stored, has expired or was evicted. */
  | { readonly status: 'absent' }
  /** `after` is of items that have been replaced, or of a scan before Redis was restarted or failed over; read from the beginning. */
  | { readonly status: 'replaced'; readonly version: number | null }

/** A picture of a collection; for people, for it may be old when it arrives. */
export type CollectionInspection =
  | { readonly exists: false }
  | {
      readonly exists: true
      readonly kind: Kind
      readonly codec: string
      readonly size: number
      readonly version: number | null
      /** No item has more bytes. */
      readonly largestBytes: number
      readonly expiresAtMs: number
    }

export async function readItems<Item, Key>(
  { unit, form }: CollectionSource<Item, Key>,
  { after, limit = 100 }: CollectionReadOptions,
): Promise<CollectionRead<Item>> {
  const from = after === undefined ? { copy: 0, place: '0' } : parseCursor(after)
  const args = {
    kind: form.kind,
    codec: form.codec,
    ...from,
    limit: checkInteger('limit', limit, 1, ONE_CALL.items),
  }
  const answer = await unit.run(read, args)
  if (answer.status === 'absent') return answer
  const version = toVersion(answer.version)
  if (answer.status === 'replaced') return { status: 'replaced', version }
  const { copy, place, more, gap, size, expiresAtMs, parts } = answer
  const next = more ? `${copy}-${place}` : null
  return { status: 'page', ...form.decode(parts), next, gap, size, version, expiresAtMs }
}

function parseCursor(after: unknown): { copy: number; place: string } {
  const [, copy, place] = /^([1-9]\d{0,15})-(\d{1,20}(?:\.[0-9a-f]{8})?)$/.exec(String(after)) ?? []
  if (copy === undefined || place === undefined || !isCursor(place)) {
    throw new InvalidArgumentError('after', 'must be the next of a page')
  }
  return { copy: Number(copy), place }
}

/** Redis refuses one of more than 64 bits, and does not say of what. */
function isCursor(place: string): boolean {
  const [number = ''] = place.split('.')
  return BigInt(number) < 2n ** 64n
}

function toVersion(version: number): number | null {
  return version === -1 ? null : version
}

export async function inspectItems(unit: Unit): Promise<CollectionInspection> {
  const answer = await unit.run(inspect, {})
  if (answer.status === 'absent') return { exists: false }
  const { kind, codec, size, version, largest, expiresAtMs } = answer
  return {
    exists: true,
    kind: kind as Kind,
    codec,
    size,
    version: toVersion(version),
    largestBytes: largest,
    expiresAtMs,
  }
}

/** False when there was nothing. */
export async function clearItems(unit: Unit): Promise<boolean> {
  return (await unit.run(clear, {})).existed
}
