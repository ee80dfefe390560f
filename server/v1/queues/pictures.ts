// What is told of a whole queue.

import type { PartitionedQueueInspection, QueueInspection } from 'perilune'

type Inspected = QueueInspection | PartitionedQueueInspection
/** Of a queue, of one in partitions, or of one of these. */
type Picture = Omit<QueueInspection, 'codec' | 'nowMs'> & Partial<Pick<QueueInspection, 'codec' | 'nowMs'>>

/** Whoever waits for the first job is known before it. */
export function isThere({ beganAtMs, idle }: Inspected): boolean {
  return beganAtMs !== null || idle > 0
}

export function shown(picture: Inspected): object {
  if (!('partitions' in picture)) return countsOf(picture)
  const { partitions, ...sums } = picture
  return { ...countsOf(sums), partitions: partitions.map(countsOf) }
}

function countsOf({ codec: _codec, nowMs: _nowMs, ...counts }: Picture): object {
  return counts
}

/** One of many. */
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
