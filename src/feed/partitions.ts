// The partitions of one feed: units of their own, each in a slot of its own. How many there are is agreed upon by all who use
// it: src/runtime/partitions/agreement.ts.

import { agree, disband, propose } from '../generated/feed.ts'
import { Agreement } from '../runtime/partitions/agreement.ts'
import { codecOr, json } from '../runtime/values/codec.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { checkName } from '../runtime/values/keys.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { Unit } from '../runtime/connection/unit.ts'
import { Feed, type FeedOptions } from './feed.ts'
import type { Source } from './message.ts'

const SINCE = '6.2.0'

/** One partition: a feed in a slot of its own. */
export interface Partition<Body> {
  readonly number: number
  readonly source: Source<Body>
  readonly feed: Feed<Body>
}

export class PartitionSet<Body> {
  readonly runtime: Runtime
  readonly name: string
  readonly all: readonly Partition<Body>[]
  readonly agreement: Agreement
  readonly #beside: 'dead' | undefined

  /** `beside`: the unit beside each partition's own, such as that of its dead letters. */
  constructor(runtime: Runtime, name: string, count: number, options: FeedOptions<Body>, beside?: 'dead') {
    this.runtime = runtime
    this.name = checkName('name', name)
    const codec = codecOr(options.codec, json<Body>)
    const place = { structure: 'feed', name: this.name, since: SINCE }
    const agreement = new Agreement(new Unit(runtime, place), count, { propose, agree, disband })
    this.agreement = agreement
    this.#beside = beside
    this.all = Array.from({ length: count }, (_, number) => {
      const main = new Unit(runtime, { ...place, unit: String(number) })
      const unit = beside === undefined ? main : main.beside(beside)
      const feed = new Feed(runtime, this.name, { ...options, codec }, { unit, agreement })
      return { number, source: { unit, codec, spread: count, agreement }, feed }
    })
  }

  get count(): number {
    return this.all.length
  }

  get channels(): string[] {
    return this.all.map(({ source }) => source.unit.channel)
  }

  at(number: number): Partition<Body> {
    const partition = Number.isInteger(number) ? this.all[number] : undefined
    if (partition === undefined) {
      throw new InvalidArgumentError('partition', `must be a whole number from 0 to ${this.count - 1}`)
    }
    return partition
  }

  /** Calls every partition at once; the results in the order of the partitions. */
  map<Value>(call: (partition: Partition<Body>) => Promise<Value>): Promise<Value[]> {
    return Promise.all(this.all.map(call))
  }

  /** Deletes every partition. Resolves to false when there was nothing. Throws InvalidArgumentError. */
  async clear(): Promise<boolean> {
    const clearAll = (): Promise<boolean[]> => this.map(({ feed }) => feed.clear())
    if (this.#beside === undefined) return this.agreement.clear(clearAll)
    await this.agreement.check()
    return (await clearAll()).includes(true)
  }
}
