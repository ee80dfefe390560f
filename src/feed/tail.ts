// Following a feed: pages one after the other, and waiting at the end.

import { checkOptions } from '../runtime/values/arguments.ts'
import { Leavable } from '../runtime/iteration/leavable.ts'
import { notifying } from '../runtime/errors/notify.ts'
import { throughOutages, throwIfOver } from '../runtime/calls/through-outages.ts'
import { endOf } from './cursor.ts'
import { joinCursors } from './addresses.ts'
import {
  type AnyEntry,
  isReadable,
  type Message,
  type PartitionedMessage,
  type Readable,
  type Undecoded,
  type UndecodableMessage,
  type UndecodablePartitionedMessage,
} from './message.ts'
import type { EntryPage, PartitionedReadOptions, ReadOptions } from './page.ts'
import type { Partitions } from './partitions.ts'

export interface TailOptions extends Omit<ReadOptions, 'wait' | 'lookThrough'> {
  /** Called with each message that the codec cannot read, in its place: it is passed over. */
  onUndecodable?: (message: UndecodableMessage) => void
}

export interface PartitionedTailOptions extends Omit<PartitionedReadOptions, 'wait'> {
  /** Called with each message that the codec cannot read, in its place: it is passed over. */
  onUndecodable?: (message: UndecodablePartitionedMessage) => void
}

/** A message as a follower meets it. */
export interface TailedMessage<Body> extends Message<Body> {
  /**
   * What this reader lost directly before this message: `'gap'` and `'reset'` as in a page, `'undecodable'` where only a message
   * that the codec cannot read was passed over; else null.
   */
  readonly lostBefore: Lost
}

/** A message of a feed in partitions as a follower meets it. */
export interface TailedPartitionedMessage<Body> extends PartitionedMessage<Body> {
  /**
   * What this reader lost of its partition directly before it: `'gap'` and `'reset'` as in a page, `'undecodable'` where only a
   * message that the codec cannot read was passed over; else null.
   */
  readonly lostBefore: Lost
}

/** What a reader lost. */
export type Lost = 'gap' | 'reset' | 'undecodable' | null

const PAGE_WAIT = '30s'

/** What both kinds of options have. */
type AnyTailOptions<Found extends AnyEntry> = Omit<ReadOptions, 'wait' | 'lookThrough'> & {
  onUndecodable?: (message: Undecoded<Found>) => void
}

interface TailTerms<Found extends AnyEntry> {
  readonly partitions: Partitions<unknown>
  read(options: ReadOptions): Promise<EntryPage<Found>>
  /** Where to begin; without it `after` says so. */
  readonly begin?: (() => Promise<string>) | undefined
  /** Names of options. */
  readonly known: readonly string[]
}

/** The options of a tail that reads pages with these. */
export function tailOptions(ofPages: readonly string[]): string[] {
  return [...ofPages.filter((option) => option !== 'wait' && option !== 'lookThrough'), 'onUndecodable']
}

/**
 * Gives every message after `after` and then those that come, until the signal aborts, the instance closes or whoever reads
 * leaves: an outage only interrupts it.
 */
export function tail<Found extends AnyEntry>(
  terms: TailTerms<Found>,
  options: AnyTailOptions<Found>,
): AsyncGenerator<Readable<Found> & { readonly lostBefore: Lost }, void, undefined> {
  return new Leavable((signal) => follow(terms, options, signal), options?.signal)
}

async function* follow<Found extends AnyEntry>(
  { partitions, read, begin, known }: TailTerms<Found>,
  options: AnyTailOptions<Found>,
  signal: AbortSignal,
): AsyncGenerator<Readable<Found> & { readonly lostBefore: Lost }, void, undefined> {
  checkOptions('options', options, known)
  const { onUndecodable, ...others } = options
  const wanted = { ...others, signal }
  const tell = notifying('onUndecodable', onUndecodable)
  const { runner } = partitions.runtime
  // The end is asked for before it is waited there: behind an outage it would be another one.
  const begins = begin ?? (options.after === 'end' ? endsOf(partitions) : undefined)
  let after = begins === undefined ? options.after : await throughOutages(begins, runner, signal)
  const lost = new Map<number, Lost>()
  for (;;) {
    const asked = { ...wanted, ...(after === undefined ? {} : { after }), wait: PAGE_WAIT } as const
    const page = await throughOutages(() => read(asked), runner, signal)
    after = page.next
    for (const partition of page.gaps) if (lost.get(partition) !== 'reset') lost.set(partition, 'gap')
    for (const partition of page.resets) lost.set(partition, 'reset')
    for (const entry of page.entries) {
      throwIfOver(runner, signal)
      const { partition = 0 } = entry
      const lostBefore = lost.get(partition) ?? null
      if (isReadable(entry)) {
        yield { ...entry, lostBefore }
        lost.delete(partition)
      } else {
        lost.set(partition, lostBefore ?? 'undecodable')
        tell(entry as Undecoded<Found>)
      }
    }
  }
}

/**
 * Asks where the partitions end. What one has told stays while others are silent: what comes to it meanwhile is behind its end. Once all are
 * known that is where to begin.
 */
function endsOf(partitions: Partitions<unknown>): () => Promise<string> {
  const ends = new Map<number, string>()
  return async () => {
    const cursors = await partitions.map(async (source) => {
      const told = ends.get(source.partition) ?? (await endOf(source))
      const end = ends.get(source.partition) ?? told
      ends.set(source.partition, end)
      return end
    })
    return joinCursors(cursors, partitions.spread)
  }
}
