// Shared by the tests of counters whose counts are in SQL: a table of votes in SQLite, one for each voter.

import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import Database from 'libsql'
import { type Duration, perilune } from 'perilune'
import type { RowCounters, RowCountersOptions } from 'perilune/counters'
import { ioredis } from 'perilune/ioredis'
import { sqliteEvents } from 'perilune/sqlite'
import { inject, onTestFinished } from 'vitest'
import contract from '../lua/contract.json' with { type: 'json' }
import type { EventSource } from '../src/counters/count-source.ts'
import type { EventsOptions } from '../src/sinks/sql/count-dialect.ts'
import { START_US, setTestClock, withTestClock } from '../src/testing/test-clock.ts'
import { counting } from './counting-driver.ts'

export interface Setup {
  votes: RowCounters
  source: EventSource
  client: Redis
  database: Database.Database
  /** Another connection to the database. */
  open(): Database.Database
  name: string
  /** Names of the scripts run so far. */
  calls: string[]
  /** Inserts votes without a notification. */
  insert(item: number, count?: number): void
  /** Votes as an application does: the row, then the note. */
  vote(item: number): Promise<unknown>
  /** The content of the table of counters. */
  stored(item: number): number | undefined
  /** The newest roll-up in the database. */
  version(): number
  clock: { advance(ms: number): Promise<void> }
  /** The same counters, as another process has them. */
  another(options?: Partial<RowCountersOptions>): RowCounters
  /** Redis loses all that it has of them. */
  empty(): Promise<void>
}

export type SetupOptions = Omit<RowCountersOptions, 'events'> & {
  clock?: 'real'
  events?: Partial<EventsOptions>
  deadline?: Duration
}

const NAMESPACE = 'shown-test'
const TABLES = `CREATE TABLE items (id INTEGER PRIMARY KEY, votes INTEGER NOT NULL DEFAULT 0);
  CREATE TABLE votes (id INTEGER PRIMARY KEY AUTOINCREMENT, item INTEGER NOT NULL)`

const VOTES = { table: 'votes', id: 'item', target: { table: 'items', value: 'votes' } }

export async function setup({
  clock: kind,
  events,
  deadline = '5s',
  ...options
}: SetupOptions = {}): Promise<Setup> {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-shown-'))
  const open = (): Database.Database => openIn(folder)
  const database = open()
  database.exec(TABLES)
  const client = new Redis(inject('redisPort'))
  const calls: string[] = []
  const plain = counting(ioredis(client), calls)
  const connect = () =>
    perilune(kind === 'real' ? plain : withTestClock(plain, contract.clock), {
      namespace: NAMESPACE,
      deadline,
    })
  const redis = connect()
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
    rmSync(folder, { recursive: true })
  })
  const name = randomUUID()
  const source = sqliteEvents(open(), { ...VOTES, ...events })
  let us = START_US
  const move = async (): Promise<void> => {
    for (let at = 0; at < (options.partitions ?? 1); at++)
      await setTestClock(plain, `${NAMESPACE}:{counters:${name}:${at}}`, us)
  }
  if (kind !== 'real') await move()
  const advance = async (ms: number): Promise<void> => {
    us += ms * 1000
    await move()
  }
  const insert = (item: number, count = 1): void => {
    for (let at = 0; at < count; at++) database.prepare('INSERT INTO votes (item) VALUES (?)').run(item)
  }
  const votes = redis.counters(name, { events: source, ...options })
  return {
    votes,
    source,
    client,
    database,
    open,
    name,
    calls,
    insert,
    vote: (item) => {
      insert(item)
      return votes.optimisticAdd(item)
    },
    stored: (item) => storedOf(database, item),
    version: () => versionOf(database),
    clock: { advance },
    another: (own = {}) => connect().counters(name, { events: source, ...options, ...own }),
    empty: () => empty(client, name),
  }
}

function openIn(folder: string): Database.Database {
  const opened = new Database(join(folder, 'votes.db'))
  onTestFinished(() => void opened.close())
  return opened
}

async function empty(client: Redis, name: string): Promise<void> {
  const keys = await client.keys(`${NAMESPACE}:{counters:${name}:*`)
  for (const key of keys.filter((each) => !each.endsWith(':clock'))) await client.del(key)
}

function versionOf(database: Database.Database): number {
  return (database.prepare('SELECT version FROM perilune_cursor').get() as { version: number }).version
}

function storedOf(database: Database.Database, item: number): number | undefined {
  const row = database.prepare('SELECT votes FROM items WHERE id = ?').get(item)
  return (row as { votes: number } | undefined)?.votes
}
