// The databases of random histories: each can be backed up, restored while processes continue, and lose the connection
// of a transaction.

import { randomUUID } from 'node:crypto'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { createPool, type Pool } from 'mysql2/promise'
import { mysql, mysqlEvents } from 'perilune/mysql'
import { postgres, postgresEvents } from 'perilune/postgres'
import { sqlite, sqliteEvents } from 'perilune/sqlite'
import pg from 'pg'
import type { EventSource } from '../../src/counters/count-source.ts'
import type { Sink } from '../../src/counters/sink.ts'
import type { EventsOptions } from '../../src/sinks/sql/count-dialect.ts'
import type { Target } from '../../src/sinks/sql/dialect.ts'

export type Rows = Record<string, unknown>[]

export interface World {
  readonly name: string
  /** Whether processes keep what they have opened when a backup is put back. */
  readonly isServer: boolean
  run(sql: string): Promise<Rows>
  has(table: string): Promise<boolean>
  backUp(): Promise<void>
  /** Puts the backup in the place of all that is there. */
  putBack(): Promise<void>
  /** A process that begins in the schema of the table, or in another one. */
  sink(target: Target, elsewhere: boolean): Sink
  events(events: string, target: Target, elsewhere: boolean): EventSource
  /** The next transaction loses its connection at this statement. */
  cutNext(at: number): void
  close(): Promise<void>
}

const COUNTED = ['items', 'sums']
const OURS = ['perilune_ledger', 'perilune_refused', 'perilune_cursor']
const TABLES = [...COUNTED, 'votes', ...OURS]

/** Tables of counts, whose rows are refused below -4. */
function tablesWith(key: string, votes: string): string[] {
  const counts = COUNTED.map(
    (table) => `CREATE TABLE ${table} (id ${key} PRIMARY KEY, votes ${key} CHECK (votes > -5))`,
  )
  return [...counts, `CREATE TABLE votes (${votes}, item ${key}, points INTEGER NOT NULL)`]
}

