// MySQL 8 and MariaDB, through the pool of mysql2. Transactions are READ COMMITTED. This takes fewer locks between rows
// than the default, and is enough: see postgres.ts.

import type { EventSource, OutboxSource } from '../counters/count-source.ts'
import type { Sink } from '../counters/sink.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { answeredAtFirst, isSilent } from './sql/answered.ts'
import type { Row, SqlRunner, SqlStore, Statement, Target } from './sql/dialect.ts'
import { MYSQL_COUNTS, type MysqlEvents } from './mysql/counts.ts'
import { MYSQL } from './mysql/dialect.ts'
import { isReadOnly, isWithinTransaction } from './mysql/errors.ts'
import { has, type OutboxOptions, SqlEvents, SqlOutbox } from './sql/row-sources.ts'
import { SqlSink } from './sql/sql.ts'

interface Queries {
  query(sql: string): Promise<[unknown, unknown]>
}

/** A connection from a pool. */
export interface MysqlConnection extends Queries {
  release(): void
  destroy(): void
}

/** A pool of `mysql2/promise`, or an object with the same methods. */
export interface MysqlPool {
  getConnection(): Promise<MysqlConnection>
}

const READ_COMMITTED = 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED'

/** A table of MySQL or MariaDB to which counters are flushed. The pool stays yours. Throws InvalidArgumentError. */
export function mysql(pool: MysqlPool, target: Target): Sink {
  return new SqlSink(storeOf(pool), MYSQL, target)
}

export type { MysqlEvents } from './mysql/counts.ts'

/** The rows to count, in MySQL 8, or in MariaDB 10.6 or newer. The pool stays yours. Throws InvalidArgumentError. */
export function mysqlEvents(pool: MysqlPool, events: MysqlEvents): EventSource {
  return new SqlEvents(storeOf(pool), MYSQL_COUNTS, events)
}

/** Runs statements in your transaction: a connection of `mysql2/promise`. */
export type MysqlTransaction = Queries

/** An outbox in MySQL 8, or in MariaDB 10.6 or newer. The pool stays yours. Throws InvalidArgumentError. */
export function mysqlOutbox(pool: MysqlPool, options: OutboxOptions): OutboxSource<MysqlTransaction> {
  return new SqlOutbox(storeOf(pool), MYSQL_COUNTS, options, (client) =>
    has(client, 'query') ? new MysqlRunner(client) : null,
  )
}

function storeOf(pool: MysqlPool): MysqlStore {
  if (typeof pool?.getConnection !== 'function') {
    throw new InvalidArgumentError('pool', 'must be a pool of mysql2/promise')
  }
  // A pool with callbacks would throw outside of any handler when called without one, and end the process.
  if (has(pool, 'promise')) {
    throw new InvalidArgumentError(
      'pool',
      'must be a pool of mysql2/promise: call pool.promise() on this one',
    )
  }
  return new MysqlStore(pool)
}

class MysqlStore implements SqlStore {
  readonly #pool: MysqlPool

  constructor(pool: MysqlPool) {
    this.#pool = pool
  }

  transaction<Result>(work: (runner: SqlRunner) => Promise<Result>): Promise<Result> {
    return this.#connected(async (connection) => {
      await readCommitted(connection)
      await connection.query('START TRANSACTION')
      const result = await work(new MysqlRunner(connection))
      await connection.query('COMMIT')
      return result
    })
  }

  rows(statement: Statement): Promise<readonly Row[]> {
    return this.#connected(async (connection) => {
      await readCommitted(connection)
      const rows = await new MysqlRunner(connection).rows(statement)
      // With autocommit off, the statement has begun a transaction that would stay open.
      await connection.query('ROLLBACK')
      return rows
    })
  }

  async #connected<Result>(work: (connection: MysqlConnection) => Promise<Result>): Promise<Result> {
    const connection = await this.#pool.getConnection()
    try {
      const result = await work(connection)
      connection.release()
      return result
    } catch (error) {
      if (isReadOnly(error) || isSilent(error)) connection.destroy()
      else await rollBack(connection)
      throw error
    }
  }
}

class MysqlRunner implements SqlRunner {
  readonly #connection: Queries

  constructor(connection: Queries) {
    this.#connection = connection
  }

  async rows({ sql }: Statement): Promise<readonly Row[]> {
    const [rows] = await this.#connection.query(sql)
    return rows as Row[]
  }

  /** Every found row also changes, so it does not matter whether the client reports found or changed rows. */
  async changes({ sql }: Statement): Promise<number> {
    const [header] = await this.#connection.query(sql)
    return (header as { affectedRows: number }).affectedRows
  }
}

/**
 * With autocommit off, the previous user of the connection may have left a transaction open by a read: it ends here.
 */
async function readCommitted(connection: Queries): Promise<void> {
  try {
    await answeredAtFirst(connection.query(READ_COMMITTED))
  } catch (error) {
    if (!isWithinTransaction(error)) throw error
    await connection.query('ROLLBACK')
    await connection.query(READ_COMMITTED)
  }
}

async function rollBack(connection: MysqlConnection): Promise<void> {
  try {
    await connection.query('ROLLBACK')
    connection.release()
  } catch {
    connection.destroy()
  }
}
