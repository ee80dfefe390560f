// Messages of a feed in partitions, and their ids: '<partition>.<id>'.

import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { type Entry, MAX_IDS, type Message, type UndecodableMessage } from './message.ts'

/** One message of a feed in partitions. */
export interface PartitionedMessage<Body> extends Message<Body> {
  readonly partition: number
  /**
   * Where a reader stands that has met this message and those before it on its page. Null for a message
   * that no page gave: it was claimed or looked up.
   */
  readonly marker: string | null
}

/** A message whose body the codec could not read. */
export interface UndecodablePartitionedMessage extends UndecodableMessage {
  readonly partition: number
  /** As that of a message. */
  readonly marker: string | null
}

/** Messages that were found, those of each kind in their order. */
export interface FoundPartitionedMessages<Body> {
  readonly messages: readonly PartitionedMessage<Body>[]
  /** Those that the codec could not read. */
  readonly undecodable: readonly UndecodablePartitionedMessage[]
}

/** A message as it was found. */
export type PartitionedEntry<Body> = PartitionedMessage<Body> | UndecodablePartitionedMessage

/** An id that names a message, and where it stood in the list. */
export interface PlacedId {
  readonly at: number
  readonly partition: number
  readonly id: string
}

export function toPartitionedId(partition: number, id: string): string {
  return `${partition}.${id}`
}

export function inPartition<Body>(
  partition: number,
  found: Message<Body>,
  marker: string | null,
): PartitionedMessage<Body>
export function inPartition(
  partition: number,
  found: UndecodableMessage,
  marker: string | null,
): UndecodablePartitionedMessage
export function inPartition<Body>(
  partition: number,
  found: Entry<Body>,
  marker: string | null,
): PartitionedEntry<Body>
export function inPartition<Body>(
  partition: number,
  found: Entry<Body>,
  marker: string | null,
): PartitionedEntry<Body> {
  return { ...found, id: toPartitionedId(partition, found.id), marker, partition }
}

/**
 * The ids that can name a message; others name none and are left out. Throws InvalidArgumentError for one
 * of a partition that the feed does not have: it is of a feed with more of them.
 */
export function placedIds(ids: unknown, count: number): PlacedId[] {
  if (!Array.isArray(ids) || ids.length > MAX_IDS) {
    throw new InvalidArgumentError('ids', `must be a list of at most ${MAX_IDS} message ids`)
  }
  return ids.flatMap((text: unknown, at) => {
    const match = /^(0|[1-9]\d?)\.([1-9]\d{0,15})$/.exec(String(text))
    if (match === null) return []
    const [partition, id] = [Number(match[1]), String(match[2])]
    if (partition >= count) {
      throw new InvalidArgumentError('ids', `name partition ${partition} of a feed in ${count} partitions`)
    }
    return [{ at, partition, id }]
  })
}
