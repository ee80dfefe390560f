// Counters whose truth is rows of SQL, and that Redis shows: derived from the rows of yours, or durable, by an outbox.

import { clearShown, inspectShown } from '../generated/counters.ts'
import { checkOptions, checkText } from '../runtime/values/arguments.ts'
import type { Deadlines } from '../runtime/time/deadlines.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { abortable } from '../runtime/time/in-time.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { type Board, checkSource, openBoard, type DatabaseCountersOptions } from './board.ts'
import type { CountSource, EventSource, OutboxSource } from './count-source.ts'
import { SinkError } from './errors.ts'
import { readShown } from './read-shown.ts'
import { Flushing } from './flush-loop.ts'
import { noteOne } from './note.ts'
import { type RefusedCount, RefusedError } from './refusals.ts'
import { type RolledRows, runRounds } from './rounds.ts'
import { OneAtATime, sinkInTime } from './sink-calls.ts'
import { checkId, checkIds } from './source.ts'
import { type CounterValue, checkDelta } from './value.ts'

export interface RowCountersOptions extends DatabaseCountersOptions {
  /** The rows that are counted: `postgresEvents(…)`, `mysqlEvents(…)`, `sqliteEvents(…)`. */
  events: EventSource
}

export interface OutboxCountersOptions<Client> extends DatabaseCountersOptions {
  /** Where changes wait that are not counted yet: `postgresOutbox(…)`, `mysqlOutbox(…)`, `sqliteOutbox(…)`. */
  outbox: OutboxSource<Client>
}

export interface Addition {
  id: string | number
  by?: number
  /** The change counts once, however often it comes with this key. */
  idempotencyKey: string
}

export interface DatabaseCountersInspection {
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
export class DatabaseCounters {
  readonly name: string
  readonly #board: Board

  /** @internal */
  constructor(runtime: Runtime, name: string, source: CountSource, options: DatabaseCountersOptions) {
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
  async optimisticAdd(id: string | number, by = 1): Promise<CounterValue | null> {
    return noteOne(this.#board, checkId('id', id), checkDelta('by', by))
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
    return new Flushing(this.#board.runtime, flush, everyMs, options.onError)
  }

  /** What the database has refused and not taken since, of 1,000 counters at most. Throws SinkError. */
  async refused(): Promise<RefusedCount[]> {
    const { refusals, counts, sqlName } = this.#board
    return refusals.list(counts, sqlName)
  }

  /** A read-only picture: what is here, and what is not counted yet. Throws SinkError. */
  async inspect(): Promise<DatabaseCountersInspection> {
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
export class RowCounters extends DatabaseCounters {
  constructor(runtime: Runtime, name: string, options: RowCountersOptions) {
    checkOptions('options', options, ['events', 'partitions', 'retention', 'batchSize'])
    super(runtime, name, checkSource('events', options.events), options)
  }

  /** Makes counts anew from all of their rows, and shows them: after rows were changed by hand. Throws SinkError. */
  async reconcile(ids: readonly (string | number)[]): Promise<void> {
    await this.round(checkIds(ids), true)
  }
}

/** Values that are changed in the transactions of an SQL database: exact there, and shown by Redis. */
export class OutboxCounters<Client> extends DatabaseCounters {
  readonly #outbox: OutboxSource<Client>
  readonly #purging: OneAtATime
  #isPrepared = false

  constructor(runtime: Runtime, name: string, options: OutboxCountersOptions<Client>) {
    checkOptions('options', options, ['outbox', 'partitions', 'retention', 'batchSize'])
    const outbox = checkSource('outbox', options.outbox)
    super(runtime, name, outbox, options)
    this.#outbox = outbox
    this.#purging = new OneAtATime(this.deadlines)
  }

  /**
   * Changes a counter in your transaction: it counts if that commits. Resolves to false when the key is known, and then
   * changes nothing. Throws InvalidArgumentError, SinkError.
   */
  async add(client: Client, addition: Addition): Promise<boolean> {
    checkOptions('addition', addition, ['id', 'by', 'idempotencyKey'])
    const { id, by = 1, idempotencyKey } = addition
    const entry = {
      id: checkId('id', id),
      by: checkDelta('by', by),
      idempotencyKey: checkText('idempotencyKey', idempotencyKey, 255),
    }
    const deadline = this.deadline
    await this.#prepareFirst(deadline)
    return sinkInTime(this.#outbox.add(client, this.sqlName, entry), deadline, this.deadlines)
  }

  /** Where each connection of the pool has a transaction that comes here first, none is left to look at the tables with. */
  async #prepareFirst(by: number): Promise<void> {
    if (this.#isPrepared) return
    try {
      await sinkInTime(this.#outbox.prepare(), by, this.deadlines)
    } catch (error) {
      if (!(error instanceof SinkError && error.code === 'sink-unreachable')) throw error
      const cure = 'await prepare() before the first transaction, for it takes a connection of its own'
      throw new SinkError(error.code, `${error.message}: ${cure}`, { cause: error })
    }
    this.#isPrepared = true
  }

  /** Reads counts anew, and shows them: after somebody else has written the table. Throws SinkError. */
  async reconcile(ids: readonly (string | number)[]): Promise<void> {
    await this.round(checkIds(ids), false)
  }

  /** Also forgets idempotency keys that are old enough. */
  override async flush(options: { signal?: AbortSignal } = {}): Promise<RolledRows> {
    const purge = (): Promise<void> => abortable(() => this.#purge(options.signal), options.signal)
    try {
      const rolled = await super.flush(options)
      await purge()
      return rolled
    } catch (error) {
      if (error instanceof RefusedError) await purge()
      throw error
    }
  }

  async #purge(signal: AbortSignal | undefined): Promise<void> {
    const purge = (): Promise<boolean | null> => {
      const some = this.#purging.runUnlessBusy(() => this.#outbox.purge(this.sqlName))
      return sinkInTime(some, this.deadline, this.deadlines)
    }
    while (await purge()) signal?.throwIfAborted()
  }
}
