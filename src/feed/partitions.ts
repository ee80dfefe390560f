// The partitions of one feed: units of their own, each in a slot of its own. How many there are is agreed upon by all who use
// it: src/runtime/partitions/agreement.ts. A feed that is not spread has one, and nothing to agree upon.

import { agree, clear, disband, propose } from '../generated/feed.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { Unit } from '../runtime/connection/unit.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { Agreement } from '../runtime/partitions/agreement.ts'
import { type Codec, codecOr, json } from '../runtime/values/codec.ts'

/** One partition of a feed, or a feed that is not spread: what its parts share. */
export interface FeedSource<Body> {
  readonly unit: Unit
  readonly codec: Codec<Body>
  /** Over how many partitions the feed is spread, for scripts; 0: it is not. */
  readonly spread: number
  /** That number, as all have to say it; null: the feed has none. */
  readonly agreement: Agreement | null
  /** Which of them this is; 0 where the feed is not spread. */
  readonly partition: number
}

const FEED = { structure: 'feed', since: '6.2.0' }

export class Partitions<Body> {
  readonly all: readonly FeedSource<Body>[]
  readonly agreement: Agreement | null
  /** Where those listen who wait for a change in any of them. */
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

  /** How many there are; 0: the feed is not spread. */
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

  /** Calls every partition at once; the results in the order of the partitions. */
  map<Value>(call: (source: FeedSource<Body>) => Promise<Value>): Promise<Value[]> {
    return Promise.all(this.all.map(call))
  }

  /** Deletes every partition. Resolves to false when there was nothing. Throws InvalidArgumentError. */
  async clear(): Promise<boolean> {
    const clearAll = (): Promise<boolean[]> => this.map(({ unit }) => clearUnit(unit))
    const { agreement, first } = this
    if (agreement !== null && first.unit.place.beside === undefined) return agreement.clear(clearAll)
    await agreement?.check()
    return (await clearAll()).includes(true)
  }
}

async function clearUnit(unit: Unit): Promise<boolean> {
  const { clearings } = unit.runtime
  const clearIt = () => unit.run(clear, { channel: unit.channel, sharded: unit.sharded })
  const clearAll = () => clearings.run(unit.beside('dead').beginning, clearIt)
  const { existed } = await clearings.run(unit.beginning, clearAll)
  return existed
}

/** The unit of a feed that is not spread. */
export function feedUnit(runtime: Runtime, name: string): Unit {
  return new Unit(runtime, { ...FEED, name })
}

/** `beside`: the unit beside each partition's own, such as that of its dead letters. */
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

/** The shortest of some times, where 0 is never. */
export function soonest(times: readonly number[]): number {
  const some = times.filter((ms) => ms > 0)
  return some.length === 0 ? 0 : Math.min(...some)
}
