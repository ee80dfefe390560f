import { clearShown, inspectShown } from '../generated/counters.ts'
import { checkOptions } from '../runtime/values/arguments.ts'
import type { Deadlines } from '../runtime/time/deadlines.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { abortable } from '../runtime/time/in-time.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { type Board, checkSource, openBoard, type ShownOptions } from './board.ts'
import type { CountSource, EventSource } from './count-source.ts'
import type { RefusedCount } from './errors.ts'
import { readShown } from './filling.ts'
import { Flushing } from './flush-loop.ts'
import { noteOne } from './noting.ts'
import { type RolledRows, runRounds } from './showing.ts'
import { sinkInTime } from './sink-in-time.ts'
import { checkId, checkIds } from './source.ts'
import { type CounterValue, checkDelta } from './value.ts'

export interface DerivedCountersOptions extends ShownOptions {
  /** The rows that are counted: `postgresEvents(…)`, `mysqlEvents(…)`, `sqliteEvents(…)`. */
  events: EventSource
}

export interface ShownInspection {
  /** Values that are in Redis now. */
  readonly values: number
  /** Counters that were noted and not read again since. */
  readonly noted: number
  /** Rows that are not counted yet, at most 10,000. They are in the values all the same. */
  readonly waiting: number
  /** How old the oldest of these is; null: there is none, or no column tells. */
  readonly lagMs: number | null
  /** The roll-up of the database that each partition shows. */
  readonly versions: readonly number[]
}

/** What counters have in common whose counts SQL makes from rows, and Redis shows. */
export class ShownCounters {
  readonly name: string
  readonly #board: Board

  /** @internal */
  constructor(runtime: Runtime, name: string, source: CountSource, options: ShownOptions) {
    this.name = name
    this.#board = openBoard(runtime, name, source, options)
  }

  /** What the database calls them: `shop:votes`. */
  protected get sqlName(): string {
    return this.#board.sqlName
  }

  /** Of a call that begins now. */
  protected get deadline(): number {
    return performance.now() + this.#board.runtime.runner.deadlineMs
  }

  /** What ends when the instance closes. */
  protected get deadlines(): Deadlines {
    return this.#board.runtime.runner.deadlines
  }

  /**
   * Makes the tables of ours unless they are there, and checks yours. The first use does so by itself, which takes a connection
   * besides those that transactions have. Throws SinkError.
   */
  async prepare(): Promise<void> {
    await sinkInTime(this.#board.counts.prepare(), this.deadline, this.deadlines)
  }

  /**
   * Shows at once what a transaction has committed. Resolves to what is shown then; null when nothing is, or Redis does not
   * answer: what is in the database is counted whether it was noted or not. Throws InvalidArgumentError.
   */
  async note(id: string | number, by = 1): Promise<CounterValue | null> {
    return noteOne(this.#board, { id: checkId('id', id), by: checkDelta('by', by) })
  }

  /** The value of a counter; null when the database does not have it. Throws SinkError. */
  async get(id: string | number): Promise<CounterValue | null> {
    const [value = null] = await readShown(this.#board, [checkId('id', id)])
    return value
  }

  /** Values in the order of the ids, null for those that the database does not have. Throws SinkError. */
  async getMany(ids: readonly (string | number)[]): Promise<(CounterValue | null)[]> {
    return readShown(this.#board, checkIds(ids))
  }

  /**
   * Counts the rows that are there as it begins, and shows what they come to. Throws SinkError, DriverError or AmbiguousError; the
   * same again is safe. Throws RefusedError where the database refused rows of some counts: all others are written, and what these were to get
   * is kept, and tried again.
   */
  async flush(options: { signal?: AbortSignal } = {}): Promise<RolledRows> {
    checkOptions('options', options, ['signal'])
    return abortable(() => this.round([], false, options.signal), options.signal)
  }

  /** Flushes again and again, until what it answers is closed. Errors go to `onError`, and the next round tries again. */
  flushEvery(every: Duration, options: { onError?: (error: unknown) => void } = {}): Flushing {
    checkOptions('options', options, ['onError'])
    const everyMs = toMs('every', every, { max: '24d' })
    const flush = (signal: AbortSignal): Promise<RolledRows> => this.flush({ signal })
    return new Flushing(this.#board.runtime, flush, everyMs, options.onError ?? (() => {}))
  }

  /** What the database has refused and not taken since, of 1,000 counters at most. Throws SinkError. */
  async refused(): Promise<RefusedCount[]> {
    const { refusals, counts, sqlName } = this.#board
    return refusals.list(counts, sqlName)
  }

  /** A read-only picture: what is here, and what is not counted yet. Throws SinkError. */
  async inspect(): Promise<ShownInspection> {
    const { partitions, counts, sqlName, number } = this.#board
    const by = this.deadline
    const looking = Promise.all(partitions.map((partition) => partition.run(inspectShown, {})))
    const [seen] = await Promise.all([looking, number.check()])
    const { rows, ageMs } = await sinkInTime(counts.waiting(sqlName), by, this.deadlines)
    return {
      values: seen.reduce((sum, { values }) => sum + values, 0),
      noted: seen.reduce((sum, { noted }) => sum + noted, 0),
      waiting: rows,
      lagMs: ageMs,
      versions: seen.map(({ version }) => version),
    }
  }

  /** Forgets what Redis shows; the database has all of it. Resolves to false when there was nothing. */
  async clear(): Promise<boolean> {
    const { partitions, number } = this.#board
    return number.clear(async () => {
      const answers = await Promise.all(partitions.map((partition) => partition.run(clearShown, {})))
      return answers.map(({ status }) => status === 'cleared')
    })
  }

  protected round(ids: readonly string[], recount: boolean, signal?: AbortSignal): Promise<RolledRows> {
    return runRounds(this.#board, { ids, recount, signal })
  }
}

/** Values that are counts of rows in an SQL database: exact there, and shown by Redis. */
export class DerivedCounters extends ShownCounters {
  constructor(runtime: Runtime, name: string, options: DerivedCountersOptions) {
    checkOptions('options', options, ['events', 'partitions', 'retention', 'batchSize'])
    super(runtime, name, checkSource('events', options.events), options)
  }

  /** Makes counts anew from all of their rows, and shows them: after rows were changed by hand. Throws SinkError. */
  async reconcile(ids: readonly (string | number)[]): Promise<void> {
    await this.round(checkIds(ids), true)
  }
}
