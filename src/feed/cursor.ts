// One partition as the reader of a page sees it: messages that were fetched, and how many of them the page has taken.

import { type ReadAnswer, type ReadArguments, read, settle } from '../generated/feed.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import { toPart } from './addresses.ts'
import { type Entry, toEntries } from './message.ts'
import type { FeedSource } from './partitions.ts'

export interface CursorTerms {
  readonly exceptOrigin: string
  readonly includeClaimed: boolean
  readonly includeDelayed: boolean
}

/** How much is fetched at most. */
export interface FetchLimits {
  readonly limit: number
  /** Of bodies: behind those that reach so many comes nothing more. */
  readonly mostBytes: number
}

export class Cursor<Body> {
  readonly source: FeedSource<Body>
  /** What was fetched last, whether or not it is taken. */
  entries: readonly Entry<Body>[] = []
  /** Where that ends. */
  next: string
  /** Whether there may be more on the server. */
  more = false
  /** Whether retention removed messages before this reader came. */
  gap = false
  reset = false
  /** When to look again although nobody wakes; 0: never. */
  recheckMs = 0
  readonly #terms: CursorTerms
  #stored: ReadAnswer['messages'] = []
  #taken = 0
  #part: string | null = null

  /** `after`: the partition's own cursor; empty: its oldest message. */
  constructor(source: FeedSource<Body>, terms: CursorTerms, after: string) {
    this.source = source
    this.next = after
    this.#terms = terms
  }

  /** The message that comes next; undefined when all that were fetched are taken. */
  get head(): Entry<Body> | undefined {
    return this.entries[this.#taken]
  }

  /** True when what comes next is on the server still. */
  get isDry(): boolean {
    return this.more && this.head === undefined
  }

  get hasMore(): boolean {
    return this.more || this.head !== undefined
  }

  /** Its part of a composite cursor: behind what was taken, and before what was not. */
  get part(): string {
    this.#part ??= toPart(this.#cursor())
    return this.#part
  }

  /** Takes the head away; the bytes of its body. */
  take(): number {
    this.#taken += 1
    this.#part = null
    return this.#stored[this.#taken - 1]?.body.length ?? 0
  }

  /** Fetches what follows, by one call. Only when everything fetched before has been taken, or is not wanted. */
  async fetch(limits: FetchLimits, signal?: AbortSignal): Promise<void> {
    const { unit, codec, spread: partitions } = this.source
    const wanted = { ...this.#terms, ...limits, codec: codec.name, partitions, after: this.next }
    const answer = await settledRead(unit, wanted, signal)
    this.entries = toEntries(answer, codec)
    this.#stored = answer.messages
    this.next = answer.next
    this.more = answer.more
    this.gap ||= answer.gap
    this.reset ||= answer.reset
    this.recheckMs = answer.recheckMs
    this.#taken = 0
    this.#part = null
  }

  /** Fetches at least one message, if there is any. */
  async fetchSome(limits: FetchLimits): Promise<void> {
    do await this.fetch(limits)
    while (this.isDry)
  }

  #cursor(): string {
    const { head } = this
    if (head === undefined) return this.next
    return this.#taken > 0 ? visibleCursor(this.entries[this.#taken - 1] ?? head) : justBefore(head)
  }
}

/** Where a partition ends: what comes to it from now on is behind that. */
export async function endOf(source: FeedSource<unknown>): Promise<string> {
  const cursor = new Cursor(source, { exceptOrigin: '', includeClaimed: true, includeDelayed: false }, 'end')
  await cursor.fetch({ limit: 1, mostBytes: 1 })
  return cursor.next
}

// Not where the page began: a gap or a reset there has been told, and must not be told again.
function justBefore<Body>(message: Entry<Body>): string {
  const [epoch = '', position = ''] = visibleCursor(message).split('-')
  return `${epoch}-${Number(position) - 1}`
}

function visibleCursor<Body>({ cursor }: Entry<Body>): string {
  if (cursor === null) throw new Error('a delayed message has no cursor')
  return cursor
}

/** What is due is seen to by the next call. */
const AT_ONCE_MS = 1

/**
 * Sees once to delayed messages that are due, and no more: what comes due meanwhile stands behind the page, and where much does,
 * something always is. Whoever waits looks again at once. However many calls that takes, they have one deadline.
 */
async function settledRead(unit: Unit, wanted: ReadArguments, signal?: AbortSignal): Promise<ReadAnswer> {
  const by = performance.now() + unit.runtime.runner.deadlineMs
  const answer = await unit.run(read, wanted, { by, signal })
  if (!answer.due) return answer
  await unit.run(settle, { channel: unit.channel, sharded: unit.sharded }, { by })
  const settled = await unit.run(read, wanted, { by, signal })
  return settled.due ? { ...settled, recheckMs: AT_ONCE_MS } : settled
}
