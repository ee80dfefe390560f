// Following all partitions: pages one after the other, and waiting at the end.

import { checkOptions } from '../runtime/arguments.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { throughOutages, throwIfOver } from '../runtime/through-outages.ts'
import type { PartitionedMessage } from './partition-message.ts'
import { type PartitionedPage, type PartitionedReadOptions, READ_OPTIONS } from './partition-reading.ts'

export interface PartitionedTailOptions extends Omit<PartitionedReadOptions, 'wait'> {}

/** A message as a follower meets it. */
export interface TailedPartitionedMessage<Body> extends PartitionedMessage<Body> {
  /** What its partition lost directly before it: `'gap'` and `'reset'` as in a page; else null. */
  readonly lostBefore: 'gap' | 'reset' | null
}

type Lost = TailedPartitionedMessage<unknown>['lostBefore']

const OPTIONS = READ_OPTIONS.filter((option) => option !== 'wait')
const PAGE_WAIT = '30s'

/**
 * Yields every message after `after` and then those that come, until the signal aborts, the instance closes or the loop
 * ends: an outage only interrupts it. `begin` says where to begin.
 */
export async function* tailPartitions<Body>(
  { runner }: Runtime,
  read: (options: PartitionedReadOptions) => Promise<PartitionedPage<Body>>,
  options: PartitionedTailOptions,
  begin?: () => Promise<string>,
): AsyncGenerator<TailedPartitionedMessage<Body>, void, undefined> {
  checkOptions('options', options, OPTIONS)
  const { signal } = options
  let after = begin === undefined ? options.after : await throughOutages(begin, runner, signal)
  const lost = new Map<number, Lost>()
  for (;;) {
    const asked = { ...options, ...(after === undefined ? {} : { after }), wait: PAGE_WAIT } as const
    const page = await throughOutages(() => read(asked), runner, signal)
    after = page.next
    for (const partition of page.gaps) lost.set(partition, lost.get(partition) ?? 'gap')
    for (const partition of page.resets) lost.set(partition, 'reset')
    for (const message of page.messages) {
      throwIfOver(runner, signal)
      yield { ...message, lostBefore: lost.get(message.partition) ?? null }
      lost.delete(message.partition)
    }
  }
}
