// Texts that users get for what is in a feed.
//
// Ids of messages: the microsecond at which a message was appended; in a feed in partitions '<partition>.<id>'.
// Cursors: where a reader stands; in a feed in partitions 'p16' and then, for each, '.<epoch>-<position>' in base 36.

import { InvalidArgumentError } from '../runtime/errors/errors.ts'

/** What names a message: its partition, 0 where the feed is not spread, and its number there. */
export interface PlacedId {
  readonly partition: number
  readonly id: number
}

/** A partition of a feed that has `spread` of them; 0: the feed is not spread. */
interface Numbered {
  readonly partition: number
  readonly spread: number
}

export const MAX_IDS = 1000

/** What a message of a partition is called outside. */
export function toShownId({ spread, partition }: Numbered, id: string | number): string {
  return spread === 0 ? String(id) : toPartitionedId(partition, id)
}

export function toPartitionedId(partition: number, id: string | number): string {
  return `${partition}.${id}`
}

/**
 * The ids that can name a message; others name none and are left out. Throws InvalidArgumentError for one
 * of a partition that the feed does not have: it is of a feed with more of them.
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

/** No message has it. */
export const NO_MESSAGE = 0

/** Messages of a claim: all that are left, or some. */
export type ClaimIds =
  | 'all'
  | {
      /** NO_MESSAGE where there are none: the server says whether the claim is live, and would take none at all for all. */
      readonly known: readonly number[]
      /** Those that can name no message. */
      readonly unknown: readonly string[]
    }

/** Throws InvalidArgumentError, also for those of another partition than the claim. */
export function toClaimIds({ spread, partition }: Numbered, ids: readonly string[] | 'all'): ClaimIds {
  if (ids === 'all') return ids
  const placed = toPlacedIds(ids, spread)
  const isElsewhere = placed.length !== ids.length || placed.some((each) => each.partition !== partition)
  if (spread > 0 && isElsewhere) {
    throw new InvalidArgumentError('ids', `must be of partition ${partition}, as the claim`)
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
 * Microseconds as text. Their upper digits are those of the last call nearly always, and writing a
 * double of sixteen digits is the dearest part of making a message.
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

/** One cursor for all partitions; of a feed that is not spread (`spread` is 0) its own. */
export function joinCursors(cursors: readonly string[], spread: number): string {
  return spread === 0 ? String(cursors[0]) : joinParts(cursors.map(toPart))
}

/** The cursor of each partition. Throws InvalidArgumentError naming `argument` for any other text. */
export function splitCursor(argument: string, cursor: unknown, spread: number): string[] {
  if (spread === 0) return [checkCursor(argument, cursor)]
  if (cursor === 'end') return Array.from({ length: spread }, () => 'end')
  const match = typeof cursor === 'string' ? COMPOSITE.exec(cursor) : null
  const cursors = match?.[2]?.slice(1).split('.').map(fromPart) ?? []
  if (match === null || cursors.length !== Number(match[1]) || cursors.includes(null)) {
    throw notACursor(argument)
  }
  if (cursors.length !== spread) {
    throw new InvalidArgumentError(argument, `is of a feed in ${cursors.length} partitions, not in ${spread}`)
  }
  return cursors.map(String)
}

/** What stands for one partition in a composite cursor. */
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
  return new InvalidArgumentError(argument, "must be a cursor as a page gave it, or 'end'")
}