/** A file, which processes open; a restored file is another one. */
class SqliteFile {
  readonly #folder = mkdtempSync(join(tmpdir(), 'perilune-history-'))
  readonly #others: Database.Database[] = []
  #copies = 0
  database: Database.Database = new Database(this.#path)

  get #path(): string {
    return join(this.#folder, `${this.#copies}.db`)
  }

  connect(table: string, elsewhere: boolean): [Database.Database, string] {
    if (!elsewhere) return [this.database, table]
    const other = new Database(':memory:')
    this.#others.push(other)
    other.exec(`ATTACH '${this.#path}' AS shop`)
    return [other, `shop.${table}`]
  }

  backUp(): void {
    this.#end()
    copyFileSync(this.#path, join(this.#folder, 'backup'))
    this.database = new Database(this.#path)
  }

  putBack(): void {
    this.#end()
    this.#copies += 1
    copyFileSync(join(this.#folder, 'backup'), this.#path)
    this.database = new Database(this.#path)
  }

  remove(): void {
    this.#end()
    rmSync(this.#folder, { recursive: true })
  }

  #end(): void {
    for (const other of this.#others.splice(0)) other.close()
    this.database.close()
  }
}

export function sqliteWorld(): World {
  const file = new SqliteFile()
  for (const table of tablesWith('INTEGER', 'id INTEGER PRIMARY KEY AUTOINCREMENT')) file.database.exec(table)
  file.database.exec(`CREATE TRIGGER judge BEFORE INSERT ON items WHEN new.id = 5 AND new.votes > 3
    BEGIN SELECT RAISE(ROLLBACK, 'too many'); END`)
  return {
    name: 'sqlite',
    isServer: false,
    run: async (sql) => {
      const prepared = file.database.prepare(sql)
      if (prepared.reader) return prepared.all() as Rows
      prepared.run()
      return []
    },
    has: async (table) =>
      file.database.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').all(table).length > 0,
    backUp: async () => file.backUp(),
    putBack: async () => file.putBack(),
    sink: ({ table, ...target }, elsewhere) => {
      const [own, name] = file.connect(table, elsewhere)
      return sqlite(own, { ...target, table: name })
    },
    events: (events, { table, ...target }, elsewhere) => {
      const [own, name] = file.connect(table, elsewhere)
      return sqliteEvents(own, rowsOf(name.replace(table, events), { ...target, table: name }))
    },
    // A file has no connection: uncommitted work of a dead process is not there.
    cutNext: () => undefined,
    close: async () => file.remove(),
  }
}

function rowsOf(table: string, target: Target): EventsOptions {
  return { table, id: 'item', amount: 'points', target }
}

/** Common to both servers: a backup is a copy of the tables, and replaces them. */
function serverWorld(
  run: World['run'],
  schema: string,
): Pick<World, 'run' | 'has' | 'backUp' | 'putBack' | 'isServer'> {
  const has = async (table: string, of = schema): Promise<boolean> => {
    const known = `table_schema = '${of}' AND table_name = '${table}'`
    return (await run(`SELECT 1 FROM information_schema.tables WHERE ${known}`)).length > 0
  }
  /** A trigger would refuse an INSERT of what its row has come to. */
  const fill = async (table: string): Promise<void> => {
    const copy = `${schema}_copy.${table}`
    if (!COUNTED.includes(table)) return void (await run(`INSERT INTO ${table} SELECT * FROM ${copy}`))
    await run(`INSERT INTO ${table} (id) SELECT id FROM ${copy}`)
    await run(`UPDATE ${table} SET votes = (SELECT c.votes FROM ${copy} c WHERE c.id = ${table}.id)`)
  }
  return {
    run,
    has,
    isServer: true,
    backUp: async () => {
      for (const table of TABLES) {
        await run(`DROP TABLE IF EXISTS ${schema}_copy.${table}`)
        if (await has(table)) await run(`CREATE TABLE ${schema}_copy.${table} AS SELECT * FROM ${table}`)
      }
    },
    putBack: async () => {
      for (const table of TABLES) {
        if (!(await has(table))) continue
        if (await has(table, `${schema}_copy`)) {
          await run(`DELETE FROM ${table}`)
          await fill(table)
        } else await run(`DROP TABLE ${table}`)
      }
    },
  }
}

/** Counts the statements of a transaction, and ends it at one of them. */
class Cutter {
  #at = 0

  cutNext(at: number): void {
    this.#at = at
  }

  /** True at the statement at which the connection is lost. */
  isNow(): boolean {
    if (this.#at === 0) return false
    this.#at -= 1
    return this.#at === 0
  }
}

function cuttingPool(pool: pg.Pool, cutter: Cutter): unknown {
  return {
    query: pool.query.bind(pool),
    connect: async () => {
      const client = await pool.connect()
      const query = client.query.bind(client)
      const ask = (...asked: Parameters<typeof query>): ReturnType<typeof query> => {
        if (cutter.isNow())
          (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
        return query(...asked)
      }
      const release = (error?: Error): void => {
        Object.assign(client, { query, release: giveBack })
        client.release(error)
      }
      const giveBack = client.release.bind(client)
      return Object.assign(client, { query: ask, release })
    },
  }
}

export async function postgresWorld(port: number): Promise<World> {
  const schema = `h${randomUUID().replaceAll('-', '')}`
  const cutter = new Cutter()
  const pools: pg.Pool[] = []
  const connect = (path: string): pg.Pool => {
    const address = { host: '127.0.0.1', port, user: 'postgres', database: 'postgres', max: 3 }
    const pool = new pg.Pool({ ...address, options: `-c search_path=${path}` })
    pool.on('error', () => undefined) // a connection that was lost
    pools.push(pool)
    return pool
  }
  const own = connect(schema)
  const [home, elsewhere] = [cuttingPool(own, cutter), cuttingPool(connect('public'), cutter)]
  const run = async (sql: string): Promise<Rows> => (await own.query(sql)).rows as Rows
  await run(`CREATE SCHEMA ${schema}`)
  await run(`CREATE SCHEMA ${schema}_copy`)
  const votes = 'id bigserial PRIMARY KEY, tx xid8 NOT NULL DEFAULT pg_current_xact_id()'
  for (const table of tablesWith('BIGINT', votes)) await run(table)
  await run('CREATE INDEX ON votes (tx)')
  await run(`CREATE FUNCTION judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF new.votes > 3 THEN RAISE EXCEPTION 'too many' USING ERRCODE = 'UV001'; END IF; RETURN new; END $$`)
  await run(
    `CREATE TRIGGER judge BEFORE INSERT ON items FOR EACH ROW WHEN (new.id = 5) EXECUTE FUNCTION judge()`,
  )
  return {
    ...serverWorld(run, schema),
    name: 'postgres',
    sink: ({ table, ...target }, isElsewhere) =>
      isElsewhere
        ? postgres(elsewhere as never, { ...target, table: `${schema}.${table}` })
        : postgres(home as never, { ...target, table }),
    events: (events, { table, ...target }, isElsewhere) => {
      const of = isElsewhere ? `${schema}.` : ''
      const rows = rowsOf(`${of}${events}`, { ...target, table: `${of}${table}` })
      return postgresEvents((isElsewhere ? elsewhere : home) as never, rows)
    },
    cutNext: (at) => cutter.cutNext(at),
    close: async () => {
      await run(`DROP SCHEMA ${schema} CASCADE`)
      await run(`DROP SCHEMA ${schema}_copy CASCADE`)
      await Promise.all(pools.map((pool) => pool.end()))
    },
  }
}

export async function mariadbWorld(port: number): Promise<World> {
  const schema = `h${randomUUID().replaceAll('-', '')}`
  const cutter = new Cutter()
  const address = { host: '127.0.0.1', port, user: 'root', connectionLimit: 3 }
  const admin = createPool({ ...address, connectionLimit: 1 })
  await admin.query(`CREATE DATABASE ${schema}`)
  await admin.query(`CREATE DATABASE ${schema}_copy`)
  await admin.query(`USE ${schema}`)
  const pools = [createPool({ ...address, database: schema }), createPool(address)] as const
  const cutting = (pool: Pool) => ({
    getConnection: async () => {
      const connection = await pool.getConnection()
      const query = (sql: string): Promise<unknown> => {
        if (cutter.isNow()) connection.destroy()
        return connection.query(sql)
      }
      return { query, release: () => connection.release(), destroy: () => connection.destroy() }
    },
  })
  const [home, elsewhere] = pools.map(cutting)
  const run = async (sql: string): Promise<Rows> => (await admin.query(sql))[0] as Rows
  const votes = 'id BIGINT AUTO_INCREMENT PRIMARY KEY, counted BIGINT NOT NULL DEFAULT 0, INDEX (counted)'
  for (const table of tablesWith('BIGINT', votes)) await run(table)
  await run(`CREATE TRIGGER judge BEFORE INSERT ON items FOR EACH ROW
    IF new.id = 5 AND new.votes > 3 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'too many'; END IF`)
  return {
    ...serverWorld(run, schema),
    name: 'mariadb',
    sink: ({ table, ...target }, isElsewhere) =>
      isElsewhere
        ? mysql(elsewhere as never, { ...target, table: `${schema}.${table}` })
        : mysql(home as never, { ...target, table }),
    events: (events, { table, ...target }, isElsewhere) => {
      const of = isElsewhere ? `${schema}.` : ''
      const rows = rowsOf(`${of}${events}`, { ...target, table: `${of}${table}` })
      return mysqlEvents((isElsewhere ? elsewhere : home) as never, rows)
    },
    cutNext: (at) => cutter.cutNext(at),
    close: async () => {
      await run(`DROP DATABASE ${schema}`)
      await run(`DROP DATABASE ${schema}_copy`)
      await Promise.all([admin, ...pools].map((pool) => pool.end()))
    },
  }
}
