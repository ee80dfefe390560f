// A sink for those whose transactions are run by something else: Kysely, Drizzle, Prisma, a pool of their own.

import type { Sink } from '../counters/sink.ts'
import { InvalidArgumentError } from '../runtime/errors.ts'
import type { Dialect, Row, SqlRunner, SqlStore, SqlValue, Statement, Target } from './dialect.ts'
import { MYSQL } from './mysql-dialect.ts'
import { POSTGRES } from './postgres-dialect.ts'
import { SqlSink } from './sql.ts'
import { SQLITE } from './sqlite-dialect.ts'

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
 * `cause` it is, when it rejects. Resolves only after the commit. Read committed is isolation enough; less is not.
 */
export type Transact = <Result>(work: (execute: Execute) => Promise<Result>) => Promise<Result>

export interface TransactionTarget extends Target {
  readonly dialect: 'postgres' | 'mysql' | 'sqlite'
}

const DIALECTS: Readonly<Record<string, Dialect>> = { postgres: POSTGRES, mysql: MYSQL, sqlite: SQLITE }

/** A table that counters are flushed to in transactions of yours. Throws InvalidArgumentError. */
export function fromTransaction(transact: Transact, { dialect: named, ...target }: TransactionTarget): Sink {
  if (typeof transact !== 'function') {
    throw new InvalidArgumentError('transact', 'must be a function that runs work in a transaction')
  }
  const dialect = Object.hasOwn(DIALECTS, named) ? DIALECTS[named] : undefined
  if (dialect === undefined) {
    throw new InvalidArgumentError('dialect', `must be one of ${Object.keys(DIALECTS).join(', ')}`)
  }
  return new SqlSink(new TransactionStore(transact), dialect, target)
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
