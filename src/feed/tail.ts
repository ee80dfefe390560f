// Following a feed: pages one after the other, and waiting at the end.

import { checkOptions } from '../runtime/arguments.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { throughOutages, throwIfOver } from '../runtime/through-outages.ts'
import type { Message } from './message.ts'
import { type Page, READ_OPTIONS, type ReadOptions } from './reading.ts'

export interface TailOptions extends Omit<ReadOptions, 'wait' | 'lookThrough'> {}

/** A message as a follower meets it. */
export interface TailedMessage<Body> extends Message<Body> {
  /** What was lost directly before this message: `'gap'` and `'reset'` as in a page; else null. */
  readonly lostBefore: 'gap' | 'reset' | null
}

const OPTIONS = READ_OPTIONS.filter((option) => option !== 'wait' && option !== 'lookThrough')
const PAGE_WAIT = '30s'

/**
 * Yields every message after `after` and then those that come, until the signal aborts, the instance closes or the loop
 * ends: an outage only interrupts it. `begin` says where to begin.
 */
export async function* tail<Body>(
  { runner }: Runtime,
  read: (options: ReadOptions) => Promise<Page<Body>>,
  options: TailOptions,
  begin?: () => Promise<string>,
): AsyncGenerator<TailedMessage<Body>, void, undefined> {
  checkOptions('options', options, OPTIONS)
  const { signal } = options
  let after = begin === undefined ? options.after : await throughOutages(begin, runner, signal)
  let lostBefore: TailedMessage<Body>['lostBefore'] = null
  for (;;) {
    const asked = { ...options, ...(after === undefined ? {} : { after }), wait: PAGE_WAIT } as const
    const page = await throughOutages(() => read(asked), runner, signal)
    after = page.next
    if (page.reset) lostBefore = 'reset'
    else if (page.gap) lostBefore ??= 'gap'
    for (const message of page.messages) {
      throwIfOver(runner, signal)
      yield { ...message, lostBefore }
      lostBefore = null
    }
  }
}
