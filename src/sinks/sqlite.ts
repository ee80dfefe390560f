// SQLite, through the promises of libsql or through node:sqlite.

import { SinkError } from '../counters/errors.ts'
import type { Sink } from '../counters/sink.ts'
import { InvalidArgumentError } from '../runtime/errors.ts'
import {
  type Dialect,
  type Row,
  type SqlRunner,
  SqlSink,
  type SqlStore,
  type Statement,
  type Target,
} from './sql.ts'

/** What a prepared statement of libsql and of node:sqlite have in common. */
interface Prepared {
  all(...values: unknown[]): unknown
  run(...values: unknown[]): unknown
}

/** A database of `libsql` (either of its forms), of `node:sqlite` or of `better-sqlite3`. */
export interface SqliteDatabase {
  prepare(sql: string): unknown
  exec(sql: string): unknown
}

const DIALECT: Dialect = {
  name: 'sqlite',
  ledger: `CREATE TABLE IF NOT EXISTS perilune_ledger (
    counters TEXT NOT NULL, shard INTEGER NOT NULL, epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL, batch TEXT NOT NULL, PRIMARY KEY (counters, shard, epoch)) WITHOUT ROWID`,
  columns: ({ table }) => {
    const [schema, name] = table.includes('.') ? table.split('.') : ['main', table]
    return { sql: 'SELECT name, type FROM pragma_table_info(?, ?)', values: [name ?? '', schema ?? ''] }
  },
  read: ({ table, id, value }, { counters, shard, epoch }, ids) => ({
    sql: `SELECT CAST(t.${id} AS TEXT) AS id, CAST(t.${value} AS TEXT) AS value, l.seq AS seq
      FROM (SELECT 1) one
      LEFT JOIN perilune_ledger l ON l.counters = ? AND l.shard = ? AND l.epoch = ?
      LEFT JOIN ${table} t ON t.${id} IN (${ids.map(() => '?').join(', ')})`,
    values: [counters, shard, epoch, ...ids],
  }),
  newest: (counters, shard) => ({
    sql: 'SELECT MAX(epoch) AS epoch FROM perilune_ledger WHERE counters = ? AND shard = ?',
    values: [counters, shard],
  }),
  enter: ({ counters, shard, epoch }) => ({
    sql: "INSERT INTO perilune_ledger VALUES (?, ?, ?, 0, '') ON CONFLICT DO NOTHING",
    values: [counters, shard, epoch],
  }),
  advance: ({ counters, shard, epoch, seq, batch }) => ({
    sql: `UPDATE perilune_ledger SET seq = ?, batch = ?
      WHERE counters = ? AND shard = ? AND epoch = ? AND seq = ?`,
    values: [seq, batch, counters, shard, epoch, seq - 1],
  }),
  standing: ({ counters, shard, epoch }) => ({
    sql: 'SELECT seq, batch FROM perilune_ledger WHERE counters = ? AND shard = ? AND epoch = ?',
    values: [counters, shard, epoch],
  }),
  change: ({ table, id, value, missing }, changes) => {
    const all = JSON.stringify(changes.map((change) => [change.id, String(change.delta)]))
    const rows = 'SELECT value ->> 0 AS id, CAST(value ->> 1 AS INTEGER) AS delta FROM json_each(?)'
    const sql =
      missing === 'create'
        ? `INSERT INTO ${table} (${id}, ${value}) SELECT id, delta FROM (${rows}) WHERE true
           ON CONFLICT (${id}) DO UPDATE SET ${value} = ${table}.${value} + excluded.${value}`
        : `UPDATE ${table} SET ${value} = ${table}.${value} + c.delta FROM (${rows}) AS c
           WHERE ${table}.${id} = c.id`
    return [{ sql, values: [all] }]
  },
}

/** A table of SQLite that counters are flushed to. Throws InvalidArgumentError. */
export function sqlite(database: SqliteDatabase, target: Target): Sink {
  if (typeof database?.prepare !== 'function' || typeof database.exec !== 'function') {
    throw new InvalidArgumentError('database', 'must be one of libsql or node:sqlite')
  }
  return new SqlSink(new SqliteStore(database), DIALECT, target)
}

/** One connection: transactions come one after the other. */
class SqliteStore implements SqlStore {
  readonly #database: SqliteDatabase
  #last: Promise<unknown> = Promise.resolve()

  constructor(database: SqliteDatabase) {
    this.#database = database
  }

  transaction<Result>(work: (runner: SqlRunner) => Promise<Result>): Promise<Result> {
    const result = this.#last.then(() => this.#run(work))
    this.#last = result.catch(() => undefined)
    return result
  }

  async #run<Result>(work: (runner: SqlRunner) => Promise<Result>): Promise<Result> {
    await this.#database.exec('BEGIN IMMEDIATE')
    try {
      const result = await work(this)
      await this.#database.exec('COMMIT')
      return result
    } catch (error) {
      await this.#rollBack()
      throw error
    }
  }

  /** What failed first is what is told. */
  async #rollBack(): Promise<void> {
    try {
      await this.#database.exec('ROLLBACK')
    } catch {
      // It has been rolled back by the failure itself.
    }
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

  explain(error: unknown): SinkError {
    const { code = '' } = error instanceof Error ? (error as { code?: string }) : {}
    const isBusy = /SQLITE_(BUSY|LOCKED)/.test(code) || /database (table )?is locked/.test(String(error))
    return new SinkError(isBusy ? 'sink-busy' : 'sink-failed', `sqlite: ${String(error)}`, { cause: error })
  }
}
