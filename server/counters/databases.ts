// The databases of counters. A client library is loaded only if an entry names its database. Entries on the same server
// share its connections, and none connects before its first use.

import type { EventSource, OutboxSource, Sink } from 'perilune'
import { mysql, mysqlEvents, mysqlOutbox } from 'perilune/mysql'
import { postgres, postgresEvents, postgresOutbox } from 'perilune/postgres'
import {
  eventsFromTransaction,
  fromTransaction,
  outboxFromTransaction,
  type Transact,
} from 'perilune/transaction-sink'
import { within } from '../process/within.ts'
import { type DatabaseUrl, pathOf } from './database-url.ts'
import type { EntryEvents, EntryOutbox, EntryTarget } from './entry-schema.ts'
import { SqliteFile } from './sqlite-file.ts'

/** The database of counters, over one client. */
export interface Database {
  sink(target: EntryTarget): Sink
  events(events: EntryEvents): EventSource
  outbox(outbox: EntryOutbox): OutboxSource<never>
  close(): Promise<void>
}

// As long as the library waits for a batch.
const PATIENCE_MS = 5000
const CLOSING_MS = 2000
const CONNECTIONS = 10

export class Databases {
  readonly #open = new Map<string, Promise<Database>>()

  at({ kind, url }: DatabaseUrl): Promise<Database> {
    const opening = this.#open.get(url) ?? OPENERS[kind](url)
    this.#open.set(url, opening)
    return opening
  }

  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#open.values())
    this.#open.clear()
    const databases = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    // A database that is away does not answer the closing.
    await within(CLOSING_MS, Promise.allSettled(databases.map((database) => database.close())))
  }
}

const OPENERS: Readonly<Record<DatabaseUrl['kind'], (url: string) => Promise<Database>>> = {
  sqlite: async (url) => openSqlite(pathOf(url)),
  postgres: openPostgres,
  mysql: openMysql,
}

function openSqlite(path: string): Database {
  const file = new SqliteFile(path)
  const transact: Transact = (work) => file.transact(work)
  const dialect = 'sqlite'
  return {
    sink: (target) => fromTransaction(transact, { dialect, ...target }),
    events: (events) => eventsFromTransaction(transact, { dialect, ...events }),
    outbox: (outbox) => outboxFromTransaction(transact, { dialect, ...outbox }),
    close: () => file.close(),
  }
}

async function openPostgres(connectionString: string): Promise<Database> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    connectionString,
    max: CONNECTIONS,
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: 2 * PATIENCE_MS,
    keepAlive: true,
  })
  pool.on('error', () => undefined) // an idle connection was lost: the next query opens another
  return {
    sink: (target) => postgres(pool, target),
    events: (events) => postgresEvents(pool, events),
    outbox: (outbox) => postgresOutbox(pool, outbox),
    close: () => pool.end(),
  }
}

async function openMysql(uri: string): Promise<Database> {
  const { createPool } = await import('mysql2/promise')
  const pool = createPool({
    uri: uri.replace(/^mariadb:/, 'mysql:'),
    connectionLimit: CONNECTIONS,
    connectTimeout: PATIENCE_MS,
  })
  return {
    sink: (target) => mysql(pool, target),
    events: (events) => mysqlEvents(pool, events),
    outbox: (outbox) => mysqlOutbox(pool, outbox),
    close: () => pool.end(),
  }
}
