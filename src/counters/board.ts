// The state shared by all calls on counters whose counts are in SQL: where they are shown, and their source.

import { checkInteger } from '../runtime/values/arguments.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { checkName } from '../runtime/values/keys.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { Unit } from '../runtime/connection/unit.ts'
import type { CountSource } from './count-source.ts'
import { CountersPlace, PlacedNumber } from './place.ts'
import { KeptRefusals } from './refusals.ts'
import { OneAtATime } from './sink-calls.ts'

/** Options shared by counters of rows and of an outbox. */
export interface DatabaseCountersOptions {
  /**
   * Hash tags, and so cluster slots, over which the counters are spread by their ids, 1 to 256. All processes must use
   * the same number; it can only change after `clear()`. Default: 1.
   */
  partitions?: number
  /**
   * How long a value stays in Redis after it was last read from the database, 1 ms to 3,650 days, or `'forever'`.
   * Default: 10 minutes.
   */
  retention?: Duration | 'forever'
  /** Approximate number of rows that one transaction counts, 1 to 10,000. Default: 5,000. */
  batchSize?: number
}

export interface Board {
  readonly runtime: Runtime
  readonly name: string
  /** Name of the counters in SQL: `shop:votes`. */
  readonly sqlName: string
  readonly counts: CountSource
  /** How long a value without notes stays, in milliseconds; 0: forever. */
  readonly retainMs: number
  readonly batchSize: number
  /**
   * How often a round waits for another round that is still showing the version before; first 20 ms, doubled each time.
   */
  readonly gapTries: number
  /** One unit per partition; each has its own slot. */
  readonly partitions: readonly Unit[]
  /** The partition count and the place in SQL, which all processes must agree on. */
  readonly number: PlacedNumber
  readonly refusals: KeptRefusals
  /** Serialises the roll-ups of this process. */
  readonly rollingUp: OneAtATime
}

// Every transaction has a fixed cost, and updates the counts of the hot counters again.
const MOST_ROWS = 5000

/** Throws InvalidArgumentError. */
export function openBoard(
  runtime: Runtime,
  name: string,
  counts: CountSource,
  { partitions = 1, retention = '10m', batchSize = MOST_ROWS }: DatabaseCountersOptions,
): Board {
  checkName('name', name)
  checkInteger('partitions', partitions, 1, 256)
  const unit = { structure: 'counters', name, since: '6.2.0' }
  const alone = new Unit(runtime, unit)
  const units = Array.from(
    { length: partitions },
    (_, at) => new Unit(runtime, { ...unit, unit: String(at) }),
  )
  const place = new CountersPlace(name, alone, units, counts)
  return {
    runtime,
    name,
    sqlName: `${runtime.namespace}:${name}`,
    counts,
    retainMs: retention === 'forever' ? 0 : toMs('retention', retention),
    batchSize: checkInteger('batchSize', batchSize, 1, 10_000),
    gapTries: 4,
    partitions: units,
    number: new PlacedNumber(alone, partitions, place),
    refusals: new KeptRefusals(runtime),
    rollingUp: new OneAtATime(runtime.runner.deadlines),
  }
}

/** Database and schema of the counts, the same text in all processes; '' if unknown. Throws SinkError. */
export async function locationOf({ counts }: Board): Promise<string> {
  return (await counts.location?.()) ?? ''
}

/** Throws InvalidArgumentError. */
export function checkSource<Source extends CountSource>(
  argument: 'events' | 'outbox',
  source: Source & { readonly kind?: unknown },
): Source {
  if (typeof source?.rollUp !== 'function' || source.kind !== argument) {
    const like = { events: 'postgresEvents(pool, …)', outbox: 'postgresOutbox(pool, …)' }[argument]
    throw new InvalidArgumentError(argument, `must be an event source or outbox, such as ${like}`)
  }
  return source
}
