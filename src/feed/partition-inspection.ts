import { type FeedInspection, inspectFeed } from './inspection.ts'
import type { Entry } from './message.ts'
import { composeMarker } from './marker.ts'
import {
  inPartition,
  type PartitionedEntry,
  type PartitionedMessage,
  type UndecodablePartitionedMessage,
} from './partition-message.ts'
import type { Partition, PartitionSet } from './partitions.ts'

type Counts = Pick<
  FeedInspection<unknown>,
  'exists' | 'total' | 'free' | 'claimed' | 'delayed' | 'bytes' | 'deadLetters' | 'claims' | 'subscribers'
>

/** A picture of one partition. */
export interface PartitionInspection<Body> extends Counts {
  readonly oldest: PartitionedMessage<Body> | UndecodablePartitionedMessage | null
  readonly newest: PartitionedMessage<Body> | UndecodablePartitionedMessage | null
}

/** A picture of a feed in partitions: sums, exact for each partition at an instant of its own. */
export interface PartitionedInspection<Body> extends Counts {
  /** Of the partition that has the most: a subscriber is kept in each. */
  readonly subscribers: number
  /** The position of the newest message in every partition. */
  readonly end: string
  /** In their order. */
  readonly partitions: readonly PartitionInspection<Body>[]
}

export async function inspectPartitions<Body>(set: PartitionSet<Body>): Promise<PartitionedInspection<Body>> {
  const inspecting = set.map(async (partition) => ({
    partition,
    inspection: await inspectFeed(partition.source),
  }))
  const [found] = await Promise.all([inspecting, set.agreement.check()])
  const inspections = found.map(({ inspection }) => inspection)
  const sum = (count: (inspection: FeedInspection<Body>) => number): number =>
    inspections.reduce((total, inspection) => total + count(inspection), 0)
  return {
    exists: inspections.some(({ exists }) => exists),
    total: sum(({ total }) => total),
    free: sum(({ free }) => free),
    claimed: sum(({ claimed }) => claimed),
    delayed: sum(({ delayed }) => delayed),
    bytes: sum(({ bytes }) => bytes),
    deadLetters: sum(({ deadLetters }) => deadLetters),
    claims: sum(({ claims }) => claims),
    subscribers: Math.max(...inspections.map(({ subscribers }) => subscribers)),
    end: composeMarker(inspections.map(({ end }) => end)),
    partitions: found.map(({ partition, inspection }) => picture(partition, inspection)),
  }
}

function picture<Body>(
  { number }: Partition<Body>,
  inspection: FeedInspection<Body>,
): PartitionInspection<Body> {
  const { furthestBehind: _, end: __, codec: ___, oldest, newest, ...counts } = inspection
  const placed = (entry: Entry<Body> | null): PartitionedEntry<Body> | null =>
    entry === null ? null : inPartition(number, entry, null)
  return { ...counts, oldest: placed(oldest), newest: placed(newest) }
}
