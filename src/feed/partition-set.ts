// The partitions of one feed: units of their own, each in a slot of its own. How many there are is part of
// the codec's name, which every partition stores and every script checks: two processes that disagree about
// it cannot both use a partition.
//
//   A partition that has no data yet knows no codec. So partition 0 is made before anything is appended, and
//   again whenever an append began a partition; it stays until the feed is cleared. Whoever reads or claims
//   asks partition 0 too, and is refused if it thinks of another number.

import { setImmediate } from 'node:timers/promises'
import { forget, get, subscribe } from '../generated/feed.ts'
import { type Codec, json } from '../runtime/codec.ts'
import { InvalidArgumentError } from '../runtime/errors.ts'
import { checkName } from '../runtime/keys.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { Unit } from '../runtime/unit.ts'
import { Feed, type FeedOptions } from './feed.ts'
import type { Source } from './message.ts'

const SINCE = '6.2.0'
// Users cannot name a subscriber so.
const NOBODY = ''

/** One partition: a feed in a slot of its own. */
export interface Partition<Body> {
  readonly number: number
  readonly source: Source<Body>
  readonly feed: Feed<Body>
}

export class PartitionSet<Body> {
  readonly name: string
  readonly all: readonly Partition<Body>[]
  /** Partition 0, also when these are the partitions of the dead letters. */
  readonly #first: Source<Body>
  #established: Promise<void> | null = null
  #again: Promise<void> | null = null

  /** `beside`: the unit beside each partition's own, such as that of its dead letters. */
  constructor(runtime: Runtime, name: string, count: number, options: FeedOptions<Body>, beside?: 'dead') {
    this.name = checkName('name', name)
    const codec = inPartitions(options.codec ?? json<Body>(), count)
    const place = { structure: 'feed', name: this.name, since: SINCE }
    this.all = Array.from({ length: count }, (_, number) => {
      const main = new Unit(runtime, { ...place, unit: String(number) })
      const unit = beside === undefined ? main : main.beside(beside)
      const feed = new Feed(runtime, this.name, { ...options, codec }, unit)
      return { number, source: { unit, codec }, feed }
    })
    this.#first = { unit: new Unit(runtime, { ...place, unit: '0' }), codec }
  }

  get count(): number {
    return this.all.length
  }

  get channels(): string[] {
    return this.all.map(({ source }) => source.unit.channel)
  }

  at(number: number): Partition<Body> {
    const partition = this.all[number]
    if (partition === undefined) {
      throw new InvalidArgumentError('partition', `must be a whole number from 0 to ${this.count - 1}`)
    }
    return partition
  }

  /** Calls every partition at once; the results in the order of the partitions. */
  map<Value>(call: (partition: Partition<Body>) => Promise<Value>): Promise<Value[]> {
    return Promise.all(this.all.map(call))
  }

  /** Throws InvalidArgumentError when the feed has another number of partitions. */
  async check(): Promise<void> {
    const { unit, codec } = this.#first
    await unit.run(get, { codec: codec.name, ids: [1] })
  }

  /** As `check`, and makes sure that the number stays known. Asks once. */
  async establish(): Promise<void> {
    await (this.#established ?? this.#establish())
  }

  /** As `establish`, but asks again. All calls of one tick ask together. */
  async establishAgain(): Promise<void> {
    this.#again ??= setImmediate().then(() => {
      // Asked for from here on: too late for this one.
      this.#again = null
      return this.#establish()
    })
    await this.#again
  }

  /** Deletes every partition. Resolves to false when there was nothing. */
  async clear(): Promise<boolean> {
    const [first, ...others] = this.all.map(({ feed }) => feed)
    const cleared = await Promise.all(others.map((feed) => feed.clear()))
    // Partition 0 last, so that an interrupted clear leaves the number known. Whoever began a partition in
    // between has relied on it: once more.
    cleared.push((await first?.clear()) ?? false)
    cleared.push(...(await Promise.all(others.map((feed) => feed.clear()))))
    this.#established = null
    return cleared.includes(true)
  }

  #establish(): Promise<void> {
    const establishing = this.#ask()
    this.#established = establishing
    establishing.catch(() => {
      if (this.#established === establishing) this.#established = null
    })
    return establishing
  }

  // A feed that has had a subscriber does not vanish by itself any more.
  async #ask(): Promise<void> {
    const { unit, codec } = this.#first
    await unit.run(subscribe, { codec: codec.name, name: NOBODY, from: 'end', protected: false })
    await unit.run(forget, { name: NOBODY })
  }
}

function inPartitions<Body>(codec: Codec<Body>, count: number): Codec<Body> {
  return {
    name: `${codec.name} in ${count} partitions`,
    encode: (body) => codec.encode(body),
    decode: (bytes) => codec.decode(bytes),
  }
}
