// Following all partitions: pages one after the other, and waiting at the end.

import { checkOptions } from '../runtime/values/arguments.ts'
import { Leavable } from '../runtime/iteration/leavable.ts'
import { notifying } from '../runtime/errors/notifying.ts'
import { throughOutages, throwIfOver } from '../runtime/calls/through-outages.ts'
import { isReadable } from './message.ts'
import { composeMarker } from './marker.ts'
import type { PartitionedMessage, UndecodablePartitionedMessage } from './partition-message.ts'
import { type PartitionedEntryPage, type PartitionedReadOptions, READ_OPTIONS } from './merged-page.ts'
import type { PartitionSet } from './partitions.ts'
import type { Lost } from './tail.ts'

export interface PartitionedTailOptions extends Omit<PartitionedReadOptions, 'wait'> {
  /** Called with each message that the codec cannot read, in its place: it is passed over. */
  onUndecodable?: (message: UndecodablePartitionedMessage) => void
}

/** A message as a follower meets it. */
export interface TailedPartitionedMessage<Body> extends PartitionedMessage<Body> {
  /**
   * What this reader lost of its partition directly before it: `'gap'` and `'reset'` as in a page, `'undecodable'` where only a
   * message that the codec cannot read was passed over; else null.
   */
  readonly lostBefore: Lost
}

const OPTIONS = [...READ_OPTIONS.filter((option) => option !== 'wait'), 'onUndecodable']
const PAGE_WAIT = '30s'

interface TailTerms<Body> {
  readonly partitions: PartitionSet<Body>
  read(options: PartitionedReadOptions): Promise<PartitionedEntryPage<Body>>
  /** Where to begin; without it `after` says so. */
  begin?(): Promise<string>
  /** Names of options. */
  readonly known?: readonly string[]
}

/**
 * Gives every message after `after` and then those that come, until the signal aborts, the instance closes or whoever reads
 * leaves: an outage only interrupts it.
 */
export function tailPartitions<Body>(
  terms: TailTerms<Body>,
  options: PartitionedTailOptions,
): AsyncGenerator<TailedPartitionedMessage<Body>, void, undefined> {
  return new Leavable((signal) => follow(terms, options, signal), options?.signal)
}

async function* follow<Body>(
  { partitions, read, begin, known = OPTIONS }: TailTerms<Body>,
  options: PartitionedTailOptions,
  signal: AbortSignal,
): AsyncGenerator<TailedPartitionedMessage<Body>, void, undefined> {
  checkOptions('options', options, known)
  const { onUndecodable = () => undefined, ...others } = options
  const wanted = { ...others, signal }
  const tell = notifying(onUndecodable)
  const { runner } = partitions.runtime
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
      const { partition } = entry
      if (isReadable(entry)) {
        yield { ...entry, lostBefore: lost.get(partition) ?? null }
        lost.delete(partition)
      } else {
        lost.set(partition, lost.get(partition) ?? 'undecodable')
        tell(entry)
      }
    }
  }
}

/**
 * Asks where the partitions end. What one has told stays while others are silent: what comes to it meanwhile is behind its end. Once all are
 * known that is where to begin.
 */
function endsOf<Body>(partitions: PartitionSet<Body>): () => Promise<string> {
  const ends = new Map<number, string>()
  return async () => {
    const markers = await partitions.map(async ({ number, feed }) => {
      const told = ends.get(number) ?? (await feed.read({ after: 'end' })).next
      const end = ends.get(number) ?? told
      ends.set(number, end)
      return end
    })
    return composeMarker(markers)
  }
}
