// One partition during the reading of a page: the fetched messages, and how many of them the page has taken.

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

/** The bounds of one fetch. */
export interface FetchLimits {
  readonly limit: number
  /** The bytes of bodies: the fetch ends after the message that reaches them. */
  readonly mostBytes: number
}

export class Cursor<Body> {
  readonly source: FeedSource<Body>
  /** The messages of the last fetch, taken or not. */
  entries: readonly Entry<Body>[] = []
  /** The position after the last fetch. */
  next: string
  /** Whether the server may have more messages. */
  more = false
  /** Whether retention removed messages before this reader read them. */
  gap = false
  reset = false
  /** When to read again without a wake-up; 0: never. */
  recheckMs = 0
  readonly #terms: CursorTerms
  #stored: ReadAnswer['messages'] = []
  #taken = 0
  #part: string | null = null

  /** `after`: the cursor of the partition; empty: its oldest message. */
  constructor(source: FeedSource<Body>, terms: CursorTerms, after: string) {
    this.source = source
    this.next = after
    this.#terms = terms
  }

  /** The next message; undefined when all fetched messages are taken. */
  get head(): Entry<Body> | undefined {
    return this.entries[this.#taken]
  }

  /** True when the next message must be fetched from the server. */
  get isDry(): boolean {
    return this.more && this.head === undefined
  }

  get hasMore(): boolean {
    return this.more || this.head !== undefined
  }

  /** Its part of a composite cursor: the position after the last taken message. */
  get part(): string {
    this.#part ??= toPart(this.#cursor())
    return this.#part
  }

  /** Takes the head and returns the size of its body in bytes. */
  take(): number {
    this.#taken += 1
    this.#part = null
    return this.#stored[this.#taken - 1]?.body.length ?? 0
  }

  /** Fetches the next messages with one call. Call it only when all fetched messages are taken or no longer needed. */
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

/** The end of a partition: every later message follows it. */
export async function endOf(source: FeedSource<unknown>): Promise<string> {
  const cursor = new Cursor(source, { exceptOrigin: '', includeClaimed: true, includeDelayed: false }, 'end')
  await cursor.fetch({ limit: 1, mostBytes: 1 })
  return cursor.next
}

// Not the start of the page: its gap or reset has been reported, and must not be reported again.
function justBefore<Body>(message: Entry<Body>): string {
  const [epoch = '', position = ''] = visibleCursor(message).split('-')
  return `${epoch}-${Number(position) - 1}`
}

function visibleCursor<Body>({ cursor }: Entry<Body>): string {
  if (cursor === null) throw new Error('a delayed message has no cursor')
  return cursor
}

/** The delay before the next call processes the due messages. */
const AT_ONCE_MS = 1

/**
 * Processes due delayed messages once, no more: messages that become due meanwhile follow the page, and under load
 * some are always due. A waiting reader reads again at once. All calls of one read share one deadline.
 */
async function settledRead(unit: Unit, wanted: ReadArguments, signal?: AbortSignal): Promise<ReadAnswer> {
  const by = performance.now() + unit.runtime.runner.deadlineMs
  const answer = await unit.run(read, wanted, { by, signal })
  if (!answer.due) return answer
  await unit.run(settle, { channel: unit.channel, sharded: unit.sharded }, { by })
  const settled = await unit.run(read, wanted, { by, signal })
  return settled.due ? { ...settled, recheckMs: AT_ONCE_MS } : settled
}
