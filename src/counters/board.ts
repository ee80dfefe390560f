// What every call on counters needs whose counts are in SQL: where they are shown, and where they come from.

import { agree, disband } from '../generated/counters.ts'
import { checkInteger } from '../runtime/values/arguments.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { checkName } from '../runtime/values/keys.ts'
import { PartitionNumber } from '../runtime/partitions/partition-number.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { Unit } from '../runtime/connection/unit.ts'
import type { CountSource } from './count-source.ts'
import { SinkError } from './errors.ts'
import { OneAtATime } from './sink-calls.ts'
import { KeptRefusals } from './refusals.ts'

/** What they have in common, wherever their rows come from. */
export interface DatabaseCountersOptions {
  /** Hash tags, and so slots, that they are spread over, 1 to 256; the same for all processes, for ever. Default 1. */
  partitions?: number
  /** How long a value stays in Redis after it was last read from the database; default 10 minutes. */
  retention?: Duration | 'forever'
  /** Rows that a transaction takes, about, 1 to 10,000; default 5,000. */
  batchSize?: number
}

export interface Board {
  readonly runtime: Runtime
  readonly name: string
  /** What SQL calls them. */
  readonly sqlName: string
  readonly counts: CountSource
  /** How long a value without notes stays; 0: for ever. */
  readonly retainMs: number
  readonly batchSize: number
  /** How often a round waits for another that is just showing the version before, 20 ms first and twice as long each time. */
  readonly gapTries: number
  /** Each of them shares a slot. */
  readonly partitions: readonly Unit[]
  /** How many there are, as all have to say it. */
  readonly number: PartitionNumber
  readonly refusals: KeptRefusals
  /** What this process does with their line in SQL. */
  readonly rollingUp: OneAtATime
}

// A transaction costs what it costs, and each changes the counts of the hot counters again.
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
  const place = { structure: 'counters', name, since: '6.2.0' }
  return {
    runtime,
    name,
    sqlName: `${runtime.namespace}:${name}`,
    counts,
    retainMs: retention === 'forever' ? 0 : toMs('retention', retention),
    batchSize: checkInteger('batchSize', batchSize, 1, 10_000),
    gapTries: 4,
    partitions: Array.from({ length: partitions }, (_, at) => {
      return new Unit(runtime, { ...place, unit: String(at) })
    }),
    number: new PartitionNumber(new Unit(runtime, place), partitions, { agree, disband }),
    refusals: new KeptRefusals(runtime),
    rollingUp: new OneAtATime(runtime.runner.deadlines),
  }
}

/** Where the counts are, as all processes call it; '': nobody can tell. Throws SinkError. */
export async function placeOf({ counts }: Board): Promise<string> {
  return (await counts.location?.()) ?? ''
}

/** What is shown comes from another place in SQL. */
export function elsewhere({ name }: Board, there: string, here: string): SinkError {
  return new SinkError(
    'sink-misconfigured',
    `the counters ${name} show counts of ${there}, and this process has them in ${here}: name the table with its schema, or clear them`,
  )
}

/** Throws InvalidArgumentError. */
export function checkSource<Source extends CountSource>(
  argument: 'events' | 'outbox',
  source: Source & { readonly kind?: unknown },
): Source {
  if (typeof source?.rollUp !== 'function' || source.kind !== argument) {
    const like = { events: 'postgresEvents(pool, …)', outbox: 'postgresOutbox(pool, …)' }[argument]
    throw new InvalidArgumentError(argument, `must be what counts them, such as ${like}`)
  }
  return source
}
