import { inspect, settle } from '../generated/feed.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import { joinCursors, toCursor } from './addresses.ts'
import { type Entry, inPartition, type PartitionedEntry, toEntry } from './message.ts'
import type { FeedSource, Partitions } from './partitions.ts'

/** A picture of a feed. The counts are exact at one instant; where things come due all the time, but for what has in the last moment. */
export interface FeedInspection<Body> {
  /** False when the feed does not exist; it begins with its first message. */
  readonly exists: boolean
  /** All messages: free + claimed + delayed. */
  readonly total: number
  readonly free: number
  readonly claimed: number
  readonly delayed: number
  /** Of all bodies that are visible. */
  readonly bytes: number
  readonly deadLetters: number
  /** Live claims. */
  readonly claims: number
  readonly subscribers: number
  /** The subscribers furthest behind, at most a hundred. */
  readonly furthestBehind: readonly { name: string; cursor: string; protected: boolean }[]
  readonly oldest: Entry<Body> | null
  readonly newest: Entry<Body> | null
  /** The position of the newest message. */
  readonly end: string
  /** Of the bodies; null when the feed does not exist. */
  readonly codec: string | null
}

type Counts = Pick<
  FeedInspection<unknown>,
  'exists' | 'total' | 'free' | 'claimed' | 'delayed' | 'bytes' | 'deadLetters' | 'claims' | 'subscribers'
>

/** A picture of one partition. */
export interface PartitionInspection<Body> extends Counts {
  readonly oldest: PartitionedEntry<Body> | null
  readonly newest: PartitionedEntry<Body> | null
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

/** Where so much comes due that something always is, the picture is taken all the same. */
const MOST_TRIES = 10

/** Settles what is due and takes the picture. */
export async function inspectFeed<Body>(source: FeedSource<Body>): Promise<FeedInspection<Body>> {
  const { unit, codec } = source
  const { deadlineMs } = unit.runtime.runner
  const by = performance.now() + deadlineMs
  // The rest is for the picture.
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

/** Does everything that time has made due, in bounded steps, as far as it gets until then. */
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
