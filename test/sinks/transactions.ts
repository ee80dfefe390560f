// Transactions that something else runs than the library: Kysely, and a connection in the hands of the user.
import { CompiledQuery, Kysely, MysqlDialect, PostgresDialect } from 'kysely'
import { createPool as createCallbackPool } from 'mysql2'
import type { Transact } from 'perilune/transaction-sink'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { openMariadb, openPostgres, openSqlite, type Place, type PostgresPlace } from './places.ts'

export interface Transactions {
  readonly place: Place
  readonly transact: Transact
  readonly dialect: 'postgres' | 'mysql' | 'sqlite'
}

/** The code of a Kysely user. */
function inKysely(database: Kysely<unknown>): Transact {
  return (work) =>
    database
      .transaction()
      .setIsolationLevel('read committed')
      .execute((transaction) =>
        work(async (sql, values) => {
          const { rows, numAffectedRows } = await transaction.executeQuery(CompiledQuery.raw(sql, values))
          return { rows, changed: numAffectedRows ?? 0n }
        }),
      )
}

/** On the server that all tests share, or on another one. */
export async function kyselyOnPostgres(
  open: () => Promise<PostgresPlace> = openPostgres,
): Promise<Transactions> {
  const place = await open()
  const options = `-c search_path=${place.schema}`
  const address = { host: '127.0.0.1', port: place.port, user: 'postgres', database: 'postgres' }
  const pool = new pg.Pool({ ...address, options })
  const database = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  onTestFinished(() => database.destroy())
  return { place, transact: inKysely(database), dialect: 'postgres' }
}

export async function kyselyOnMariadb(): Promise<Transactions> {
  const place = await openMariadb()
  const address = { host: '127.0.0.1', port: place.port, user: 'root', database: place.schema }
  const pool = createCallbackPool(address)
  const database = new Kysely<unknown>({ dialect: new MysqlDialect({ pool }) })
  onTestFinished(() => database.destroy())
  return { place, transact: inKysely(database), dialect: 'mysql' }
}

/** A connection of SQLite whose owner begins and ends the transactions, one after the other. */
export async function ownSqlite(): Promise<Transactions> {
  const place = await openSqlite()
  const database = place.open()
  let last: Promise<unknown> = Promise.resolve()
  const run: Transact = async (work) => {
    database.exec('BEGIN')
    try {
      const result = await work(async (sql, values) => {
        const prepared = database.prepare(sql)
        if (prepared.reader) return { rows: prepared.all(...values), changed: 0 }
        return { rows: [], changed: prepared.run(...values).changes }
      })
      database.exec('COMMIT')
      return result
    } catch (error) {
      database.exec('ROLLBACK')
      throw new Error('the transaction failed', { cause: error })
    }
  }
  const transact: Transact = (work) => {
    const result = last.then(() => run(work))
    last = result.catch(() => undefined)
    return result
  }
  return { place, transact, dialect: 'sqlite' }
}
