// Tables to which the counters of a test are flushed.

import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { createPool } from 'mysql2/promise'
import pg from 'pg'
import { SqliteFile } from '../counters/sqlite-file.ts'
import { databasePort } from '../../test/servers/shared-database.ts'

type Votes = Record<string, number>

/** A table `items` with a row 7 that has 40 votes. */
export interface Items {
  /** In the form of an entry of PERILUNE_COUNTERS. */
  readonly entry: { readonly database: string; readonly table: string; readonly value: string }
  votes(): Promise<Votes>
  run(sql: string): Promise<void>
  /** Creates a table `votes` of events, with `item` and `points`. */
  makeVotes(): Promise<void>
  /** Passes `work` what an outbox accepts as a transaction, and commits. */
  inTransaction<Result>(work: (client: never) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

const TABLE = 'CREATE TABLE items (id BIGINT PRIMARY KEY, votes BIGINT NOT NULL DEFAULT 0)'
const FIRST = 'INSERT INTO items VALUES (7, 40)'
const VOTES = 'item BIGINT NOT NULL, points INTEGER NOT NULL'
const ALL = 'SELECT id, votes FROM items'
export const NAMES = { table: 'items', value: 'votes' } as const
export const PASSWORD = 'p4ssw/rd'

export async function sqliteItems(): Promise<Items & { readonly file: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-items-'))
  const file = join(folder, 'items.db')
  const made = new Database(file)
  made.exec(`${TABLE}; ${FIRST}`)
  made.close()
  // A plain read during a commit fails, and libsql then keeps holding its lock.
  const database = new SqliteFile(file)
  const run = async (sql: string): Promise<unknown> =>
    (await database.transact((execute) => execute(sql, []))).rows
  return {
    file,
    entry: { database: `sqlite:${file}`, ...NAMES },
    votes: async () => asVotes(await run(ALL)),
    run: async (sql) => void (await run(sql)),
    makeVotes: async () =>
      void (await run(`CREATE TABLE votes (id INTEGER PRIMARY KEY AUTOINCREMENT, ${VOTES})`)),
    inTransaction: (work) => database.transact((execute) => work(execute as never)),
    async close() {
      await database.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** `through`: the port in the entry, if it is that of a proxy; `own`: the port of a server that belongs to the test. */
export async function postgresItems(through?: number, own?: number): Promise<Items> {
  const port = own ?? (await databasePort('postgres'))
  const name = `d${randomUUID().replaceAll('-', '')}`
  const root = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
  await root.connect()
  await root.query(`CREATE DATABASE ${name}`)
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'postgres', database: name })
  pool.on('error', () => undefined)
  await pool.query(`${TABLE}; ${FIRST}`)
  const password = encodeURIComponent(PASSWORD)
  return {
    entry: { database: `postgres://postgres:${password}@127.0.0.1:${through ?? port}/${name}`, ...NAMES },
    votes: async () => asVotes((await pool.query(ALL)).rows),
    run: async (sql) => void (await pool.query(sql)),
    makeVotes: async () =>
      void (await pool.query(`CREATE TABLE votes (id bigserial PRIMARY KEY, ${VOTES},
        tx xid8 NOT NULL DEFAULT pg_current_xact_id()); CREATE INDEX ON votes (tx)`)),
    async inTransaction(work) {
      const client = await pool.connect()
      await client.query('BEGIN')
      const result = await work(client as never)
      await client.query('COMMIT')
      client.release()
      return result
    },
    async close() {
      await pool.end()
      await root.query(`DROP DATABASE ${name} WITH (FORCE)`)
      await root.end()
    },
  }
}

export async function mariadbItems(through?: number): Promise<Items> {
  const port = await databasePort('mariadb')
  const name = `d${randomUUID().replaceAll('-', '')}`
  const pool = createPool({ host: '127.0.0.1', port, user: 'root', multipleStatements: true })
  await pool.query(`CREATE DATABASE ${name}; USE ${name}; ${TABLE}; ${FIRST}`)
  await pool.query(`CREATE USER ${name.slice(0, 20)}@'127.0.0.1' IDENTIFIED BY '${PASSWORD}';
    GRANT ALL ON ${name}.* TO ${name.slice(0, 20)}@'127.0.0.1'`)
  const password = encodeURIComponent(PASSWORD)
  return {
    entry: {
      database: `mysql://${name.slice(0, 20)}:${password}@127.0.0.1:${through ?? port}/${name}`,
      ...NAMES,
    },
    votes: async () => asVotes((await pool.query(`SELECT id, votes FROM ${name}.items`))[0]),
    run: async (sql) => void (await pool.query(`USE ${name}; ${sql}`)),
    makeVotes: async () =>
      void (await pool.query(`CREATE TABLE ${name}.votes (id BIGINT AUTO_INCREMENT PRIMARY KEY, ${VOTES},
        counted BIGINT NOT NULL DEFAULT 0, INDEX (counted))`)),
    async inTransaction(work) {
      const connection = await pool.getConnection()
      await connection.query(`USE ${name}; START TRANSACTION`)
      const result = await work(connection as never)
      await connection.query('COMMIT')
      connection.release()
      return result
    },
    async close() {
      await pool.query(`DROP DATABASE ${name}; DROP USER ${name.slice(0, 20)}@'127.0.0.1'`)
      await pool.end()
    },
  }
}

function asVotes(rows: unknown): Votes {
  const list = rows as { id: unknown; votes: unknown }[]
  return Object.fromEntries(list.map(({ id, votes }) => [String(id), Number(votes)]))
}
