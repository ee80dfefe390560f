// Follows a feed: reads page after page, and waits at the end.

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
  /** Called in order with each message that the codec cannot decode; the tail skips it. Default: none. */
  onUndecodable?: (message: UndecodableMessage) => void
}

export interface PartitionedTailOptions extends Omit<PartitionedReadOptions, 'wait'> {
  /** Called in order with each message that the codec cannot decode; the tail skips it. Default: none. */
  onUndecodable?: (message: UndecodablePartitionedMessage) => void
}

/** A message of a tail. */
export interface TailedMessage<Body> extends Message<Body> {
  /**
   * What this reader missed directly before this message: `'gap'` or `'reset'` as in a page, `'undecodable'` when
   * only an undecodable message was skipped, else null.
   */
  readonly lostBefore: Lost
}

/** A message of a tail of a feed in partitions. */
export interface TailedPartitionedMessage<Body> extends PartitionedMessage<Body> {
  /**
   * What this reader missed of its partition directly before this message: `'gap'` or `'reset'` as in a page,
   * `'undecodable'` when only an undecodable message was skipped, else null.
   */
  readonly lostBefore: Lost
}

/** What a reader missed. */
export type Lost = 'gap' | 'reset' | 'undecodable' | null

const PAGE_WAIT = '30s'

/** The common options of both kinds of feeds. */
type AnyTailOptions<Found extends AnyEntry> = Omit<ReadOptions, 'wait' | 'lookThrough'> & {
  onUndecodable?: (message: Undecoded<Found>) => void
}

interface TailTerms<Found extends AnyEntry> {
  readonly partitions: Partitions<unknown>
  read(options: ReadOptions): Promise<EntryPage<Found>>
  /** Resolves to the start; without it `after` is the start. */
  readonly begin?: (() => Promise<string>) | undefined
  /** The option names. */
  readonly known: readonly string[]
}

/** The option names of a tail, from those of its pages. */
export function tailOptions(ofPages: readonly string[]): string[] {
  return [...ofPages.filter((option) => option !== 'wait' && option !== 'lookThrough'), 'onUndecodable']
}

/**
 * Yields every message after `after` and then each new one, until the signal aborts, the instance closes or the
 * reader leaves. An outage only interrupts it.
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
  const notify = notifying('onUndecodable', onUndecodable)
  const { runner } = partitions.runtime
  // The end is read before the first wait, because after an outage it would be another one.
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
        notify(entry as Undecoded<Found>)
      }
    }
  }
}

/**
 * Reads the ends of the partitions. The first answer of a partition stays valid while others do not answer, so that
 * no message appended meanwhile is missed. When all ends are known, reading begins there.
 */
function endsOf(partitions: Partitions<unknown>): () => Promise<string> {
  const ends = new Map<number, string>()
  return async () => {
    const cursors = await partitions.map(async (source) => {
      const known = ends.get(source.partition) ?? (await endOf(source))
      const end = ends.get(source.partition) ?? known
      ends.set(source.partition, end)
      return end
    })
    return joinCursors(cursors, partitions.spread)
  }
}
