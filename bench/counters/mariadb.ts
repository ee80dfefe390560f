// MariaDB on a server of its own.

import { createPool, type Pool, type RowDataPacket } from 'mysql2/promise'
import { startMariadb } from '../../test/servers/mariadb.ts'
import { builtLibrary } from '../harness/built.ts'
import { AS_IT_COMES, CONNECTIONS, type Database, type Rows, type Run, type Work } from './database.ts'

const SHOWN = [
  'version',
  'innodb_flush_log_at_trx_commit',
  'innodb_doublewrite',
  'log_bin',
  'innodb_buffer_pool_size',
  'innodb_log_file_size',
]
const WRITTEN = ['Handler_write', 'Handler_update', 'Handler_delete']

export async function openMariadb(): Promise<Database> {
  const server = await startMariadb(AS_IT_COMES)
  const address = { host: '127.0.0.1', port: server.port, user: 'root' }
  const judge = createPool({ ...address, connectionLimit: 1 })
  await judge.query('CREATE DATABASE bench')
  await judge.query('USE bench')
  const connectionLimit = CONNECTIONS
  const pool = createPool({ ...address, database: 'bench', connectionLimit, maxIdle: connectionLimit })
  return {
    kind: 'MariaDB',
    run: runOn(pool),
    prepare: (sql) => judge.query(sql).then(([rows]) => rows),
    transaction: (work, level) => inTransaction(pool, work, level),
    settings: async () => {
      const values = await valuesOf(judge, 'VARIABLES', SHOWN)
      return SHOWN.map((name) => `${name} ${values.get(name)}`).join(', ')
    },
    eventColumns: () => ({
      columns: 'id BIGINT AUTO_INCREMENT PRIMARY KEY, counted BIGINT NOT NULL DEFAULT 0, INDEX (counted)',
      index: '',
    }),
    sink: async (target) => (await builtLibrary()).mysql.mysql(pool, target),
    events: async (options) => (await builtLibrary()).mysql.mysqlEvents(pool, options),
    work: () => workOf(judge),
    stop: async () => {
      await Promise.all([pool.end(), judge.end()])
      await server.stop()
    },
  }
}

/** As the sinks do: text with its values in it, which mysql2 prepares no faster. */
function runOn(client: Pick<Pool, 'query'>): Run {
  return async (sql, values = []) => {
    const [rows] = await client.query(sql, [...values])
    return rows as Rows
  }
}

async function inTransaction(
  pool: Pool,
  work: (run: Run) => Promise<unknown>,
  level?: string,
): Promise<void> {
  const connection = await pool.getConnection()
  try {
    if (level !== undefined) await connection.query(`SET TRANSACTION ISOLATION LEVEL ${level}`)
    await connection.query('START TRANSACTION')
    await work(runOn(connection))
    await connection.query('COMMIT')
  } catch (error) {
    await connection.query('ROLLBACK')
    throw error
  } finally {
    connection.release()
  }
}

async function workOf(judge: Pool): Promise<Work> {
  const values = await valuesOf(judge, 'STATUS', ['Questions', ...WRITTEN])
  return {
    statements: Number(values.get('Questions')),
    rows: WRITTEN.reduce((sum, name) => sum + Number(values.get(name)), 0),
  }
}

async function valuesOf(
  judge: Pool,
  what: 'VARIABLES' | 'STATUS',
  names: readonly string[],
): Promise<Map<string, string>> {
  const list = names.map((name) => `'${name}'`).join(', ')
  const [rows] = await judge.query<RowDataPacket[]>(`SHOW GLOBAL ${what} WHERE Variable_name IN (${list})`)
  return new Map(rows.map((row) => [String(row['Variable_name']), String(row['Value'])]))
}
