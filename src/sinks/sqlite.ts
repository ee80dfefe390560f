// SQLite, through the promises of libsql or through node:sqlite.

import type { EventSource, OutboxSource } from '../counters/count-source.ts'
import { SinkError } from '../counters/errors.ts'
import type { Sink } from '../counters/sink.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { messageOf } from '../runtime/errors/thrown.ts'
import type { EventsOptions } from './sql/count-dialect.ts'
import type { Row, SqlRunner, SqlStore, Statement, Target } from './sql/dialect.ts'
import { has, type OutboxOptions, SqlEvents, SqlOutbox } from './sql/row-sources.ts'
import { SqlSink } from './sql/sql.ts'
import { SQLITE_COUNTS } from './sqlite/counts.ts'
import { SQLITE } from './sqlite/dialect.ts'

/** The common part of prepared statements of libsql and of node:sqlite. */
interface Prepared {
  all(...values: unknown[]): unknown
  run(...values: unknown[]): unknown
}

/** A database of `libsql` (either of its forms), of `node:sqlite` or of `better-sqlite3`. */
export interface SqliteDatabase {
  prepare(sql: string): unknown
  exec(sql: string): unknown
}

/** A table of SQLite to which counters are flushed. Throws InvalidArgumentError. */
export function sqlite(database: SqliteDatabase, target: Target): Sink {
  return new SqlSink(storeOf(database), SQLITE, target)
}

/**
 * The rows to count, in a table of SQLite with AUTOINCREMENT. Use a separate connection: other statements on it would
 * become part of its transactions. Throws InvalidArgumentError.
 */
export function sqliteEvents(database: SqliteDatabase, events: EventsOptions): EventSource {
  return new SqlEvents(storeOf(database), SQLITE_COUNTS, events)
}

/** An outbox in SQLite. Use a separate connection, as for `sqliteEvents`. Throws InvalidArgumentError. */
export function sqliteOutbox(database: SqliteDatabase, options: OutboxOptions): OutboxSource<SqliteDatabase> {
  return new SqlOutbox(storeOf(database), SQLITE_COUNTS, options, (client) =>
    has(client, 'prepare') ? new SqliteRunner(client) : null,
  )
}

function storeOf(database: SqliteDatabase): SqliteStore {
  if (typeof database?.prepare !== 'function' || typeof database.exec !== 'function') {
    throw new InvalidArgumentError('database', 'must be one of libsql or node:sqlite')
  }
  return new SqliteStore(database)
}

/** The running work of each connection: all sinks on it wait for each other. */
const LAST = new WeakMap<SqliteDatabase, Promise<unknown>>()

/** One connection: its transactions run one after the other. */
class SqliteStore implements SqlStore {
  readonly #database: SqliteDatabase
  readonly #runner: SqliteRunner

  constructor(database: SqliteDatabase) {
    this.#database = database
    this.#runner = new SqliteRunner(database)
  }

  transaction<Result>(work: (runner: SqlRunner) => Promise<Result>): Promise<Result> {
    return this.#inOrder(() => this.#run(work))
  }

  rows(statement: Statement): Promise<readonly Row[]> {
    return this.#inOrder(async () => {
      await this.#begin('BEGIN')
      try {
        return await this.#runner.rows(statement)
      } finally {
        await this.#rollBack()
      }
    })
  }

  catalog(statement: Statement): Promise<readonly Row[]> {
    return this.#inOrder(() => this.#runner.rows(statement))
  }

  /** In an open transaction of the user, reads would see uncommitted data, and no other transaction can begin. */
  async #begin(how: 'BEGIN' | 'BEGIN IMMEDIATE'): Promise<void> {
    try {
      await this.#database.exec(how)
    } catch (error) {
      if (!/within a transaction/.test(messageOf(error))) throw error
      throw new SinkError(
        'sink-busy',
        'sqlite: your transaction is open on this connection: give the counters a connection of their own',
        {
          cause: error,
        },
      )
    }
  }

  #inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = (LAST.get(this.#database) ?? Promise.resolve()).then(work)
    const settled = result.catch(() => undefined)
    LAST.set(this.#database, settled)
    return result
  }

  /**
   * Begins when no other work runs. A synchronous client then commits before any other code of the process runs. Such
   * code could write into the transaction, or wait for its lock and keep it from ending.
   */
  async #run<Result>(work: (runner: SqlRunner) => Promise<Result>): Promise<Result> {
    await new Promise((resolve) => setImmediate(resolve))
    await this.#begin('BEGIN IMMEDIATE')
    try {
      const result = await work(this.#runner)
      await this.#database.exec('COMMIT')
      return result
    } catch (error) {
      await this.#rollBack()
      throw error
    }
  }

  /** The first error is reported, not one of the rollback. */
  async #rollBack(): Promise<void> {
    try {
      await this.#database.exec('ROLLBACK')
    } catch {
      // The failure itself has rolled it back.
    }
  }
}

class SqliteRunner implements SqlRunner {
  readonly #database: SqliteDatabase

  constructor(database: SqliteDatabase) {
    this.#database = database
  }

  async rows({ sql, values }: Statement): Promise<readonly Row[]> {
    const prepared = (await this.#database.prepare(sql)) as Prepared
    return (await prepared.all(...values)) as Row[]
  }

  async changes({ sql, values }: Statement): Promise<number> {
    const prepared = (await this.#database.prepare(sql)) as Prepared
    const { changes } = (await prepared.run(...values)) as { changes: number | bigint }
    return Number(changes)
  }
}
