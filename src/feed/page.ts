// Reading pages: one script call, or waiting for something to come.

import { checkInteger } from '../runtime/values/arguments.ts'
import { type Attempt, toWaitMs, type Waiting, waitFor } from '../runtime/waiting/wait.ts'
import {
  checkMarker,
  type Entry,
  type FoundMessages,
  MAX_IDS,
  PAGE_BYTES,
  type Source,
  sortOut,
  toEntries,
} from './message.ts'
import { settledRead } from './settled-read.ts'

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

/** A page as it was found: what the codec could not read stands in its place. */
export interface EntryPage<Body> extends Omit<Page<Body>, keyof FoundMessages<Body>> {
  readonly entries: readonly Entry<Body>[]
}

export function toPage<Body>({ entries, next, more, gap, reset }: EntryPage<Body>): Page<Body> {
  const { messages, undecodable } = sortOut(entries)
  return { messages, undecodable, next, more, gap, reset }
}

interface Terms {
  limit: number
  exceptOrigin: string
  includeClaimed: boolean
  includeDelayed: boolean
  mostBytes: number
}

/** Reads one page; an empty one when nothing comes within `wait`. */
export async function readPage<Body>(
  source: Source<Body>,
  options: ReadOptions,
  origin: string,
): Promise<EntryPage<Body>> {
  const { after, limit = 20, echo = true, includeClaimed = true, includeDelayed = false } = options
  const terms: Terms = {
    limit: checkInteger('limit', limit, 1, MAX_IDS),
    exceptOrigin: echo ? '' : origin,
    includeClaimed,
    includeDelayed,
    mostBytes: toMostBytes(options),
  }
  const calls = toCalls(options.lookThrough)
  const { unit } = source
  let page: EntryPage<Body> = emptyAt<Body>(after === undefined ? '' : checkMarker('after', after))
  const attempt = async (): Promise<Attempt<EntryPage<Body>>> => {
    const found = await readOnce(source, terms, page, { calls, signal: options.signal })
    page = found.page
    return { value: isNews(page) || page.more ? page : null, recheckMs: found.recheckMs }
  }
  await waitFor(attempt, {
    runtime: unit.runtime,
    channel: unit.channel,
    waitMs: toWaitMs(options),
    signal: options.signal,
  })
  return page
}

export function toMostBytes({ maxBytes = PAGE_BYTES }: Pick<ReadOptions, 'maxBytes'>): number {
  return checkInteger('maxBytes', maxBytes, 1, PAGE_BYTES)
}

// What one call looks at, whatever is hidden.
const LOOKED_AT = 1000

function toCalls(lookThrough: number | undefined): number {
  if (lookThrough === undefined) return Infinity
  return Math.ceil(checkInteger('lookThrough', lookThrough, 1, Number.MAX_SAFE_INTEGER) / LOOKED_AT)
}

/** Reads on from an empty page until there is a message, something to tell, or nothing more, or no call is left. */
async function readOnce<Body>(
  source: Source<Body>,
  terms: Terms,
  from: EntryPage<Body>,
  how: { readonly calls: number; readonly signal: AbortSignal | undefined },
): Promise<{ page: EntryPage<Body>; recheckMs: number }> {
  const { unit, codec, spread: partitions } = source
  const asked = { ...terms, codec: codec.name, partitions, after: from.next }
  const answer = await settledRead(unit, asked, { signal: how.signal })
  const page = {
    entries: toEntries(answer, codec),
    next: answer.next,
    more: answer.more,
    gap: answer.gap,
    reset: answer.reset,
  }
  if (page.more && !isNews(page) && how.calls > 1) {
    return readOnce(source, terms, page, { ...how, calls: how.calls - 1 })
  }
  return { page, recheckMs: answer.recheckMs }
}

function isNews<Body>({ entries, gap, reset }: EntryPage<Body>): boolean {
  return entries.length > 0 || gap || reset
}

function emptyAt<Body>(next: string): EntryPage<Body> {
  return { entries: [], next, more: false, gap: false, reset: false }
}
