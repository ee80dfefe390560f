// Following a feed: pages one after the other, and waiting at the end.

import { checkOptions } from '../runtime/values/arguments.ts'
import { Leavable } from '../runtime/iteration/leavable.ts'
import { notifying } from '../runtime/errors/notifying.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { throughOutages, throwIfOver } from '../runtime/calls/through-outages.ts'
import { isReadable, type Message, type UndecodableMessage } from './message.ts'
import { type EntryPage, READ_OPTIONS, type ReadOptions } from './page.ts'

export interface TailOptions extends Omit<ReadOptions, 'wait' | 'lookThrough'> {
  /** Called with each message that the codec cannot read, in its place: it is passed over. */
  onUndecodable?: (message: UndecodableMessage) => void
}

/** A message as a follower meets it. */
export interface TailedMessage<Body> extends Message<Body> {
  /**
   * What this reader lost directly before this message: `'gap'` and `'reset'` as in a page, `'undecodable'` where only a message
   * that the codec cannot read was passed over; else null.
   */
  readonly lostBefore: Lost
}

/** What a reader lost. */
export type Lost = 'gap' | 'reset' | 'undecodable' | null

const OPTIONS = [
  ...READ_OPTIONS.filter((option) => option !== 'wait' && option !== 'lookThrough'),
  'onUndecodable',
]
const PAGE_WAIT = '30s'

interface TailTerms<Body> {
  readonly runtime: Runtime
  read(options: ReadOptions): Promise<EntryPage<Body>>
  /** Where to begin; without it `after` says so. */
  begin?(): Promise<string>
  /** Names of options. */
  readonly known?: readonly string[]
}

/**
 * Gives every message after `after` and then those that come, until the signal aborts, the instance closes or whoever reads
 * leaves: an outage only interrupts it.
 */
export function tail<Body>(
  terms: TailTerms<Body>,
  options: TailOptions,
): AsyncGenerator<TailedMessage<Body>, void, undefined> {
  return new Leavable((signal) => follow(terms, options, signal), options?.signal)
}

async function* follow<Body>(
  { runtime: { runner }, read, begin, known = OPTIONS }: TailTerms<Body>,
  options: TailOptions,
  signal: AbortSignal,
): AsyncGenerator<TailedMessage<Body>, void, undefined> {
  checkOptions('options', options, known)
  const { onUndecodable = () => undefined, ...others } = options
  const wanted = { ...others, signal }
  const tell = notifying(onUndecodable)
  let after = begin === undefined ? options.after : await throughOutages(begin, runner, signal)
  let lostBefore: Lost = null
  for (;;) {
    // The end is asked for before it is waited there: behind an outage it would be another one.
    const wait = after === 'end' ? '0ms' : PAGE_WAIT
    const asked = { ...wanted, ...(after === undefined ? {} : { after }), wait } as const
    const page = await throughOutages(() => read(asked), runner, signal)
    after = page.next
    if (page.reset) lostBefore = 'reset'
    else if (page.gap && lostBefore !== 'reset') lostBefore = 'gap'
    for (const entry of page.entries) {
      throwIfOver(runner, signal)
      if (isReadable(entry)) {
        yield { ...entry, lostBefore }
        lostBefore = null
      } else {
        lostBefore ??= 'undecodable'
        tell(entry)
      }
    }
  }
}
