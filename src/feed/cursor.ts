// One partition as the reader of a page sees it: messages that were fetched, and how many of them the page
// has taken.

import { type Entry, type Source, toEntries } from './message.ts'
import { toEntry } from './marker.ts'
import { settledRead } from './settled-read.ts'

export interface LaneTerms {
  readonly exceptOrigin: string
  readonly includeClaimed: boolean
}

export class Lane<Body> {
  readonly partition: number
  readonly #source: Source<Body>
  readonly #terms: LaneTerms
  #entries: readonly Entry<Body>[] = []
  #sizes: readonly number[] = []
  #taken = 0
  #next: string
  #more = false
  #gap = false
  #reset = false
  #recheckMs = 0
  #entry: string | null = null

  /** `after`: the partition's own marker; empty: its oldest message. */
  constructor(partition: number, source: Source<Body>, terms: LaneTerms, after: string) {
    this.partition = partition
    this.#source = source
    this.#terms = terms
    this.#next = after
  }

  /** Whether retention removed messages before this reader came. */
  get gap(): boolean {
    return this.#gap
  }

  get reset(): boolean {
    return this.#reset
  }

  /** When to look again although nobody wakes; 0: never. */
  get recheckMs(): number {
    return this.#recheckMs
  }

  /** The message that comes next; undefined when all that were fetched are taken. */
  get head(): Entry<Body> | undefined {
    return this.#entries[this.#taken]
  }

  /** True when what comes next is on the server still. */
  get dry(): boolean {
    return this.#more && this.head === undefined
  }

  get hasMore(): boolean {
    return this.#more || this.head !== undefined
  }

  /** The entry of a composite marker: behind what was taken, and before what was not. */
  get entry(): string {
    this.#entry ??= toEntry(this.#marker())
    return this.#entry
  }

  /** Takes the head away; the bytes of its body. */
  take(): number {
    this.#taken += 1
    this.#entry = null
    return this.#sizes[this.#taken - 1] ?? 0
  }

  /**
   * Fetches what follows, and at least one message if there is any. Only when everything fetched before has been taken.
   * `mostBytes`: of bodies, behind which it fetches no more.
   */
  async fill(limit: number, mostBytes: number): Promise<void> {
    const { unit, codec, spread: partitions } = this.#source
    const wanted = {
      ...this.#terms,
      codec: codec.name,
      partitions,
      after: this.#next,
      limit,
      includeDelayed: false,
      mostBytes,
    }
    const answer = await settledRead(unit, wanted)
    this.#entries = toEntries(answer, codec)
    this.#sizes = answer.messages.map(({ body }) => body.length)
    this.#next = answer.next
    this.#more = answer.more
    this.#gap ||= answer.gap
    this.#reset ||= answer.reset
    this.#recheckMs = answer.recheckMs
    this.#taken = 0
    this.#entry = null
    if (this.dry) return this.fill(limit, mostBytes)
  }

  #marker(): string {
    const { head } = this
    if (head === undefined) return this.#next
    return this.#taken > 0 ? visibleMarker(this.#entries[this.#taken - 1] ?? head) : justBefore(head)
  }
}

// Not where the page began: a gap or a reset there has been told, and must not be told again.
function justBefore<Body>(message: Entry<Body>): string {
  const [epoch = '', position = ''] = visibleMarker(message).split('-')
  return `${epoch}-${Number(position) - 1}`
}

function visibleMarker<Body>({ marker }: Entry<Body>): string {
  if (marker === null) throw new Error('a delayed message has no marker')
  return marker
}
