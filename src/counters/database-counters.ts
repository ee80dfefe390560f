// Counters whose truth is rows in SQL, and that Redis shows: what all have in common, and those of your own rows.

import { clearShown, inspectShown } from '../generated/counters.ts'
import { checkOptions } from '../runtime/values/arguments.ts'
import type { Deadlines } from '../runtime/time/deadlines.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { isOutage } from '../runtime/errors/outage.ts'
import { abortable } from '../runtime/time/in-time.ts'
import { PATIENCE_MS } from '../runtime/time/in-turn.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { type Board, checkSource, openBoard, type DatabaseCountersOptions } from './board.ts'
import type { CountSource, EventSource } from './count-source.ts'
import { readShown } from './read-shown.ts'
import { Flushing } from './flush-loop.ts'
import { noteOne } from './note.ts'
import { type CountersPlace, unflushed } from './place.ts'
import type { RefusedCount } from './refusals.ts'
import { type RolledRows, runRounds } from './rounds.ts'
import { sinkInTime } from './sink-calls.ts'
import { checkId, checkIds } from './source.ts'
import { type CounterValue, checkDelta } from './value.ts'

export interface RowCountersOptions extends DatabaseCountersOptions {
  /** The rows to count: `postgresEvents(…)`, `mysqlEvents(…)`, `sqliteEvents(…)`. */
  events: EventSource
}

export interface DatabaseCountersInspection {
  /** Values that are in Redis now. */
  readonly values: number
  /** Counters with notes that were not read again since. */
  readonly noted: number
  /** Rows that are not rolled up yet, at most 10,000. The values include them already. */
  readonly waiting: number
  /** Age of the oldest of these rows in milliseconds; null if there is none, or no column has the time. */
  readonly lagMs: number | null
  /** The version of the roll-up that each partition shows. */
  readonly versions: readonly number[]
}

/** The common part of counters that SQL counts from rows and Redis shows. */
export class DatabaseCounters {
  readonly name: string
  readonly #board: Board

  /** @internal */
  constructor(runtime: Runtime, name: string, source: CountSource, options: DatabaseCountersOptions) {
    this.name = name
    this.#board = openBoard(runtime, name, source, options)
  }

  /** Name of the counters in SQL: `shop:votes`. */
  protected get sqlName(): string {
    return this.#board.sqlName
  }

  /** @internal */
  protected get place(): CountersPlace {
    return this.#board.number.place
  }

  /** Deadline of a call that begins now, on the clock of `performance.now()`. */
  protected get deadline(): number {
    return performance.now() + this.#board.runtime.runner.deadlineMs
  }

  /** Timers that end when the instance closes. */
  protected get deadlines(): Deadlines {
    return this.#board.runtime.runner.deadlines
  }

