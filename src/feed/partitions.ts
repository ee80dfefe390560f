// The partitions of one feed: separate units, each in its own slot. All handles must use the same partition count,
// which src/runtime/partitions/agreement.ts checks. A feed without partitions has one unit and no count to check.

import { agree, clear, disband, propose } from '../generated/feed.ts'
import type { Trace } from '../runtime/calls/runner.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { Unit } from '../runtime/connection/unit.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { Agreement } from '../runtime/partitions/agreement.ts'
import { type Codec, codecOr, json } from '../runtime/values/codec.ts'

/** One partition of a feed, or a feed without partitions. */
export interface FeedSource<Body> {
  readonly unit: Unit
  readonly codec: Codec<Body>
  /** The partition count, for scripts; 0: a feed without partitions. */
  readonly spread: number
  /** Checks that all handles use the same count; null without partitions. */
  readonly agreement: Agreement | null
  /** The index of this partition; 0 without partitions. */
  readonly partition: number
}

const FEED = { structure: 'feed', since: '6.2.0' }

export class Partitions<Body> {
  readonly all: readonly FeedSource<Body>[]
  readonly agreement: Agreement | null
  /** The channels that announce a change in any partition. */
  readonly channel: string | readonly string[]

  constructor(units: readonly Unit[], codec: Codec<Body> | undefined, agreement: Agreement | null = null) {
    const known = codecOr(codec, json<Body>)
    const spread = agreement?.partitions ?? 0
    this.all = units.map((unit, partition) => ({ unit, codec: known, spread, agreement, partition }))
    this.agreement = agreement
    this.channel = agreement === null ? this.first.unit.channel : units.map(({ channel }) => channel)
  }

  get first(): FeedSource<Body> {
    return this.all[0] as FeedSource<Body>
  }

  /** The partition count; 0: a feed without partitions. */
  get spread(): number {
    return this.first.spread
  }

  get runtime(): Runtime {
    return this.first.unit.runtime
  }

  at(number: number | undefined): FeedSource<Body> {
    const source = number !== undefined && Number.isInteger(number) ? this.all[number] : undefined
    if (source === undefined) {
      throw new InvalidArgumentError('partition', `must be a whole number from 0 to ${this.all.length - 1}`)
    }
    return source
  }

  /** Calls every partition at once; resolves to the results in the order of the partitions. */
  map<Value>(call: (source: FeedSource<Body>) => Promise<Value>): Promise<Value[]> {
    return Promise.all(this.all.map(call))
  }

  /** Deletes every partition. Resolves to false when the feed did not exist. Throws InvalidArgumentError. */
  async clear(): Promise<boolean> {
    const clearAll = (): Promise<boolean[]> => this.map(({ unit }) => clearUnit(unit))
    const { agreement, first } = this
    if (agreement !== null && first.unit.place.beside === undefined) return agreement.clear(clearAll)
    await agreement?.check()
    return (await clearAll()).includes(true)
  }
}

async function clearUnit(unit: Unit): Promise<boolean> {
  const beginnings = [unit.beginning, unit.beside('dead').beginning]
  const args = { channel: unit.channel, sharded: unit.sharded }
  const clearBoth = (trace: Trace) => unit.run(clear, args, trace)
  const { existed } = await unit.runtime.clearings.run(beginnings, clearBoth)
  return existed
}

/** The unit of a feed without partitions. */
export function feedUnit(runtime: Runtime, name: string): Unit {
  return new Unit(runtime, { ...FEED, name })
}

/** `beside`: uses the adjacent unit of each partition, such as that of its dead letters. */
export function spreadOver<Body>(
  home: Unit,
  count: number,
  codec: Codec<Body> | undefined,
  beside?: 'dead',
): Partitions<Body> {
  const { runtime, place } = home
  const units = Array.from({ length: count }, (_, number) => {
    const main = new Unit(runtime, { ...place, unit: String(number) })
    return beside === undefined ? main : main.beside(beside)
  })
  return new Partitions(units, codec, new Agreement(home, count, { propose, agree, disband }))
}

/** The shortest of some delays; 0 means never. */
export function soonest(times: readonly number[]): number {
  const some = times.filter((ms) => ms > 0)
  return some.length === 0 ? 0 : Math.min(...some)
}
