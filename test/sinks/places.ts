// The needs of the suite of sinks on each database: a place of its own on a real server, or in a file.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import { createPool, type Pool, type PoolConnection } from 'mysql2/promise'
import { mysql, mysqlEvents, mysqlOutbox } from 'perilune/mysql'
import { postgres, postgresEvents, postgresOutbox } from 'perilune/postgres'
import { sqlite, sqliteEvents, sqliteOutbox } from 'perilune/sqlite'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import type { EventSource, OutboxSource } from '../../src/counters/count-source.ts'
import type { Sink } from '../../src/counters/sink.ts'
import type { EventsOptions } from '../../src/sinks/sql/count-dialect.ts'
import type { Target } from '../../src/sinks/sql/dialect.ts'
import type { OutboxOptions } from '../../src/sinks/sql/row-sources.ts'
import { mysqlPackets, postgresPackets } from '../servers/packets.ts'
import { type Proxy, type Reader, startProxy } from '../servers/proxy.ts'
import { databasePort } from '../servers/shared-database.ts'

export type Rows = Record<string, unknown>[]

/** A connection of another session. */
export interface Session {
  run(sql: string): Promise<Rows>
  /** The transaction object that the outbox takes. */
  readonly client: unknown
}

export interface Place {
  readonly name: 'sqlite' | 'postgres' | 'mariadb'
  /** A sink with connections of its own; through `port` where that is a proxy. */
  sink(target: Target, port?: number): Sink
  events(options: EventsOptions, port?: number): EventSource
  outbox(options: OutboxOptions, port?: number): OutboxSource<unknown>
  /** Columns of a table of events that they need to be counted. */
  readonly eventColumns: string
  session(): Promise<Session>
  run(sql: string): Promise<Rows>
  /** Names in the quotes of the database. */
  quoted(...names: string[]): string[]
  readonly port: number
}

export interface ServerPlace extends Place {
  readonly newReader: () => Reader
  /** Ids of the connections that wait for a row. */
  waiting(): Promise<unknown[]>
  /** Said by a session that is not to be the one that a deadlock ends. */
  readonly isPatient: string
  /** A sink of a user who may read and write `items`, and the tables next to it, and may delete nothing. */
  sinkOfApplication(target: Target): Promise<Sink>
  /** Ends the connection that has this id. */
  endConnection(id: unknown): Promise<void>
}

export interface SqlitePlace extends Place {
  open(): Database.Database
  sinkOf(database: Database.Database, target: Target): Sink
}

export async function openSqlite(): Promise<SqlitePlace> {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-sinks-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const open = (): Database.Database => {
    const database = new Database(join(folder, 'sinks.db'))
    onTestFinished(() => void database.close())
    return database
  }
  const session = async (): Promise<Session> => {
    const database = open()
    return {
      client: database,
      run: async (sql) => {
        const prepared = database.prepare(sql)
        if (prepared.reader) return prepared.safeIntegers().all() as Rows
        prepared.run()
        return []
      },
    }
  }
  const place = await withRun('"', {
    name: 'sqlite',
    port: 0,
    sink: (target) => sqlite(open(), target),
    events: (options) => sqliteEvents(open(), options),
    outbox: (options) => sqliteOutbox(open(), options),
    eventColumns: 'id INTEGER PRIMARY KEY AUTOINCREMENT',
    session,
  })
  return { ...place, open, sinkOf: sqlite }
}

export interface PostgresPlace extends ServerPlace {
  readonly schema: string
  /** A pool of one connection, which waits this long for an answer. */
  impatientPool(waitMs: number): pg.Pool
  sinkOfPool(pool: pg.Pool, target: Target): Sink
  /** Sinks of a user of this name. */
  sinkOf(user: string): (target: Target) => Sink
  /** The sources of counts of a user with this name. */
  countsOf(user: string): Pick<Place, 'events' | 'outbox'>
}

/** In a schema of its own, of the server that all tests share or of another one. */
export async function openPostgres(own?: number, database = 'postgres'): Promise<PostgresPlace> {
  const port = own ?? (await databasePort('postgres'))
  const schema = `s${randomUUID().replaceAll('-', '')}`
  const address = { host: '127.0.0.1', database }
  const connect = (at: number, user = 'postgres'): pg.Pool => {
    const options = `-c search_path=${schema}`
    const pool = new pg.Pool({ ...address, port: at, user, max: 20, options })
    pool.on('error', () => {}) // a connection that a test ended while it was idle
    onTestFinished(() => pool.end())
    return pool
  }
  const session = async (): Promise<Session> => {
    const client = await connect(port).connect()
    onTestFinished(() => client.release(true))
    return { client, run: async (sql) => (await client.query(sql)).rows as Rows }
  }
  const place = await withRun('"', {
    name: 'postgres',
    port,
    sink: (target, at = port) => postgres(connect(at), target),
    events: (options, at = port) => postgresEvents(connect(at), options),
    outbox: (options, at = port) => postgresOutbox(connect(at), options),
    eventColumns: 'id bigserial PRIMARY KEY, tx xid8 NOT NULL DEFAULT pg_current_xact_id()',
    session,
  })
  await place.run(`CREATE SCHEMA ${schema}`)
  const waiting = `SELECT pid AS id FROM pg_stat_activity WHERE wait_event_type = 'Lock'
    AND query ~ 'items|perilune_cursor' AND pid IN (SELECT pid FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
      JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '${schema}')`
  return {
    ...place,
    schema,
    impatientPool: (waitMs) => {
      const pool = connect(port)
      Object.assign(pool.options, { query_timeout: waitMs, max: 1 })
      return pool
    },
    sinkOfPool: postgres,
    sinkOf: (user) => (target) => postgres(connect(port, user), target),
    countsOf: (user) => ({
      events: (options) => postgresEvents(connect(port, user), options),
      outbox: (options) => postgresOutbox(connect(port, user), options),
    }),
    newReader: postgresPackets,
    isPatient: "SET deadlock_timeout = '20s'",
    waiting: async () => (await place.run(waiting)).map(({ id }) => id),
    sinkOfApplication: async (target) => {
      const user = `u${randomUUID().replaceAll('-', '')}`
      await place.run(`CREATE ROLE ${user} LOGIN; GRANT USAGE ON SCHEMA ${schema} TO ${user};
        GRANT SELECT, INSERT, UPDATE ON items, perilune_ledger, perilune_refused TO ${user}`)
      return postgres(connect(port, user), target)
    },
    endConnection: async (id) => void (await place.run(`SELECT pg_terminate_backend(${String(id)})`)),
  }
}

