// A database of the tests of counters as its address, which a process can be given.

import Database from 'libsql'
import { createPool } from 'mysql2/promise'
import { mysql } from 'perilune/mysql'
import { postgres } from 'perilune/postgres'
import { type SqliteDatabase, sqlite } from 'perilune/sqlite'
import pg from 'pg'
import type { Sink } from '../../src/counters/sink.ts'

export type DatabaseKind = 'postgres' | 'mariadb' | 'sqlite'

export interface Address {
  readonly kind: DatabaseKind
  /** Of a server. */
  readonly port: number
  /** Its schema; of SQLite the file. */
  readonly name: string
}

export interface Opened {
  readonly sink: Sink
  close(): Promise<unknown>
}

const TARGET = { table: 'items', value: 'votes' }
const HOST = '127.0.0.1'

/** A sink with connections of its own. `around` is what it gets for a database of SQLite. */
export function openSink(
  { kind, port, name }: Address,
  around: (database: SqliteDatabase) => SqliteDatabase = (database) => database,
): Opened {
  if (kind === 'postgres') return openPostgres(port, name)
  if (kind === 'mariadb') {
    const pool = createPool({ host: HOST, port, user: 'root', database: name, connectionLimit: 5 })
    return { sink: mysql(pool, TARGET), close: () => pool.end() }
  }
  const database = new Database(name)
  // First, for others may be just opening it, too.
  database.exec('PRAGMA busy_timeout = 5000')
  database.exec('PRAGMA journal_mode = WAL')
  return { sink: sqlite(around(database), TARGET), close: async () => database.close() }
}

function openPostgres(port: number, schema: string): Opened {
  const pool = new pg.Pool({
    host: HOST,
    port,
    user: 'postgres',
    database: 'postgres',
    max: 5,
    options: `-c search_path=${schema}`,
  })
  pool.on('error', () => undefined) // an idle connection that was lost
  return { sink: postgres(pool, TARGET), close: () => pool.end() }
}
