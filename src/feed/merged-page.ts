// Reading pages over all partitions: every partition is asked at once, and what they have is merged,
// oldest first. The order within a partition is never changed.

import { checkInteger } from '../runtime/values/arguments.ts'
import { type Attempt, toWaitMs, waitFor } from '../runtime/waiting/wait.ts'
import { MAX_IDS, sortOut } from './message.ts'
import { Lane } from './cursor.ts'
import { joinEntries, parseMarker } from './marker.ts'
import { type FoundPartitionedMessages, inPartition, type PartitionedEntry } from './partition-message.ts'
import type { PartitionSet } from './partitions.ts'
import { READ_OPTIONS as ALL_OPTIONS, type ReadOptions, toMostBytes } from './page.ts'

export interface PartitionedReadOptions extends Omit<ReadOptions, 'includeDelayed' | 'lookThrough'> {}

export interface PartitionedPage<Body> extends FoundPartitionedMessages<Body> {
  /** Where to read on, in all partitions: never behind a message that was not returned. */
  readonly next: string
  /** Whether there may be more behind this page already. */
  readonly more: boolean
  /** True when retention removed messages between `after` and this page before they were read. */
  readonly gap: boolean
  /** True when `after` is of an earlier life of a partition, or a server lost its newest messages. */
  readonly reset: boolean
  /** The partitions with a gap. */
  readonly gaps: readonly number[]
  /** The partitions with a reset. */
  readonly resets: readonly number[]
}

/** A page as it was found: what the codec could not read stands in its place. */
export interface PartitionedEntryPage<Body>
  extends Omit<PartitionedPage<Body>, keyof FoundPartitionedMessages<Body>> {
  readonly entries: readonly PartitionedEntry<Body>[]
}

export function toPartitionedPage<Body>({
  entries,
  ...place
}: PartitionedEntryPage<Body>): PartitionedPage<Body> {
  return { ...sortOut(entries), ...place }
}

const OF_SINGLE_FEEDS: ReadonlySet<string> = new Set(['includeDelayed', 'lookThrough'])

export const READ_OPTIONS: readonly string[] = ALL_OPTIONS.filter((option) => !OF_SINGLE_FEEDS.has(option))

/** Reads one page; an empty one when nothing comes within `wait`. */
export async function readPartitions<Body>(
  partitions: PartitionSet<Body>,
  options: PartitionedReadOptions,
  origin: string,
): Promise<PartitionedEntryPage<Body>> {
  const { after, limit = 20, echo = true, includeClaimed = true } = options
  const most = { limit: checkInteger('limit', limit, 1, MAX_IDS), bytes: toMostBytes(options) }
  const terms = { exceptOrigin: echo ? '' : origin, includeClaimed }
  const markers = after === undefined ? [] : parseMarker('after', after, partitions.count)
  const lanes = partitions.all.map(
    ({ number, source }) => new Lane(number, source, terms, markers[number] ?? ''),
  )
  const attempt = async (): Promise<Attempt<PartitionedEntryPage<Body>>> => {
    const page = toPage(lanes, await merge(lanes, most))
    const isNews = page.entries.length > 0 || page.gap || page.reset
    if (!isNews) await partitions.agreement.checkNowAndThen()
    return { value: isNews ? page : null, recheckMs: soonest(lanes.map(({ recheckMs }) => recheckMs)) }
  }
  const page = await waitFor(attempt, {
    runtime: partitions.runtime,
    channel: partitions.channels,
    waitMs: toWaitMs(options),
    signal: options.signal,
  })
  return page ?? toPage(lanes, [])
}

/** The shortest of some times, where 0 is never. */
export function soonest(times: readonly number[]): number {
  const some = times.filter((ms) => ms > 0)
  return some.length === 0 ? 0 : Math.min(...some)
}

async function merge<Body>(
  lanes: readonly Lane<Body>[],
  { limit, bytes }: { limit: number; bytes: number },
): Promise<PartitionedEntry<Body>[]> {
  const entries: PartitionedEntry<Body>[] = []
  // Each partition has its share, for all are asked at once, and tells one message at least.
  let left = bytes
  const fill = (some: readonly Lane<Body>[], most: number): Promise<unknown> =>
    Promise.all(some.map((lane) => lane.fill(most, Math.ceil(left / some.length))))
  await fill(lanes, firstShare(limit, lanes.length))
  while (entries.length < limit) {
    // What a partition holds back may be older than what the others show.
    const dry = lanes.filter((lane) => lane.dry)
    if (dry.length > 0 && left <= 0) break
    await fill(dry, limit - entries.length)
    const oldest = findOldest(lanes)
    if (oldest === null) break
    left -= take(oldest, lanes, entries)
  }
  return entries
}

// More than an even share, so that most pages need one round; less than the limit, for what is fetched and
// not returned is fetched again by the next page.
function firstShare(limit: number, count: number): number {
  return Math.min(limit, Math.ceil((2 * limit) / count) + 2)
}

function findOldest<Body>(lanes: readonly Lane<Body>[]): Lane<Body> | null {
  let oldest: Lane<Body> | null = null
  let least = Infinity
  for (const lane of lanes) {
    // An id is the microsecond at which the message was appended.
    const id = lane.head === undefined ? Infinity : Number(lane.head.id)
    if (id < least) [oldest, least] = [lane, id]
  }
  return oldest
}

/** Moves the head of a lane to the entries; the bytes of its body. */
function take<Body>(
  lane: Lane<Body>,
  lanes: readonly Lane<Body>[],
  entries: PartitionedEntry<Body>[],
): number {
  const { head } = lane
  if (head === undefined) throw new Error('nothing was fetched')
  const bytes = lane.take()
  entries.push(inPartition(lane.partition, head, markerOf(lanes)))
  return bytes
}

function markerOf<Body>(lanes: readonly Lane<Body>[]): string {
  return joinEntries(lanes.map(({ entry }) => entry))
}

function toPage<Body>(
  lanes: readonly Lane<Body>[],
  entries: readonly PartitionedEntry<Body>[],
): PartitionedEntryPage<Body> {
  const gaps = lanes.filter(({ gap }) => gap).map(({ partition }) => partition)
  const resets = lanes.filter(({ reset }) => reset).map(({ partition }) => partition)
  return {
    entries,
    next: markerOf(lanes),
    more: lanes.some(({ hasMore }) => hasMore),
    gap: gaps.length > 0,
    reset: resets.length > 0,
    gaps,
    resets,
  }
}