export interface MariadbPlace extends ServerPlace {
  readonly schema: string
  /** A sink whose connections run this statement first. */
  sinkAfter(statement: string, target: Target): Sink
  /** As `sinkAfter`. */
  eventsAfter(statement: string, options: EventsOptions): EventSource
  /** A sink of one connection at a time, which is changed when it is made. */
  sinkThrough(target: Target, change: (connection: PoolConnection) => unknown): Sink
}

export async function openMariadb(): Promise<MariadbPlace> {
  const port = await databasePort('mariadb')
  const schema = `s${randomUUID().replaceAll('-', '')}`
  const connect = (at: number, database?: string, user = 'root'): Pool => {
    const place = database === undefined ? {} : { database }
    const pool = createPool({ host: '127.0.0.1', port: at, user, connectionLimit: 20, ...place })
    onTestFinished(() => pool.end())
    return pool
  }
  await connect(port).query(`CREATE DATABASE ${schema} CHARACTER SET utf8mb4`)
  const session = async (): Promise<Session> => {
    const connection = await connect(port, schema).getConnection()
    onTestFinished(() => connection.destroy())
    return { client: connection, run: async (sql) => (await connection.query(sql))[0] as Rows }
  }
  const place = await withRun('`', {
    name: 'mariadb',
    port,
    sink: (target, at = port) => mysql(connect(at, schema), target),
    events: (options, at = port) => mysqlEvents(connect(at, schema), options),
    outbox: (options, at = port) => mysqlOutbox(connect(at, schema), options),
    eventColumns: 'id BIGINT AUTO_INCREMENT PRIMARY KEY, counted BIGINT NOT NULL DEFAULT 0, INDEX (counted)',
    session,
  })
  const waiting = `SELECT t.trx_mysql_thread_id AS id FROM information_schema.innodb_trx t
    JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
    WHERE t.trx_state = 'LOCK WAIT' AND p.db = '${schema}'`
  return {
    ...place,
    schema,
    newReader: mysqlPackets,
    isPatient: 'SET innodb_lock_wait_timeout = 20',
    waiting: async () => {
      await sleep(150) // this table is not rebuilt for callers that read it more often
      return (await place.run(waiting)).map(({ id }) => id)
    },
    sinkOfApplication: async (target) => {
      const user = `u${randomUUID().slice(0, 8)}`
      await place.run(`CREATE USER ${user}@'127.0.0.1'`)
      for (const table of ['items', 'perilune_ledger', 'perilune_refused'])
        await place.run(`GRANT SELECT, INSERT, UPDATE ON ${schema}.${table} TO ${user}@'127.0.0.1'`)
      return mysql(connect(port, schema, user), target)
    },
    sinkAfter: (statement, target) => mysql(withStatement(connect(port, schema), statement), target),
    eventsAfter: (statement, options) =>
      mysqlEvents(withStatement(connect(port, schema), statement), options),
    sinkThrough: (target, change) => mysql(ofOneConnection(connect(port, schema), change), target),
    endConnection: async (id) => void (await place.run(`KILL ${String(id)}`)),
  }
}

/** A pool whose connections run a statement first. */
function withStatement(pool: Pool, statement: string): Pool {
  pool.pool.on('connection', (connection) => {
    connection.query(statement, () => undefined)
  })
  return pool
}

/** A pool that hands out the same connection until it is destroyed. */
function ofOneConnection(
  pool: Pool,
  change: (connection: PoolConnection) => unknown,
): Pick<Pool, 'getConnection'> {
  let kept: PoolConnection | undefined
  return {
    getConnection: async () => {
      if (kept !== undefined) return kept
      const connection = await pool.getConnection()
      const { destroy } = connection
      const gone = (): void => {
        kept = undefined
        destroy.call(connection)
      }
      kept = Object.assign(connection, { release: () => undefined, destroy: gone })
      await change(kept)
      return kept
    },
  }
}

async function withRun(mark: string, place: Omit<Place, 'run' | 'quoted'>): Promise<Place> {
  const { run } = await place.session()
  return { ...place, run, quoted: (...names) => names.map((name) => mark + name + mark) }
}

/** Not the COMMITTED of an isolation level. */
export const COMMIT: RegExp = /\WCOMMIT\0?$/

export async function proxyTo(place: ServerPlace): Promise<Proxy> {
  const proxy = await startProxy(place.port, place.newReader)
  onTestFinished(() => proxy.stop())
  return proxy
}
