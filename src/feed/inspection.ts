import { inspect, settle } from '../generated/feed.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import { joinCursors, toCursor } from './addresses.ts'
import { type Entry, inPartition, type PartitionedEntry, toEntry } from './message.ts'
import type { FeedSource, Partitions } from './partitions.ts'

/**
 * The state of a feed. The counts are exact at one instant, except for messages that became due in the last moment
 * when some always do.
 */
export interface FeedInspection<Body> {
  /** False when the feed does not exist; its first message creates it. */
  readonly exists: boolean
  /** All messages: free + claimed + delayed. */
  readonly total: number
  /** The number of visible messages that no claim holds. */
  readonly free: number
  /** The number of messages that live claims hold. */
  readonly claimed: number
  /** The number of messages that are not visible yet. */
  readonly delayed: number
  /** The total size of all visible bodies in bytes. */
  readonly bytes: number
  /** The number of dead letters. */
  readonly deadLetters: number
  /** The number of live claims. */
  readonly claims: number
  /** The number of subscribers. */
  readonly subscribers: number
  /** The subscribers with the oldest cursors, at most 100. */
  readonly furthestBehind: readonly { name: string; cursor: string; protected: boolean }[]
  /** The oldest visible message; null without one. */
  readonly oldest: Entry<Body> | null
  /** The newest visible message; null without one. */
  readonly newest: Entry<Body> | null
  /** The position of the newest message. */
  readonly end: string
  /** The name of the codec of the bodies; null when the feed does not exist. */
  readonly codec: string | null
}

type Counts = Pick<
  FeedInspection<unknown>,
  'exists' | 'total' | 'free' | 'claimed' | 'delayed' | 'bytes' | 'deadLetters' | 'claims' | 'subscribers'
>

/** The state of one partition. */
export interface PartitionInspection<Body> extends Counts {
  readonly oldest: PartitionedEntry<Body> | null
  readonly newest: PartitionedEntry<Body> | null
}

/** The state of a feed in partitions: sums over all partitions, each exact at its own instant. */
export interface PartitionedInspection<Body> extends Counts {
  /** The number of subscribers in the partition that has most: each subscriber is stored in every partition. */
  readonly subscribers: number
  /** The position of the newest message in every partition. */
  readonly end: string
  /** The partitions in their order. */
  readonly partitions: readonly PartitionInspection<Body>[]
}

/** The number of attempts before the state is read although messages keep becoming due. */
const MOST_TRIES = 10

/** Processes due messages, then reads the state. */
export async function inspectFeed<Body>(source: FeedSource<Body>): Promise<FeedInspection<Body>> {
  const { unit, codec } = source
  const { deadlineMs } = unit.runtime.runner
  const by = performance.now() + deadlineMs
  // The remaining time is for reading the state.
  const settlesUntil = by - deadlineMs / 2
  let answer = await unit.run(inspect, { codec: codec.name }, { by })
  for (let tries = 1; answer.due && tries < MOST_TRIES && performance.now() < settlesUntil; tries++) {
    await Promise.all([unit, unit.beside('dead')].map((each) => settleAll(each, settlesUntil, by)))
    answer = await unit.run(inspect, { codec: codec.name }, { by })
  }
  const { epoch, total, claimed, delayed, ends } = answer
  const [oldest = null, newest = null] = ends.map((stored) =>
    toEntry(answer, stored, codec, stored.token === 0 ? null : stored.token),
  )
  const furthestBehind = answer.readers.map(({ position, ...reader }) => ({
    ...reader,
    cursor: toCursor(epoch, position),
  }))
  return {
    exists: epoch !== 0,
    total,
    free: total - claimed - delayed,
    claimed,
    delayed,
    bytes: answer.bytes,
    deadLetters: answer.dead,
    claims: answer.claims,
    subscribers: answer.subscribers,
    furthestBehind,
    oldest,
    newest,
    end: toCursor(epoch, answer.last),
    codec: epoch === 0 ? null : answer.codec,
  }
}

/** Processes everything that is due, in bounded steps, until `until` at the latest. */
async function settleAll(unit: Unit, until: number, by: number): Promise<void> {
  for (;;) {
    const { more } = await unit.run(settle, { channel: unit.channel, sharded: unit.sharded }, { by })
    if (!more || performance.now() >= until) return
  }
}

export async function inspectPartitions<Body>(
  partitions: Partitions<Body>,
): Promise<PartitionedInspection<Body>> {
  const [inspections] = await Promise.all([partitions.map(inspectFeed), partitions.agreement?.check()])
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
    end: joinCursors(
      inspections.map(({ end }) => end),
      partitions.spread,
    ),
    partitions: inspections.map(toPartition),
  }
}

function toPartition<Body>(inspection: FeedInspection<Body>, partition: number): PartitionInspection<Body> {
  const { furthestBehind: _, end: __, codec: ___, oldest, newest, ...counts } = inspection
  const placed = (entry: Entry<Body> | null): PartitionedEntry<Body> | null =>
    entry === null ? null : inPartition(partition, entry, null)
  return { ...counts, oldest: placed(oldest), newest: placed(newest) }
}
