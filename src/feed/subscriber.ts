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
  /** Where a new subscriber begins: a cursor or `'end'`. Default: the oldest message. */
  from?: string
  /**
   * True: retention does not remove messages that this subscriber has not passed; this stays in effect until
   * `forget`. Default: false.
   */
  protect?: boolean
}

export interface CommitOptions {
  /** True: the subscriber may move back. Default: false. */
  rewind?: boolean
}

/** How a feed is read and followed from a cursor. */
export interface SubscribedFeed<Options, Shown, Follow, Tailed> {
  readonly partitions: Partitions<unknown>
  /** The option names of a page. */
  readonly known: readonly string[]
  read(options: Options & { after: string }): Promise<Shown>
  tail(options: Follow, begin: () => Promise<string>): AsyncGenerator<Tailed>
}

/** The common part of subscribers of feeds with and without partitions. */
class StoredReader<Options extends Waiting, Shown, Follow, Tailed> {
  readonly name: string
  readonly #feed: SubscribedFeed<Options, Shown, Follow, Tailed>
  /** Where a new subscriber begins in each partition; empty: at the oldest message. */
  readonly #from: readonly string[]
  readonly #protected: boolean
  /** The stored cursor of each partition, as far as this handle knows. */
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

  /** The stored cursor. Creates the subscriber when it does not exist. */
  async cursor(): Promise<string> {
    return this.#know(await this.#feed.partitions.map((source) => this.#cursorIn(source)))
  }

  /**
   * Yields every message after the stored cursor and then each new one, and continues after an outage. Creates the
   * subscriber when it does not exist. Throws the signal's reason, and errors that no retry can fix.
   */
  read(options: Follow = {} as Follow): AsyncGenerator<Tailed> {
    return this.#feed.tail(options, () => this.cursor())
  }

  /** Reads one page after the stored cursor. Creates the subscriber when it does not exist. */
  async page(options: Options = {} as Options): Promise<Shown> {
    const known = this.#feed.known.filter((option) => option !== 'after')
    checkOptions('options', options, known)
    const after = await abortable(() => this.cursor(), options.signal)
    return this.#feed.read({ ...options, after })
  }

  /**
   * Stores a cursor: everything up to it is processed. Resolves to the stored cursor, which is a later one if another
   * process was faster. Resolves to null, and creates nothing, when the subscriber does not exist or the cursor is of
   * an earlier life of the feed, even in one partition only. In a feed in partitions, a step forward calls only
   * partitions whose cursor differs from the one this handle knows; for the others it returns what it knows. An error
   * may leave some partitions advanced; a repeat is safe. Throws InvalidArgumentError.
   */
  async commit(cursor: string | null, options: CommitOptions = {}): Promise<string | null> {
    checkOptions('options', options, ['rewind'])
    const rewind = checkFlag('rewind', options.rewind ?? false)
    const { partitions } = this.#feed
    if (cursor === null || cursor === 'end') throw notVisible(partitions.spread)
    const wanted = splitCursor('cursor', cursor, partitions.spread)
    const known = this.#known
    // Other processes may have moved the stored cursors: a rewind, or a commit without a change, is sent to every
    // partition.
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

  /** Removes the subscriber from every partition. Resolves to false when it did not exist. */
  async forget(): Promise<boolean> {
    this.#known = []
    // With another number it would be forgotten in a part of the feed.
    await this.#feed.partitions.agreement?.check()
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
 * A reader whose cursor is stored with the feed. Reading does not move it; `commit` does, when the messages up to a
 * cursor are processed.
 */
export class Subscriber<Body> extends StoredReader<
  Omit<ReadOptions, 'after'>,
  Page<Body>,
  Omit<TailOptions, 'after'>,
  TailedMessage<Body>
> {}

/**
 * A reader whose position is stored in each partition. Reading does not move it; `commit` does. Without `rewind`
 * positions only move forward, each partition separately: one commit is not atomic across partitions.
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
