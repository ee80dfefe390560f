// Pages of a feed: one script call, or waiting for something to come.

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
  /** The `next` of an earlier page; `'end'`: only what comes from now on; default: the oldest message. */
  after?: string
  /** Messages to return at most; default 20. */
  limit?: number
  /** Bytes of bodies: the page ends behind the message with which it reaches so many. Default, and the most: 4 MiB. */
  maxBytes?: number
  /** False hides what this handle's `origin` appended; default true. */
  echo?: boolean
  /** False hides messages while a claim holds them; default true: an observer sees every message. */
  includeClaimed?: boolean
  /** True shows, behind the last visible message, those that are still delayed; default false. */
  includeDelayed?: boolean
  /**
   * Messages to look through at most, give or take a thousand, where those found so far are hidden: then comes an empty
   * page with `more`, and reading goes on at its `next`. Default: all.
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
  /** Where to read on. It moves over messages that were hidden, and outlives those it came from. */
  readonly next: string
  /** Whether there may be more behind this page already. */
  readonly more: boolean
  /** True when retention removed messages between `after` and this page before they were read. */
  readonly gap: boolean
  /** True when `after` is of an earlier life of the feed, or the server lost its newest messages. */
  readonly reset: boolean
}

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
export interface EntryPage<Found extends AnyEntry> {
  readonly entries: readonly Found[]
  readonly next: string
  readonly more: boolean
  /** The partitions with a gap; of a feed that is not spread, 0. */
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

/** Reads one page; an empty one when nothing comes within `wait`. */
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

// What one call looks at, whatever is hidden.
const LOOKED_AT = 1000

function toCalls(lookThrough: number | undefined): number {
  if (lookThrough === undefined) return Infinity
  return Math.ceil(checkInteger('lookThrough', lookThrough, 1, Number.MAX_SAFE_INTEGER) / LOOKED_AT)
}

/** Reads on until there is a message, something to tell, or nothing more, or no call is left. */
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
