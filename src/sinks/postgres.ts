// PostgreSQL, through the pool of pg. Transactions are READ COMMITTED. That is enough. A read is one statement with one
// snapshot, so values and ledger match. A batch begins with the row of the ledger: a second worker waits for the first
// and then reads its result, so `advance` finds the previous batch or changes nothing. A stricter level would only add
// serialisation failures there.

import type { EventSource, OutboxSource } from '../counters/count-source.ts'
import type { Sink } from '../counters/sink.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { isError } from '../runtime/errors/is-error.ts'
import { summaryOf } from '../runtime/errors/thrown.ts'
import { answeredAtFirst, isSilent } from './sql/answered.ts'
import type { Row, SqlRunner, SqlStore, Statement, Target } from './sql/dialect.ts'
import { POSTGRES_COUNTS, type PostgresEvents } from './postgres/counts.ts'
import { POSTGRES } from './postgres/dialect.ts'
import { isReadOnly } from './postgres/errors.ts'
import { has, type OutboxOptions, SqlEvents, SqlOutbox } from './sql/row-sources.ts'
import { SqlSink } from './sql/sql.ts'

interface Answer {
  readonly rows: unknown[]
  readonly rowCount: number | null
}

/** A client from a pool. */
export interface PostgresClient {
  query(sql: string, values?: unknown[]): Promise<Answer>
  /** With an error, the pool discards the client. */
  release(error?: Error): void
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
}

/** A `Pool` of `pg`, or an object with the same methods. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>
  query(sql: string, values?: unknown[]): Promise<Answer>
}

/**
 * A table of PostgreSQL to which counters are flushed. The pool stays yours, and so does its `error` event: add a
 * listener, or the loss of an idle connection ends the process. Throws InvalidArgumentError.
 */
export function postgres(pool: PostgresPool, target: Target): Sink {
  return new SqlSink(storeOf(pool), POSTGRES, target)
}

export type { PostgresEvents } from './postgres/counts.ts'

/** The rows to count, in PostgreSQL 13 or newer. The pool stays yours. Throws InvalidArgumentError. */
export function postgresEvents(pool: PostgresPool, events: PostgresEvents): EventSource {
  return new SqlEvents(storeOf(pool), POSTGRES_COUNTS, events)
}

/** Runs statements in your transaction: a client of `pg`. */
export type PostgresTransaction = Pick<PostgresClient, 'query'>

/** An outbox in PostgreSQL 13 or newer. The pool stays yours. Throws InvalidArgumentError. */
export function postgresOutbox(
  pool: PostgresPool,
  options: OutboxOptions,
): OutboxSource<PostgresTransaction> {
  return new SqlOutbox(storeOf(pool), POSTGRES_COUNTS, options, (client) =>
    has(client, 'query') ? new PostgresRunner(client) : null,
  )
}

function storeOf(pool: PostgresPool): PostgresStore {
  if (typeof pool?.connect !== 'function' || typeof pool.query !== 'function') {
    throw new InvalidArgumentError('pool', 'must be a Pool of pg')
  }
  // A Client connects only once and is no pool: calls would fail as if the database did not answer.
  if (has(pool, 'escapeIdentifier')) {
    throw new InvalidArgumentError('pool', 'must be a Pool of pg, not a Client')
  }
  return new PostgresStore(pool)
}

/**
 * Without a limit each wait for a lock would hold its connection, one more each minute. MySQL has a limit of its own.
 */
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED;
  SELECT set_config('lock_timeout', '50s', true) WHERE current_setting('lock_timeout') = '0'`

class PostgresStore implements SqlStore {
  readonly #pool: PostgresPool

  constructor(pool: PostgresPool) {
    this.#pool = pool
  }

  async transaction<Result>(work: (runner: SqlRunner) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect()
    // A lost connection also rejects its queries; without a listener the event would end the process.
    client.on('error', ignore)
    let broken: Error | undefined
    try {
      await answeredAtFirst(client.query(BEGIN))
      const result = await work(new PostgresRunner(client))
      await client.query('COMMIT')
      return result
    } catch (error) {
      broken = useless(error) ?? (await rollBack(client))
      throw error
    } finally {
      client.off('error', ignore)
      client.release(broken)
    }
  }

  rows(statement: Statement): Promise<readonly Row[]> {
    return new PostgresRunner(this.#pool).rows(statement)
  }
}

class PostgresRunner implements SqlRunner {
  readonly #client: Pick<PostgresClient, 'query'>

  constructor(client: Pick<PostgresClient, 'query'>) {
    this.#client = client
  }

  async rows({ sql, values }: Statement): Promise<readonly Row[]> {
    return (await this.#client.query(sql, [...values])).rows as Row[]
  }

  async changes({ sql, values }: Statement): Promise<number> {
    return (await this.#client.query(sql, [...values])).rowCount ?? 0
  }
}

function ignore(): void {}

/** A connection to no primary, or to no server, need not be rolled back. */
function useless(error: unknown): Error | undefined {
  if (isSilent(error)) return new Error('it does not answer')
  return isReadOnly(error) ? new Error('it is not connected to a primary') : undefined
}

/** Returns why the client must be discarded, if it must. */
async function rollBack(client: PostgresClient): Promise<Error | undefined> {
  try {
    await client.query('ROLLBACK')
    return undefined
  } catch (error) {
    return isError(error) ? error : new Error(summaryOf(error))
  }
}
