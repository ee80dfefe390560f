// Reads pages of a feed: one script call, or waiting for a message.

import { checkFlag, checkInteger } from '../runtime/values/arguments.ts'
import { type WaitAttempt, toWaitMs, type Waiting, waitFor } from '../runtime/waiting/wait.ts'
import { Cursor, type CursorTerms, type FetchLimits } from './cursor.ts'
import { checkCursor, MAX_IDS } from './addresses.ts'
import {
  type AnyEntry,
  type Entry,
  type FoundMessages,
  type FoundPartitionedMessages,
  PAGE_BYTES,
  type Readable,
  sortOut,
  type Undecoded,
} from './message.ts'
import type { FeedSource } from './partitions.ts'

export interface ReadOptions extends Waiting {
  /**
   * The `next` of an earlier page, the `cursor` of a message, or `'end'` for new messages only. Default: the oldest
   * message.
   */
  after?: string
  /** The number of messages to return at most, 1 to 1,000. Default: 20. */
  limit?: number
  /** The bytes of bodies, 1 byte to 4 MiB: the page ends after the message that reaches them. Default: 4 MiB. */
  maxBytes?: number
  /** False: hides messages appended with the `origin` of this handle. Default: true. */
  echo?: boolean
  /** False: hides messages while a claim holds them. Default: true. */
  includeClaimed?: boolean
  /** True: also shows delayed messages, after the last visible one. Default: false. */
  includeDelayed?: boolean
  /**
   * The number of messages to scan at most, accurate to about a thousand, while all of them are hidden. After that an
   * empty page with `more` is returned; continue at its `next`. Default: all.
   */
  lookThrough?: number
}

export interface PartitionedReadOptions extends Omit<ReadOptions, 'includeDelayed' | 'lookThrough'> {}

export const READ_OPTIONS: readonly string[] = [
  'after',
  'limit',
  'maxBytes',
  'echo',
  'includeClaimed',
  'includeDelayed',
  'lookThrough',
  'wait',
  'signal',
]

export const PARTITIONED_READ_OPTIONS: readonly string[] = READ_OPTIONS.filter(
  (option) => option !== 'includeDelayed' && option !== 'lookThrough',
)

export interface Page<Body> extends FoundMessages<Body> {
  /**
   * The cursor of the next page, for `after`. It also passes hidden messages, and stays valid when its messages are
   * removed.
   */
  readonly next: string
  /** True when more messages may already follow this page. */
  readonly more: boolean
  /** True when retention removed messages between `after` and this page before they were read. */
  readonly gap: boolean
  /** True when `after` belongs to an earlier feed of this name, or the server lost its newest messages. */
  readonly reset: boolean
}

export interface PartitionedPage<Body> extends FoundPartitionedMessages<Body> {
  /** The cursor of the next page in all partitions: never after a message that was not returned. */
  readonly next: string
  /** True when more messages may already follow this page. */
  readonly more: boolean
  /** True when retention removed messages between `after` and this page before they were read. */
  readonly gap: boolean
  /** True when `after` belongs to an earlier feed of this name, or a server lost its newest messages. */
  readonly reset: boolean
  /** The partitions with a gap. */
  readonly gaps: readonly number[]
  /** The partitions with a reset. */
  readonly resets: readonly number[]
}

/** A page with undecodable messages in their places. */
export interface EntryPage<Found extends AnyEntry> {
  readonly entries: readonly Found[]
  readonly next: string
  readonly more: boolean
  /** The partitions with a gap; 0 in a feed without partitions. */
  readonly gaps: readonly number[]
  readonly resets: readonly number[]
}

interface ShownPage<Found extends AnyEntry> extends Pick<Page<unknown>, 'next' | 'more' | 'gap' | 'reset'> {
  readonly messages: readonly Readable<Found>[]
  readonly undecodable: readonly Undecoded<Found>[]
}

export function toPage<Found extends AnyEntry>(page: EntryPage<Found>): ShownPage<Found> {
  const { entries, next, more, gaps, resets } = page
  const { messages, undecodable } = sortOut(entries)
  return { messages, undecodable, next, more, gap: gaps.length > 0, reset: resets.length > 0 }
}

/** Reads one page; an empty one when no message arrives within `wait`. */
export async function readPage<Body>(
  source: FeedSource<Body>,
  options: ReadOptions,
  origin: string,
): Promise<EntryPage<Entry<Body>>> {
  const { after, signal } = options
  const { terms, limits } = toReadTerms(options, origin)
  const calls = toCalls(options.lookThrough)
  const cursor = new Cursor(source, terms, after === undefined ? '' : checkCursor('after', after))
  const attempt = async (): Promise<WaitAttempt<Cursor<Body>>> => {
    await lookOn(cursor, limits, { calls, signal })
    return { value: hasNews(cursor) || cursor.more ? cursor : null, recheckMs: cursor.recheckMs }
  }
  const { runtime, channel } = source.unit
  await waitFor(attempt, { runtime, channel, waitMs: toWaitMs(options), signal })
  const { entries, next, more, gap, reset } = cursor
  return { entries, next, more, gaps: gap ? ONLY : NONE, resets: reset ? ONLY : NONE }
}

const ONLY: readonly number[] = [0]
const NONE: readonly number[] = []

/** Throws InvalidArgumentError. */
export function toReadTerms(
  options: ReadOptions,
  origin: string,
): { readonly terms: CursorTerms; readonly limits: FetchLimits } {
  const { limit = 20, maxBytes = PAGE_BYTES, echo = true } = options
  const { includeClaimed = true, includeDelayed = false } = options
  return {
    terms: {
      exceptOrigin: checkFlag('echo', echo) ? '' : origin,
      includeClaimed: checkFlag('includeClaimed', includeClaimed),
      includeDelayed: checkFlag('includeDelayed', includeDelayed),
    },
    limits: {
      limit: checkInteger('limit', limit, 1, MAX_IDS),
      mostBytes: checkInteger('maxBytes', maxBytes, 1, PAGE_BYTES),
    },
  }
}

// The number of messages that one call scans, hidden or not.
const LOOKED_AT = 1000

function toCalls(lookThrough: number | undefined): number {
  if (lookThrough === undefined) return Infinity
  return Math.ceil(checkInteger('lookThrough', lookThrough, 1, Number.MAX_SAFE_INTEGER) / LOOKED_AT)
}

/** Reads on until it finds a message, a gap or reset, or the end, or no call is left. */
async function lookOn<Body>(
  cursor: Cursor<Body>,
  limits: FetchLimits,
  { calls, signal }: { readonly calls: number; readonly signal: AbortSignal | undefined },
): Promise<void> {
  let left = calls
  do await cursor.fetch(limits, signal)
  while (cursor.more && !hasNews(cursor) && --left > 0)
}

function hasNews<Body>({ entries, gap, reset }: Cursor<Body>): boolean {
  return entries.length > 0 || gap || reset
}
