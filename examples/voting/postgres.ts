// Votes in PostgreSQL.

import type { EventSource } from 'perilune'
import { postgresEvents } from 'perilune/postgres'
import pg from 'pg'
import { EVENTS, type Item, ITEM_ROWS, toItem, toRowCounts, type VoteDatabase } from './database.ts'

const TABLES = `CREATE TABLE IF NOT EXISTS items (
    id bigint PRIMARY KEY, title text NOT NULL, votes bigint NOT NULL DEFAULT 0);
  CREATE TABLE IF NOT EXISTS votes (
    voter text NOT NULL, item bigint NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp(),
    tx xid8 NOT NULL DEFAULT pg_current_xact_id(), PRIMARY KEY (voter, item));
  CREATE INDEX IF NOT EXISTS votes_tx ON votes (tx);
  INSERT INTO items (id, title) VALUES ${ITEM_ROWS} ON CONFLICT DO NOTHING`
const VOTE = 'INSERT INTO votes (voter, item) VALUES ($1, $2) ON CONFLICT DO NOTHING'
const ROWS = "SELECT item, count(*) AS votes FROM votes WHERE voter LIKE $1 || '%' GROUP BY item"

export async function openPostgres(url: string): Promise<VoteDatabase> {
  const pool = new pg.Pool({ connectionString: url, max: 20 })
  // Or an idle connection that is lost would end the program.
  pool.on('error', (error) => console.error(String(error)))
  await pool.query(TABLES)
  return new PostgresVotes(pool)
}

class PostgresVotes implements VoteDatabase {
  readonly place = 'PostgreSQL'
  readonly events: EventSource
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.#pool = pool
    this.events = postgresEvents(pool, EVENTS)
  }

  async insert(voter: string, item: number): Promise<boolean> {
    const { rowCount } = await this.#pool.query(VOTE, [voter, item])
    return rowCount === 1
  }

  async items(): Promise<Item[]> {
    const { rows } = await this.#pool.query<object>('SELECT id, title, votes FROM items ORDER BY id')
    return rows.map(toItem)
  }

  async rows(voters: string): Promise<Map<number, number>> {
    return toRowCounts((await this.#pool.query<object>(ROWS, [voters])).rows)
  }

  close(): Promise<void> {
    return this.#pool.end()
  }
}
