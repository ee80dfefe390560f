// Votes in SQLite: in a file that has a name, or in one that is gone when the program ends.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import type { EventSource } from 'perilune'
import { sqliteEvents } from 'perilune/sqlite'
import { EVENTS, type Item, ITEM_ROWS, toItem, toRowCounts, type VoteDatabase } from './database.ts'

const TABLES = `CREATE TABLE IF NOT EXISTS items (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, votes INTEGER NOT NULL DEFAULT 0);
  CREATE TABLE IF NOT EXISTS votes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, voter TEXT NOT NULL, item INTEGER NOT NULL,
    at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')), UNIQUE (voter, item));
  INSERT INTO items (id, title) VALUES ${ITEM_ROWS} ON CONFLICT DO NOTHING`
const VOTE = 'INSERT INTO votes (voter, item) VALUES (?, ?) ON CONFLICT DO NOTHING'
const ROWS = "SELECT item, COUNT(*) AS votes FROM votes WHERE voter LIKE ? || '%' GROUP BY item"
/** How long another process may keep the file to itself. */
const PATIENCE = { timeout: 2000 }

/** Without a file: a new one, in a temporary folder. */
export function openSqlite(file?: string): VoteDatabase {
  const folder = file === undefined ? mkdtempSync(join(tmpdir(), 'voting-')) : undefined
  return new SqliteVotes(file ?? join(String(folder), 'votes.db'), folder)
}

interface Vote {
  readonly voter: string
  readonly item: number
  settle(isNew: boolean): void
  fail(error: unknown): void
}

class SqliteVotes implements VoteDatabase {
  readonly place: string
  readonly events: EventSource
  readonly #database: Database.Database
  readonly #counting: Database.Database
  readonly #folder: string | undefined
  #waiting: Vote[] = []

  constructor(file: string, folder: string | undefined) {
    this.place = `SQLite, in ${file}`
    this.#folder = folder
    this.#database = new Database(file, PATIENCE)
    this.#database.exec('PRAGMA journal_mode = WAL')
    this.#database.exec(TABLES)
    this.#counting = new Database(file, PATIENCE)
    this.events = sqliteEvents(this.#counting, EVENTS)
  }

  /**
   * Votes that come in one turn of the event loop share a transaction, for an fsync each would be most of the work. It
   * runs in a turn of its own, where no roll-up of this process has the file.
   */
  insert(voter: string, item: number): Promise<boolean> {
    return new Promise((settle, fail) => {
      if (this.#waiting.push({ voter, item, settle, fail }) === 1) setImmediate(() => this.#insertAll())
    })
  }

  #insertAll(): void {
    const votes = this.#waiting
    this.#waiting = []
    try {
      const isNew = this.#inTransaction(votes)
      for (const [at, vote] of votes.entries()) vote.settle(isNew[at] === true)
    } catch (error) {
      for (const vote of votes) vote.fail(error)
    }
  }

  #inTransaction(votes: readonly Vote[]): boolean[] {
    const statement = this.#database.prepare(VOTE)
    const insertAll = this.#database.transaction(() =>
      votes.map(({ voter, item }) => statement.run(voter, item).changes === 1),
    )
    return insertAll.immediate()
  }

  async items(): Promise<Item[]> {
    const rows = this.#database.prepare('SELECT id, title, votes FROM items ORDER BY id').all()
    return (rows as object[]).map(toItem)
  }

  async rows(voters: string): Promise<Map<number, number>> {
    return toRowCounts(this.#database.prepare(ROWS).all(voters) as object[])
  }

  async close(): Promise<void> {
    this.#counting.close()
    this.#database.close()
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true })
  }
}
