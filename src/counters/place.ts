// Where in SQL counters are: the first process that uses the name decides, and any other place is refused. Two places
// under one name would share a ledger or a cursor, or one of them would have rows that no process counts.

import { agree, disband, keepPlace } from '../generated/counters.ts'
import type { Trace } from '../runtime/calls/runner.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import { isOutage } from '../runtime/errors/outage.ts'
import { PartitionNumber } from '../runtime/partitions/partition-number.ts'
import { PATIENCE_MS } from '../runtime/time/in-turn.ts'
import { SinkError } from './errors.ts'
import { OneAtATime, sinkInTime } from './sink-calls.ts'

/** What names its own place. Both texts are the same in all processes; '' if unknown. Both throw SinkError. */
export interface Placed {
  /** Database and schema. */
  location?(): Promise<string>
  /** Tables and columns. */
  tableNames?(): Promise<string>
}

interface Place {
  readonly location: string
  readonly target: string
}

/** How long a call that should not depend on Redis relies on a comparison: another process may clear the counters. */
const COMPARED_FOR_MS = 10_000

export class CountersPlace {
  readonly #name: string
  readonly #home: Unit
  readonly #partitions: readonly Unit[]
  readonly #placed: Placed
  /** Whether this process has learnt that its place is the right one. */
  #isAgreed = false
  #comparedAt = -Infinity

  /** `home`: the unit of the name itself. */
  constructor(name: string, home: Unit, partitions: readonly Unit[], placed: Placed) {
    this.#name = name
    this.#home = home
    this.#partitions = partitions
    this.#placed = placed
  }

  /** Whether the last comparison is too long ago for a call that does not compare each time. */
  get isDue(): boolean {
    return performance.now() - this.#comparedAt >= COMPARED_FOR_MS
  }

  /**
   * Call this before anything is written to SQL, or read from it to be shown. Throws SinkError for another place than
   * that of the counters; and DriverError, unless an earlier call of this process has been answered. `patienceMs`: how
   * long Redis may take.
   */
  async ensure(by: number, patienceMs: number = Infinity): Promise<void> {
    const { deadlines } = this.#home.runtime.runner
    const here = await sinkInTime(this.#here(), by, deadlines)
    if (here.location === '' && here.target === '') return this.remember()
    const until = Math.min(by, performance.now() + (this.#isAgreed ? PATIENCE_MS : patienceMs))
    try {
      await this.#compare(here, until)
    } catch (error) {
      if (error instanceof SinkError) this.forget()
      if (!this.#isAgreed || !isOutage(error)) throw error
    }
    this.remember()
  }

  /** Until the next comparison this place is the right one. */
  remember(): void {
    this.#isAgreed = true
    this.#comparedAt = performance.now()
  }

  /** The counters were cleared, or may have been: another place may be the right one now. */
  forget(): void {
    this.#isAgreed = false
    this.#comparedAt = -Infinity
  }

  /** When the place of the counters was last stored, for `disband`. */
  async storedUs(): Promise<string> {
    const answer = await this.#home.run(keepPlace, { location: '', target: '', begin: false })
    return answer.status === 'agreed' ? answer.agreedUs : ''
  }

  /** Builds without a note of this place have the location in each partition. */
  async #compare(here: Place, by: number): Promise<void> {
    const known = await this.#ask(this.#home, here, false, by)
    if (known === 'agreed') return
    await Promise.all(this.#partitions.map((partition) => this.#ask(partition, here, false, by)))
    await this.#ask(this.#home, here, true, by)
  }

  async #ask(unit: Unit, here: Place, begin: boolean, by: number): Promise<'agreed' | 'unknown'> {
    const answer = await unit.run(keepPlace, { ...here, begin }, { by })
    if (answer.status === 'elsewhere') throw elsewhere(this.#name, answer, here)
    return answer.status
  }

  async #here(): Promise<Place> {
    const location = (await this.#placed.location?.()) ?? ''
    return { location, target: (await this.#placed.tableNames?.()) ?? '' }
  }
}

/** The partition count, which is agreed together with the place. */
export class PlacedNumber extends PartitionNumber {
  readonly place: CountersPlace
  readonly #home: Unit

  constructor(home: Unit, partitions: number, place: CountersPlace) {
    super(home, partitions, { agree, disband })
    this.place = place
    this.#home = home
  }

  override async agree(by?: number, atClose?: Trace['atClose']): Promise<void> {
    await this.place.ensure(by ?? performance.now() + this.#home.runtime.runner.deadlineMs)
    await super.agree(by, atClose)
  }

  override async ensure(by: number): Promise<void> {
    await Promise.all([this.place.ensure(by), super.ensure(by)])
  }

  /** Without a partition count that is agreed, the place is still forgotten, unless it was stored again since. */
  override async clear(all: () => Promise<readonly boolean[]>): Promise<boolean> {
    const agreedUs = await this.place.storedUs()
    try {
      const existed = await super.clear(all)
      await this.#home.run(disband, { agreedUs })
      return existed
    } finally {
      this.place.forget()
    }
  }
}

/** The batches of a partition: one at a time, and none before the place is known to be that of its epoch. */
export class PlacedBatches extends OneAtATime {
  readonly #place: CountersPlace
  readonly #epochOf: () => number
  #checkedEpoch = 0

  constructor(place: CountersPlace, epochOf: () => number, ...of: ConstructorParameters<typeof OneAtATime>) {
    super(...of)
    this.#place = place
    this.#epochOf = epochOf
  }

  override run<Result>(work: () => Promise<Result>, by: number): Promise<Result> {
    return super.run(async () => {
      const epoch = this.#epochOf()
      // A clear of the counters, after which another place is right, ends the epoch.
      if (epoch !== this.#checkedEpoch) await this.#place.ensure(by)
      this.#checkedEpoch = epoch
      return work()
    }, by)
  }
}

/** The counters are in another place in SQL; a text is a location alone. */
export function elsewhere(name: string, there: Place | string, here: Place | string): SinkError {
  return new SinkError(
    'sink-misconfigured',
    `the counters ${name} are in ${named(there)}, but this process has them in ${named(here)}: name the table with its schema, give each table a name of its own, or clear the counters`,
  )
}

/** Their place cannot end yet. */
export function unflushed(name: string): SinkError {
  return new SinkError(
    'sink-misconfigured',
    `the counters ${name} have increments of a sink that are not flushed: flush them, or clear them in a process that has this sink`,
  )
}

function named(place: Place | string): string {
  if (typeof place === 'string') return place
  return [place.target, place.location].filter((each) => each !== '').join(' of ')
}
