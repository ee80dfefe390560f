// PostgreSQL on a server of its own.

import pg from 'pg'
import { startPostgres } from '../../test/servers/postgres.ts'
import { builtLibrary } from '../harness/built.ts'
import { AS_IT_COMES, CONNECTIONS, type Database, type Rows, type Run } from './database.ts'

const SHOWN = ['server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers']

export async function openPostgres(): Promise<Database> {
  const server = await startPostgres(AS_IT_COMES)
  const address = { host: '127.0.0.1', port: server.port, user: 'postgres', database: 'postgres' }
  const judge = new pg.Client(address)
  await judge.connect()
  const counted = { statements: 0 }
  const pool = poolOf(address, counted)
  return {
    kind: 'PostgreSQL',
    run: runOn(pool),
    prepare: (sql) => judge.query(sql),
    transaction: (work) => inTransaction(pool, work),
    settings: async () => {
      const { rows } = await judge.query(
        `SELECT string_agg(name || ' ' || current_setting(name), ', ') AS settings FROM unnest($1::text[]) AS name`,
        [SHOWN],
      )
      return String(rows[0]?.settings)
    },
    eventColumns: (votes) => ({
      columns: 'tx xid8 NOT NULL DEFAULT pg_current_xact_id()',
      index: `CREATE INDEX ON ${votes} (tx)`,
    }),
    sink: async (target) => (await builtLibrary()).postgres.postgres(pool, target),
    events: async (options) => (await builtLibrary()).postgres.postgresEvents(pool, options),
    work: async () => {
      const rows = await rowsWritten(pool, judge)
      counted.statements -= CONNECTIONS // those that asked
      return { statements: counted.statements, rows }
    },
    stop: async () => {
      await Promise.all([pool.end(), judge.end()])
      await server.stop()
    },
  }
}

/** Statements are counted here, as the server does so only with an extension. */
function poolOf(address: pg.PoolConfig, counted: { statements: number }): pg.Pool {
  class CountingClient extends pg.Client {
    // The pool and the library call it in several of its many forms.
    override query: pg.Client['query'] = (...asked: unknown[]): never => {
      counted.statements++
      return (pg.Client.prototype.query as (...all: unknown[]) => never).apply(this, asked)
    }
  }
  const pool = new pg.Pool({
    ...address,
    Client: CountingClient,
    max: CONNECTIONS,
    idleTimeoutMillis: 0,
  })
  pool.on('error', () => {}) // the next query reports it
  return pool
}

const prepared = new Map<string, { readonly name: string; readonly text: string }>()

function runOn(client: Pick<pg.Pool, 'query'>): Run {
  return async (sql, values = []) => {
    const known = prepared.get(sql) ?? { name: `s${prepared.size}`, text: numbered(sql) }
    prepared.set(sql, known)
    const { rows } = await client.query({ ...known, values: [...values] })
    return rows as Rows
  }
}

function numbered(sql: string): string {
  let at = 0
  return sql.replaceAll('?', () => `$${++at}`)
}

async function inTransaction(pool: pg.Pool, work: (run: Run) => Promise<unknown>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    await work(runOn(client))
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
}

/** Connections publish their statistics after up to ten seconds, unless they are asked to do so at once. */
async function rowsWritten(pool: pg.Pool, judge: pg.Client): Promise<number> {
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.connect()))
  await Promise.all([judge, ...clients].map((client) => client.query('SELECT pg_stat_force_next_flush()')))
  for (const client of clients) client.release()
  const { rows } = await judge.query(
    `SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) AS written FROM pg_stat_user_tables`,
  )
  return Number(rows[0]?.written ?? 0)
}