  /**
   * Creates Perilune's tables if they are missing, and checks yours, also that other processes use the same. The first
   * use does so as well, on a connection in addition to those of open transactions. Throws SinkError; and DriverError,
   * unless rows were counted here before.
   */
  async prepare(): Promise<void> {
    await this.comparePlace(this.deadline)
    await sinkInTime(this.#board.counts.prepare(), this.deadline, this.deadlines)
  }

  /**
   * Without Redis the place of the counters is unknown. Where a roll-up has counted under their name, it was theirs:
   * the caller continues there, and a later call compares again. Elsewhere nothing is created.
   *
   * @internal
   */
  protected async comparePlace(by: number): Promise<void> {
    try {
      await this.place.ensure(by, PATIENCE_MS)
    } catch (error) {
      if (!isOutage(error)) throw error
      const counted = this.#board.counts.hasCounted?.(this.sqlName) ?? Promise.resolve(false)
      if (await sinkInTime(counted, by, this.deadlines)) this.place.remember()
      else await this.place.ensure(by)
    }
  }

  /**
   * Shows a committed change at once. Resolves to the value shown after it, or to null if none is shown or Redis does
   * not answer. The next round counts the row with or without this call. Throws InvalidArgumentError.
   */
  async optimisticAdd(id: string | number, by = 1): Promise<CounterValue | null> {
    return noteOne(this.#board, checkId('id', id), checkDelta('by', by))
  }

  /** The value of a counter, or null if the database does not have it. Throws SinkError. */
  async get(id: string | number): Promise<CounterValue | null> {
    const [value = null] = await readShown(this.#board, [checkId('id', id)])
    return value
  }

  /** The values in the order of the ids, null for those that the database does not have. Throws SinkError. */
  async getMany(ids: readonly (string | number)[]): Promise<(CounterValue | null)[]> {
    return readShown(this.#board, checkIds(ids))
  }

  /**
   * Counts the rows that exist when the call begins, and shows the new values. Throws SinkError, DriverError or
   * AmbiguousError; the call is safe to repeat. Throws RefusedError if the database refused some counts: all others are
   * written, and the refused changes are kept and retried.
   */
  async flush(options: { signal?: AbortSignal } = {}): Promise<RolledRows> {
    checkOptions('options', options, ['signal'])
    return abortable(() => this.round([], false, options.signal), options.signal)
  }

  /**
   * Flushes periodically until the returned object is closed. Errors go to `onError`, and the next round tries again.
   * `every`: 1 ms to 24 days.
   */
  flushEvery(every: Duration, options: { onError?: (error: unknown) => void } = {}): Flushing {
    checkOptions('options', options, ['onError'])
    const everyMs = toMs('every', every, { max: '24d' })
    const flush = (signal: AbortSignal): Promise<RolledRows> => this.flush({ signal })
    return new Flushing(this.#board.runtime, flush, everyMs, options.onError)
  }

  /** Changes that the database has refused and not accepted since, of at most 1,000 counters. Throws SinkError. */
  async refused(): Promise<RefusedCount[]> {
    const { refusals, counts, sqlName } = this.#board
    return refusals.list(counts, sqlName)
  }

  /** A read-only snapshot of what Redis shows and what is not counted yet. Throws SinkError. */
  async inspect(): Promise<DatabaseCountersInspection> {
    const { partitions, counts, sqlName, number } = this.#board
    const by = this.deadline
    const looking = Promise.all(partitions.map((partition) => partition.run(inspectShown, {})))
    // Rows of another place could leave a flaw in the line that all processes share.
    const [seen] = await Promise.all([looking, number.check(), number.place.ensure(by)])
    const { rows, ageMs } = await sinkInTime(counts.waiting(sqlName), by, this.deadlines)
    return {
      values: seen.reduce((sum, { values }) => sum + values, 0),
      noted: seen.reduce((sum, { noted }) => sum + noted, 0),
      waiting: rows,
      lagMs: ageMs,
      versions: seen.map(({ version }) => version),
    }
  }

  /**
   * Deletes the values in Redis; the database keeps all of them. Resolves to false if there was nothing. Throws SinkError
   * if a sink of this name has increments that are not flushed.
   */
  async clear(): Promise<boolean> {
    const { partitions, number } = this.#board
    return number.clear(async () => {
      const answers = await Promise.all(partitions.map((partition) => partition.run(clearShown, {})))
      if (answers.some(({ status }) => status === 'unflushed')) throw unflushed(this.name)
      return answers.map(({ status }) => status === 'cleared')
    })
  }

  protected round(ids: readonly string[], recount: boolean, signal?: AbortSignal): Promise<RolledRows> {
    return runRounds(this.#board, { ids, recount, signal })
  }
}

/** Counts of rows in an SQL database: exact in the database, and shown by Redis. */
export class RowCounters extends DatabaseCounters {
  constructor(runtime: Runtime, name: string, options: RowCountersOptions) {
    checkOptions('options', options, ['events', 'partitions', 'retention', 'batchSize'])
    super(runtime, name, checkSource('events', options.events), options)
  }

  /**
   * Recomputes counts from all of their rows and shows them; for use after rows were changed or deleted. Throws
   * SinkError.
   */
  async reconcile(ids: readonly (string | number)[]): Promise<void> {
    await this.round(checkIds(ids), true)
  }
}
