import { advance, forget, subscribe } from '../generated/feed.ts'
import { inUse } from '../runtime/partitions/agreement.ts'
import { checkOptions } from '../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { abortable } from '../runtime/time/in-time.ts'
import { checkMarker, type Source } from './message.ts'
import { type EntryPage, type Page, READ_OPTIONS, type ReadOptions, toPage } from './page.ts'
import { type TailedMessage, type TailOptions, tail } from './tail.ts'

export interface SubscriberOptions {
  /** Where a new subscriber begins: a marker, `'end'`, or by default the oldest message. */
  from?: string
  /** True keeps retention from removing what this subscriber has not passed; default false. Stays until `forget`. */
  protect?: boolean
}

export interface AdvanceOptions {
  /** True lets the subscriber move back; default false: it only moves forward. */
  rewind?: boolean
}

export const ADVANCE_OPTIONS = ['rewind'] as const
const PAGE_OPTIONS = READ_OPTIONS.filter((option) => option !== 'after')
const TAIL_OPTIONS = [
  ...PAGE_OPTIONS.filter((option) => option !== 'wait' && option !== 'lookThrough'),
  'onUndecodable',
]

/**
 * A reader whose marker is kept with the feed.
 * Reading moves nothing; `advance` does, once the messages up to there are dealt with.
 */
export class Subscriber<Body> {
  readonly name: string
  readonly #source: Source<Body>
  readonly #read: (options: ReadOptions) => Promise<EntryPage<Body>>
  readonly #from: string
  readonly #protected: boolean

  constructor(
    source: Source<Body>,
    name: string,
    read: (options: ReadOptions) => Promise<EntryPage<Body>>,
    { from, protect = false }: SubscriberOptions,
  ) {
    this.name = name
    this.#source = source
    this.#read = read
    this.#from = from === undefined ? '' : checkMarker('from', from)
    this.#protected = protect
  }

  /** The stored marker. The first call makes the subscriber. */
  async marker(): Promise<string> {
    const { unit, codec, spread: partitions } = this.#source
    const wanted = { name: this.name, from: this.#from, protected: this.#protected }
    const { marker } = await inUse(this.#source, (proof) =>
      unit.run(subscribe, { codec: codec.name, partitions, proof, ...wanted }),
    )
    return marker
  }

  /**
   * Yields every message after the stored marker, then those that come, also after an outage. Throws the signal's reason,
   * and what no retry would change.
   */
  read(options: Omit<TailOptions, 'after'> = {}): AsyncGenerator<TailedMessage<Body>> {
    const { runtime } = this.#source.unit
    return tail({ runtime, read: this.#read, begin: () => this.marker(), known: TAIL_OPTIONS }, options)
  }

  /** One page after the stored marker. */
  async page(options: Omit<ReadOptions, 'after'> = {}): Promise<Page<Body>> {
    checkOptions('options', options, PAGE_OPTIONS)
    const after = await abortable(() => this.marker(), options.signal)
    return toPage(await this.#read({ ...options, after }))
  }

  /**
   * Stores a marker; everything up to it is dealt with. Resolves to the marker now stored, which is a
   * later one when another process was faster, or null when subscriber or feed have been removed.
   */
  async advance(marker: string | null, options: AdvanceOptions = {}): Promise<string | null> {
    checkOptions('options', options, ADVANCE_OPTIONS)
    const { rewind = false } = options
    if (marker === null || marker === 'end') {
      throw new InvalidArgumentError('marker', 'must be the marker of a visible message or page')
    }
    const to = checkMarker('marker', marker)
    const answer = await this.#source.unit.run(advance, { name: this.name, to, rewind })
    return answer.status === 'absent' ? null : answer.marker
  }

  /** Removes the subscriber. Resolves to false when there was none. */
  async forget(): Promise<boolean> {
    const answer = await this.#source.unit.run(forget, { name: this.name })
    return answer.status === 'forgotten'
  }
}
