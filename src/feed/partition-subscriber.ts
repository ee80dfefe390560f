import { checkOptions } from '../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { abortable } from '../runtime/time/in-time.ts'
import { composeMarker, parseMarker } from './marker.ts'
import {
  type PartitionedEntryPage,
  type PartitionedPage,
  type PartitionedReadOptions,
  READ_OPTIONS,
  toPartitionedPage,
} from './merged-page.ts'
import type { PartitionSet } from './partitions.ts'
import {
  type PartitionedTailOptions,
  type TailedPartitionedMessage,
  tailPartitions,
} from './partition-tail.ts'
import {
  ADVANCE_OPTIONS,
  type AdvanceOptions,
  type Subscriber,
  type SubscriberOptions,
} from './subscriber.ts'

const PAGE_OPTIONS = READ_OPTIONS.filter((option) => option !== 'after')
const TAIL_OPTIONS = [...PAGE_OPTIONS.filter((option) => option !== 'wait'), 'onUndecodable']

/**
 * A reader whose position is kept with each partition.
 * Reading moves nothing; `advance` does. In each partition the position only moves forward, by itself: one
 * advance is a step in every partition, not one step in all of them.
 */
export class PartitionedSubscriber<Body> {
  readonly name: string
  readonly #partitions: PartitionSet<Body>
  readonly #read: (options: PartitionedReadOptions) => Promise<PartitionedEntryPage<Body>>
  readonly #subscribers: readonly Subscriber<Body>[]
  /** What each partition has stored, as far as this handle knows. */
  #known: readonly string[] = []

  constructor(
    partitions: PartitionSet<Body>,
    name: string,
    read: (options: PartitionedReadOptions) => Promise<PartitionedEntryPage<Body>>,
    { from, ...options }: SubscriberOptions,
  ) {
    const markers = from === undefined ? [] : parseMarker('from', from, partitions.count)
    this.name = name
    this.#partitions = partitions
    this.#read = read
    this.#subscribers = partitions.all.map(({ number, feed }) => {
      const marker = markers[number]
      return feed.subscriber(name, marker === undefined ? options : { ...options, from: marker })
    })
  }

  /** The stored marker. The first call makes the subscriber. */
  async marker(): Promise<string> {
    this.#known = await Promise.all(this.#subscribers.map((subscriber) => subscriber.marker()))
    return composeMarker(this.#known)
  }

  /**
   * Yields every message after the stored marker, then those that come, also after an outage. Throws the signal's reason,
   * and what no retry would change.
   */
  read(options: Omit<PartitionedTailOptions, 'after'> = {}): AsyncGenerator<TailedPartitionedMessage<Body>> {
    const begin = (): Promise<string> => this.marker()
    const terms = { partitions: this.#partitions, read: this.#read, begin, known: TAIL_OPTIONS }
    return tailPartitions(terms, options)
  }

  /** One page after the stored marker. */
  async page(options: Omit<PartitionedReadOptions, 'after'> = {}): Promise<PartitionedPage<Body>> {
    checkOptions('options', options, PAGE_OPTIONS)
    const after = await abortable(() => this.marker(), options.signal)
    return toPartitionedPage(await this.#read({ ...options, after }))
  }

  /**
   * Stores a marker; everything up to it is dealt with. Resolves to the marker now stored, which is a later one where another
   * process was faster, or null when the subscriber has been removed from a partition. A step forward is one of those
   * partitions only where the marker is another than this handle knows of, and tells of the others what it knows. An error may
   * leave some partitions advanced; repeating it is safe.
   */
  async advance(marker: string | null, options: AdvanceOptions = {}): Promise<string | null> {
    checkOptions('options', options, ADVANCE_OPTIONS)
    const { rewind = false } = options
    if (marker === null || marker === 'end') {
      throw new InvalidArgumentError('marker', 'must be the marker of a message on a page, or of a page')
    }
    const wanted = parseMarker('marker', marker, this.#partitions.count)
    const known = this.#known
    // Others may have moved what this handle has stored: a step back, or one that goes nowhere, is told everywhere.
    const isEverywhere = rewind || wanted.every((to, number) => to === known[number])
    const stored = await Promise.all(
      this.#subscribers.map(async (subscriber, number) => {
        const to = wanted[number] ?? ''
        return to === known[number] && !isEverywhere ? to : subscriber.advance(to, { rewind })
      }),
    )
    if (stored.includes(null)) {
      this.#known = []
      return null
    }
    this.#known = stored.map(String)
    return composeMarker(this.#known)
  }

  /** Removes the subscriber from every partition. Resolves to false when there was none. */
  async forget(): Promise<boolean> {
    this.#known = []
    const forgotten = await Promise.all(this.#subscribers.map((subscriber) => subscriber.forget()))
    return forgotten.includes(true)
  }
}
