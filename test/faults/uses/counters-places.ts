// Counters over databases of their own, which are past all faults.

import Database from 'libsql'
import type { Counters, RowCounters, Duration, EventSource } from 'perilune'
import { sqlite, sqliteEvents } from 'perilune/sqlite'
import type { Place } from './use.ts'

const ITEMS = 'CREATE TABLE items (id TEXT PRIMARY KEY, value INTEGER NOT NULL)'
const VOTES = 'CREATE TABLE votes (id INTEGER PRIMARY KEY AUTOINCREMENT, item TEXT)'

export function openCounters({ redis, name }: Place, fsyncGrace: Duration = '0s'): Counters {
  const database = new Database(':memory:')
  database.exec(ITEMS)
  return redis.counters(name, {
    sink: sqlite(database, { table: 'items' }),
    fsyncGrace,
    retention: '1h',
  })
}

export interface Rows {
  readonly database: Database.Database
  readonly events: EventSource
  readonly votes: RowCounters
  /** What the database calls them. */
  readonly sqlName: string
}

/** Counters of the rows of `votes`. */
export function openRows({ redis, namespace, name }: Place): Rows {
  const database = new Database(':memory:')
  database.exec(`${ITEMS}; ${VOTES}`)
  const events = sqliteEvents(database, { table: 'votes', id: 'item', target: { table: 'items' } })
  const votes = redis.counters(name, { events, retention: '1h', batchSize: 10_000 })
  return { database, events, votes, sqlName: `${namespace}:${name}` }
}
