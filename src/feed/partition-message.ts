// Messages of a feed in partitions, and their ids: '<partition>.<id>'.

import { InvalidArgumentError } from '../runtime/errors.ts'
import { MAX_IDS, type Message } from './message.ts'

/** One message of a feed in partitions. */
export interface PartitionedMessage<Body> extends Message<Body> {
  readonly partition: number
  /**
   * Where a reader stands that has met this message and those before it on its page. Null for a message
   * that no page gave: it was claimed or looked up.
   */
  readonly marker: string | null
}

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
  message: Message<Body>,
  marker: string | null,
): PartitionedMessage<Body> {
  return { ...message, id: toPartitionedId(partition, message.id), marker, partition }
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
