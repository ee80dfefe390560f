// Pages over all partitions: all partitions are read at once and merged, oldest first. The order within a partition
// never changes.

import { type WaitAttempt, toWaitMs, waitFor } from '../runtime/waiting/wait.ts'
import { Cursor, type FetchLimits } from './cursor.ts'
import { joinParts, splitCursor } from './addresses.ts'
import { inPartition, type PartitionedEntry } from './message.ts'
import { type EntryPage, type PartitionedReadOptions, toReadTerms } from './page.ts'
import { type Partitions, soonest } from './partitions.ts'

/** Reads one page; an empty one when no message arrives within `wait`. */
export async function readMergedPage<Body>(
  partitions: Partitions<Body>,
  options: PartitionedReadOptions,
  origin: string,
): Promise<EntryPage<PartitionedEntry<Body>>> {
  const { after, signal } = options
  const { terms, limits } = toReadTerms(options, origin)
  const { all, spread, agreement, runtime, channel } = partitions
  const given = after === undefined ? [] : splitCursor('after', after, spread)
  const cursors = all.map((source) => new Cursor(source, terms, given[source.partition] ?? ''))
  const attempt = async (): Promise<WaitAttempt<EntryPage<PartitionedEntry<Body>>>> => {
    const page = pageOf(cursors, await merge(cursors, limits))
    const isNews = page.entries.length + page.gaps.length + page.resets.length > 0
    if (!isNews) await agreement?.checkNowAndThen()
    return { value: isNews ? page : null, recheckMs: soonest(cursors.map(({ recheckMs }) => recheckMs)) }
  }
  const page = await waitFor(attempt, { runtime, channel, waitMs: toWaitMs(options), signal })
  return page ?? pageOf(cursors, [])
}

async function merge<Body>(
  cursors: readonly Cursor<Body>[],
  { limit, mostBytes }: FetchLimits,
): Promise<PartitionedEntry<Body>[]> {
  const entries: PartitionedEntry<Body>[] = []
  // Each partition gets a share, because all are read at once, and returns at least one message.
  let left = mostBytes
  const fill = (some: readonly Cursor<Body>[], most: number): Promise<unknown> =>
    Promise.all(
      some.map((cursor) => cursor.fetchSome({ limit: most, mostBytes: Math.ceil(left / some.length) })),
    )
  await fill(cursors, firstShare(limit, cursors.length))
  while (entries.length < limit && left > 0) {
    // The unfetched messages of a partition may be older than the fetched ones of others.
    const dry = cursors.filter((cursor) => cursor.isDry)
    if (dry.length > 0) await fill(dry, limit - entries.length)
    const oldest = findOldest(cursors)
    if (oldest === null) break
    left -= take(oldest, cursors, entries)
  }
  return entries
}

// More than an even share, so that most pages need one round; less than the limit, because messages that are fetched
// but not returned are fetched again for the next page.
function firstShare(limit: number, count: number): number {
  return Math.min(limit, Math.ceil((2 * limit) / count) + 2)
}

function findOldest<Body>(cursors: readonly Cursor<Body>[]): Cursor<Body> | null {
  let oldest: Cursor<Body> | null = null
  let least = Infinity
  for (const cursor of cursors) {
    // An id is the microsecond at which the message was appended.
    const id = cursor.head === undefined ? Infinity : Number(cursor.head.id)
    if (id < least) [oldest, least] = [cursor, id]
  }
  return oldest
}

/** Moves the head of a cursor to the entries; returns the size of its body in bytes. */
function take<Body>(
  cursor: Cursor<Body>,
  cursors: readonly Cursor<Body>[],
  entries: PartitionedEntry<Body>[],
): number {
  const { head } = cursor
  if (head === undefined) throw new Error('nothing was fetched')
  const bytes = cursor.take()
  entries.push(inPartition(cursor.source.partition, head, cursorOf(cursors)))
  return bytes
}

function cursorOf<Body>(cursors: readonly Cursor<Body>[]): string {
  return joinParts(cursors.map(({ part }) => part))
}

function pageOf<Body>(
  cursors: readonly Cursor<Body>[],
  entries: readonly PartitionedEntry<Body>[],
): EntryPage<PartitionedEntry<Body>> {
  const those = (is: (cursor: Cursor<Body>) => boolean): number[] =>
    cursors.filter(is).map(({ source }) => source.partition)
  return {
    entries,
    next: cursorOf(cursors),
    more: cursors.some(({ hasMore }) => hasMore),
    gaps: those(({ gap }) => gap),
    resets: those(({ reset }) => reset),
  }
}
