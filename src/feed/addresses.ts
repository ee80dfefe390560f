// Ids and cursors in the form that users see.
//
// Message id: the microsecond of the append; in a feed in partitions '<partition>.<id>'. Cursor: the position of a
// reader; in a feed in partitions 'p16', followed by '.<epoch>-<position>' in base 36 for each.

import { InvalidArgumentError } from '../runtime/errors/errors.ts'

/** Identifies a message: its partition (0 in a feed without partitions) and its number there. */
export interface PlacedId {
  readonly partition: number
  readonly id: number
}

/** A partition of a feed that has `spread` of them; 0: a feed without partitions. */
interface Numbered {
  readonly partition: number
  readonly spread: number
}

export const MAX_IDS = 1000

/** The public id of a message in a partition. */
export function toShownId({ spread, partition }: Numbered, id: string | number): string {
  return spread === 0 ? String(id) : toPartitionedId(partition, id)
}

export function toPartitionedId(partition: number, id: string | number): string {
  return `${partition}.${id}`
}

/**
 * The ids that can name a message; all others are left out. Throws InvalidArgumentError for an id of a partition that
 * the feed does not have, because it belongs to a feed with more partitions.
 */
export function toPlacedIds(ids: unknown, spread: number): PlacedId[] {
  if (!Array.isArray(ids) || ids.length > MAX_IDS) {
    throw new InvalidArgumentError('ids', `must be a list of at most ${MAX_IDS} message ids`)
  }
  return ids.flatMap((id: unknown) => toPlacedId(String(id), spread) ?? [])
}

function toPlacedId(text: string, spread: number): PlacedId | null {
  if (spread === 0) return PLAIN.test(text) ? { partition: 0, id: Number(text) } : null
  const match = PARTITIONED.exec(text)
  if (match === null) return null
  const partition = Number(match[1])
  if (partition >= spread) {
    throw new InvalidArgumentError('ids', `name partition ${partition} of a feed in ${spread} partitions`)
  }
  return { partition, id: Number(match[2]) }
}

const PLAIN = /^[1-9]\d{0,15}$/
const PARTITIONED = /^(0|[1-9]\d?)\.([1-9]\d{0,15})$/

/** An id that no message has. */
export const NO_MESSAGE = 0

/** Messages of a claim: all that are left, or the named ones. */
export type ClaimIds =
  | 'all'
  | {
      /** [NO_MESSAGE] if no id is valid: the server must still check the claim, and would read an empty list as all. */
      readonly known: readonly number[]
      /** The ids that cannot name a message. */
      readonly unknown: readonly string[]
    }

/** Throws InvalidArgumentError, also for an id of another partition than the claim's. */
export function toClaimIds({ spread, partition }: Numbered, ids: readonly string[] | 'all'): ClaimIds {
  if (ids === 'all') return ids
  const placed = toPlacedIds(ids, spread)
  const isElsewhere = placed.length !== ids.length || placed.some((each) => each.partition !== partition)
  if (spread > 0 && isElsewhere) {
    throw new InvalidArgumentError('ids', `must be of partition ${partition}, like the claim`)
  }
  const unknown =
    placed.length === ids.length ? [] : ids.filter((id) => toPlacedId(String(id), spread) === null)
  return { known: placed.length === 0 ? [NO_MESSAGE] : placed.map(({ id }) => id), unknown }
}

const CURSOR = /^(?:end|\d{1,16}-\d{1,16}(?:-\d{1,16}-\d{1,16})?)$/
const COMPOSITE = /^p([1-9]\d?)((?:\.[0-9a-z]{1,11}-[0-9a-z]{1,11})+)$/

export function toCursor(epoch: number, position: number): string {
  return `${microsText(epoch)}-${microsText(position)}`
}

/**
 * Microseconds as text. Formatting a double of sixteen digits is the most expensive part of creating a message, so
 * the upper digits are cached: they rarely change between calls.
 */
export function microsText(micros: number): string {
  if (micros < MILLION) return String(micros)
  const upper = Math.floor(micros / MILLION)
  if (upper !== lastUpper) {
    lastUpper = upper
    lastUpperText = String(upper)
  }
  return lastUpperText + String(micros - upper * MILLION + MILLION).slice(1)
}

const MILLION = 1_000_000
let lastUpper = 0
let lastUpperText = '0'

/** Throws InvalidArgumentError. */
export function checkCursor(argument: string, cursor: unknown): string {
  if (typeof cursor !== 'string' || !CURSOR.test(cursor)) throw notACursor(argument)
  return cursor
}

/** One cursor for all partitions; in a feed without partitions (`spread` is 0) its only cursor. */
export function joinCursors(cursors: readonly string[], spread: number): string {
  return spread === 0 ? String(cursors[0]) : joinParts(cursors.map(toPart))
}

/** The cursor of each partition. Throws InvalidArgumentError that names `argument` for any other text. */
export function splitCursor(argument: string, cursor: unknown, spread: number): string[] {
  if (spread === 0) return [checkCursor(argument, cursor)]
  if (cursor === 'end') return Array.from({ length: spread }, () => 'end')
  const match = typeof cursor === 'string' ? COMPOSITE.exec(cursor) : null
  const cursors = match?.[2]?.slice(1).split('.').map(fromPart) ?? []
  if (match === null || cursors.length !== Number(match[1]) || cursors.includes(null)) {
    throw notACursor(argument)
  }
  if (cursors.length !== spread) {
    throw new InvalidArgumentError(
      argument,
      `is a cursor of a feed in ${cursors.length} partitions, not in ${spread}`,
    )
  }
  return cursors.map(String)
}

/** The part of a composite cursor for one partition. */
export function toPart(cursor: string): string {
  return cursor
    .split('-')
    .map((number) => Number(number).toString(36))
    .join('-')
}

export function joinParts(parts: readonly string[]): string {
  return `p${parts.length}.${parts.join('.')}`
}

function fromPart(part: string): string | null {
  const numbers = part.split('-').map((text) => [text, Number.parseInt(text, 36)] as const)
  const known = numbers.every(
    ([text, number]) => Number.isSafeInteger(number) && number.toString(36) === text,
  )
  return known ? numbers.map(([, number]) => number).join('-') : null
}

function notACursor(argument: string): InvalidArgumentError {
  return new InvalidArgumentError(argument, "must be a cursor from a page, or 'end'")
}
