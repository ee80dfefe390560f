// Sinks, and rows that are counted, for those whose transactions are run by something else: Kysely, Drizzle, Prisma, a pool of their own.

import type { EventSource, OutboxSource } from '../counters/count-source.ts'
import type { Sink } from '../counters/sink.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import type { CountDialect, EventsOptions } from './sql/count-dialect.ts'
import type { Row, SqlRunner, SqlStore, SqlValue, Statement, Target } from './sql/dialect.ts'
import { MYSQL_COUNTS, type MysqlEvents } from './mysql/counts.ts'
import { POSTGRES_COUNTS, type PostgresEvents } from './postgres/counts.ts'
import { type OutboxOptions, SqlEvents, SqlOutbox } from './sql/row-sources.ts'
import { SqlSink } from './sql/sql.ts'
import { SQLITE_COUNTS } from './sqlite/counts.ts'

/** What a statement came to. */
export interface Executed {
  /** Of a SELECT; an object each, by the names of the columns. */
  readonly rows: readonly unknown[]
  /** How many rows it inserted or updated. */
  readonly changed: number | bigint
}

/**
 * Runs one statement in the transaction. Its placeholders are those of the database: `$1` in PostgreSQL, where a value
 * may be an array of text, `?` in SQLite, and none in MySQL.
 */
export type Execute = (sql: string, values: SqlValue[]) => Promise<Executed>

/**
 * Runs `work` in a transaction: commits when it resolves, and rolls back and rejects with the same error, or one whose
 * `cause` it is, when it rejects. Resolves only after the commit. Read committed is isolation enough; less is not. In MySQL
 * more keeps others from inserting rows while some are counted.
 */
export type Transact = <Result>(work: (execute: Execute) => Promise<Result>) => Promise<Result>

export interface TransactionTarget extends Target {
  readonly dialect: 'postgres' | 'mysql' | 'sqlite'
}

export type TransactionEvents =
  | (PostgresEvents & { readonly dialect: 'postgres' })
  | (MysqlEvents & { readonly dialect: 'mysql' })
  | (EventsOptions & { readonly dialect: 'sqlite' })

export interface TransactionOutbox extends OutboxOptions {
  readonly dialect: 'postgres' | 'mysql' | 'sqlite'
}

const DIALECTS: Readonly<Record<string, CountDialect>> = {
  postgres: POSTGRES_COUNTS,
  mysql: MYSQL_COUNTS,
  sqlite: SQLITE_COUNTS,
}

/** A table that counters are flushed to in transactions of yours. Throws InvalidArgumentError. */
export function fromTransaction(transact: Transact, { dialect, ...target }: TransactionTarget): Sink {
  return new SqlSink(storeOf(transact), countingOf(dialect).dialect, target)
}

/** Rows that are counted in transactions of yours. Throws InvalidArgumentError. */
export function eventsFromTransaction(
  transact: Transact,
  { dialect, ...events }: TransactionEvents,
): EventSource {
  return new SqlEvents(storeOf(transact), countingOf(dialect), events)
}

/** An outbox whose rows are written, and counted, in transactions of yours. Throws InvalidArgumentError. */
export function outboxFromTransaction(
  transact: Transact,
  { dialect, ...options }: TransactionOutbox,
): OutboxSource<Execute> {
  return new SqlOutbox(storeOf(transact), countingOf(dialect), options, (execute) =>
    typeof execute === 'function' ? new ExecutingRunner(execute) : null,
  )
}

function storeOf(transact: Transact): TransactionStore {
  if (typeof transact !== 'function') {
    throw new InvalidArgumentError('transact', 'must be a function that runs work in a transaction')
  }
  return new TransactionStore(transact)
}

function countingOf(dialect: string): CountDialect {
  const counting = Object.hasOwn(DIALECTS, dialect) ? DIALECTS[dialect] : undefined
  if (counting === undefined) {
    throw new InvalidArgumentError('dialect', `must be one of ${Object.keys(DIALECTS).join(', ')}`)
  }
  return counting
}

class TransactionStore implements SqlStore {
  readonly #transact: Transact

  constructor(transact: Transact) {
    this.#transact = transact
  }

  transaction<Result>(work: (runner: SqlRunner) => Promise<Result>): Promise<Result> {
    return this.#transact((execute) => work(new ExecutingRunner(execute)))
  }

  rows(statement: Statement): Promise<readonly Row[]> {
    return this.transaction((runner) => runner.rows(statement))
  }
}

class ExecutingRunner implements SqlRunner {
  readonly #execute: Execute

  constructor(execute: Execute) {
    this.#execute = execute
  }

  async rows({ sql, values }: Statement): Promise<readonly Row[]> {
    return (await this.#execute(sql, [...values])).rows as readonly Row[]
  }

  async changes({ sql, values }: Statement): Promise<number> {
    return Number((await this.#execute(sql, [...values])).changed)
  }
}
