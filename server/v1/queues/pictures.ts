// The state of a whole queue.

import { InvalidArgumentError, type PartitionedQueueInspection, type QueueInspection } from 'perilune'
import type { AnyQueue } from './open.ts'

type Inspected = QueueInspection | PartitionedQueueInspection
/** Of a queue, of a queue in partitions, or of one partition. */
type Picture = Omit<QueueInspection, 'codec' | 'nowMs'> & Partial<Pick<QueueInspection, 'codec' | 'nowMs'>>

/** A waiter for the first job is known before the job. */
export function isThere({ beganAtMs, idle }: Inspected): boolean {
  return beganAtMs !== null || idle > 0
}

/** Null when there is no queue of this name with this number of partitions. */
export async function pictureOf(queue: AnyQueue): Promise<Inspected | null> {
  try {
    const picture = await queue.inspect()
    return isThere(picture) ? picture : null
  } catch (error) {
    if (error instanceof InvalidArgumentError) return null
    throw error
  }
}

export function shown(picture: Inspected): object {
  if (!('partitions' in picture)) return countsOf(picture)
  const { partitions, ...sums } = picture
  return { ...countsOf(sums), partitions: partitions.map(countsOf) }
}

function countsOf({ codec: _codec, nowMs: _nowMs, ...counts }: Picture): object {
  return counts
}

/** The summary in a list. */
export function briefly({
  paused,
  idle,
  ready,
  scheduled,
  blocked,
  claimed,
  dead,
  done,
  oldestAtMs,
}: Inspected): object {
  return { paused, idle, ready, scheduled, blocked, claimed, dead, done, oldestAtMs }
}
