import { clear, inspect, read } from '../generated/collection.ts'
import { checkInteger } from '../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import type { Kind, UndecodableItem } from './forms.ts'
import { ONE_CALL, type CollectionSource } from './source.ts'

export interface CollectionReadOptions {
  /** The `next` of the previous page. Default: the beginning. */
  after?: string
  /** The number of items to return at most, 1 to 1,000; a set or hash may return slightly more. Default: 100. */
  limit?: number
}

export interface CollectionPage<Item> {
  readonly status: 'page'
  readonly items: readonly Item[]
  /**
   * Items whose value the codec cannot decode, for example because another version or language stored it. Nearly
   * always empty.
   */
  readonly undecodable: readonly UndecodableItem[]
  /** The cursor of the next page, for `after`; null on the last page. */
  readonly next: string | null
  /** True when the `limit` of a list removed items from its head before they were read. */
  readonly gap: boolean
  /** The number of items in the whole collection. */
  readonly size: number
  /** The version of the items; null when they were stored without one. */
  readonly version: number | null
  /** When the items expire, in milliseconds of the server's clock. */
  readonly expiresAtMs: number
}

export type CollectionRead<Item> =
  | CollectionPage<Item>
  /** No items are stored: they were never stored, have expired or were evicted. */
  | { readonly status: 'absent' }
  /**
   * `after` belongs to replaced items, or to a scan before a restart or failover of Redis: read again from the
   * beginning.
   */
  | { readonly status: 'replaced'; readonly version: number | null }

/** The state of a collection when it was read, for monitoring: it may be outdated when it arrives. */
export type CollectionInspection =
  | { readonly exists: false }
  | {
      readonly exists: true
      readonly kind: Kind
      readonly codec: string
      readonly size: number
      readonly version: number | null
      /** An upper bound of the size of an item in bytes. */
      readonly largestBytes: number
      /** When the items expire, in milliseconds of the server's clock. */
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

/** Redis rejects a cursor of more than 64 bits with an unspecific error. */
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

/** False when the collection was absent. */
export async function clearItems(unit: Unit): Promise<boolean> {
  return (await unit.run(clear, {})).existed
}
