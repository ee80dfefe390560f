import { commit, forget, subscribe } from '../generated/feed.ts'
import { inUse } from '../runtime/partitions/agreement.ts'
import { checkFlag, checkOptions } from '../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { abortable } from '../runtime/time/in-time.ts'
import type { Waiting } from '../runtime/waiting/wait.ts'
import { joinCursors, splitCursor } from './addresses.ts'
import type { Page, PartitionedPage, PartitionedReadOptions, ReadOptions } from './page.ts'
import type { FeedSource, Partitions } from './partitions.ts'
import type { PartitionedTailOptions, TailedMessage, TailedPartitionedMessage, TailOptions } from './tail.ts'

export interface SubscriberOptions {
  /** Where a new subscriber begins: a cursor, `'end'`, or by default the oldest message. */
  from?: string
  /** True keeps retention from removing what this subscriber has not passed; default false. Stays until `forget`. */
  protect?: boolean
}

export interface CommitOptions {
  /** True lets the subscriber move back; default false: it only moves forward. */
  rewind?: boolean
}

/** How a feed is read and followed from a cursor. */
export interface SubscribedFeed<Options, Shown, Follow, Tailed> {
  readonly partitions: Partitions<unknown>
  /** Names of options of a page. */
  readonly known: readonly string[]
  read(options: Options & { after: string }): Promise<Shown>
  tail(options: Follow, begin: () => Promise<string>): AsyncGenerator<Tailed>
}

/** What readers of a feed and of one in partitions have in common. */
class StoredReader<Options extends Waiting, Shown, Follow, Tailed> {
  readonly name: string
  readonly #feed: SubscribedFeed<Options, Shown, Follow, Tailed>
  /** Where a new one begins, in each partition; none: at the oldest message. */
  readonly #from: readonly string[]
  readonly #protected: boolean
  /** What each partition has stored, as far as this handle knows. */
  #known: readonly string[] = []

  constructor(
    feed: SubscribedFeed<Options, Shown, Follow, Tailed>,
    name: string,
    { from, protect = false }: SubscriberOptions,
  ) {
    this.name = name
    this.#feed = feed
    this.#from = from === undefined ? [] : splitCursor('from', from, feed.partitions.spread)
    this.#protected = checkFlag('protect', protect)
  }

  /** The stored cursor. The first call makes the subscriber. */
  async cursor(): Promise<string> {
    return this.#know(await this.#feed.partitions.map((source) => this.#cursorIn(source)))
  }

  /**
   * Yields every message after the stored cursor, then those that come, also after an outage. Throws the signal's reason,
   * and what no retry would change.
   */
  read(options: Follow = {} as Follow): AsyncGenerator<Tailed> {
    return this.#feed.tail(options, () => this.cursor())
  }

  /** One page after the stored cursor. */
  async page(options: Options = {} as Options): Promise<Shown> {
    const known = this.#feed.known.filter((option) => option !== 'after')
    checkOptions('options', options, known)
    const after = await abortable(() => this.cursor(), options.signal)
    return this.#feed.read({ ...options, after })
  }

  /**
   * Stores a cursor; everything up to it is dealt with. Resolves to the cursor now stored, which is a later one where another
   * process was faster, or null when subscriber or feed have been removed, if only from a partition. In a feed in partitions a
   * step forward is one of those partitions only where the cursor is another than this handle knows of, and tells of the others
   * what it knows. An error may leave some partitions advanced; repeating it is safe.
   */
  async commit(cursor: string | null, options: CommitOptions = {}): Promise<string | null> {
    checkOptions('options', options, ['rewind'])
    const rewind = checkFlag('rewind', options.rewind ?? false)
    const { partitions } = this.#feed
    if (cursor === null || cursor === 'end') throw notVisible(partitions.spread)
    const wanted = splitCursor('cursor', cursor, partitions.spread)
    const known = this.#known
    // Others may have moved what this handle has stored: a step back, or one that goes nowhere, is told everywhere.
    const isEverywhere = rewind || wanted.every((to, number) => to === known[number])
    const stored = await partitions.map(async ({ unit, partition }) => {
      const to = wanted[partition] ?? ''
      if (to === known[partition] && !isEverywhere) return to
      const answer = await unit.run(commit, { name: this.name, to, rewind })
      return answer.status === 'absent' ? null : answer.cursor
    })
    const cursors = stored.filter((each) => each !== null)
    if (cursors.length === stored.length) return this.#know(cursors)
    this.#known = []
    return null
  }

  /** Removes the subscriber, from every partition. Resolves to false when there was none. */
  async forget(): Promise<boolean> {
    this.#known = []
    const answers = await this.#feed.partitions.map(({ unit }) => unit.run(forget, { name: this.name }))
    return answers.some(({ status }) => status === 'forgotten')
  }

  async #cursorIn(source: FeedSource<unknown>): Promise<string> {
    const { unit, codec, spread: partitions, partition } = source
    const wanted = { name: this.name, from: this.#from[partition] ?? '', protected: this.#protected }
    const { cursor } = await inUse(source, (proof) =>
      unit.run(subscribe, { codec: codec.name, partitions, proof, ...wanted }),
    )
    return cursor
  }

  #know(cursors: readonly string[]): string {
    this.#known = cursors
    return joinCursors(cursors, this.#feed.partitions.spread)
  }
}

/**
 * A reader whose cursor is kept with the feed.
 * Reading moves nothing; `advance` does, once the messages up to there are dealt with.
 */
export class Subscriber<Body> extends StoredReader<
  Omit<ReadOptions, 'after'>,
  Page<Body>,
  Omit<TailOptions, 'after'>,
  TailedMessage<Body>
> {}

/**
 * A reader whose position is kept with each partition.
 * Reading moves nothing; `advance` does. In each partition the position only moves forward, by itself: one
 * advance is a step in every partition, not one step in all of them.
 */
export class PartitionedSubscriber<Body> extends StoredReader<
  Omit<PartitionedReadOptions, 'after'>,
  PartitionedPage<Body>,
  Omit<PartitionedTailOptions, 'after'>,
  TailedPartitionedMessage<Body>
> {}

function notVisible(spread: number): InvalidArgumentError {
  const visible = spread === 0 ? 'a visible message or page' : 'a message on a page, or of a page'
  return new InvalidArgumentError('cursor', `must be the cursor of ${visible}`)
}
