// Sinks and event sources whose transactions another library runs: Kysely, Drizzle, Prisma, or a pool of your own.

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

/** The result of a statement. */
export interface Executed {
  /** The rows of a SELECT: one object each, by the names of the columns. */
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
 * Runs `work` in a transaction. Commits when it resolves, and resolves only after the commit. When `work` rejects,
 * rolls back and rejects with the same error, or with one that has it as its `cause`. The isolation level must be at
 * least read committed. In MySQL a higher one blocks inserts by others while rows are counted.
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

/** A table to which counters are flushed in your transactions. Throws InvalidArgumentError. */
export function fromTransaction(transact: Transact, { dialect, ...target }: TransactionTarget): Sink {
  return new SqlSink(storeOf(transact), countingOf(dialect).dialect, target)
}

/** The rows to count, in your transactions. Throws InvalidArgumentError. */
export function eventsFromTransaction(
  transact: Transact,
  { dialect, ...events }: TransactionEvents,
): EventSource {
  return new SqlEvents(storeOf(transact), countingOf(dialect), events)
}

/** An outbox whose rows are written and counted in your transactions. Throws InvalidArgumentError. */
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
