// Votes in MySQL or MariaDB.

import { createPool, type Pool, type RowDataPacket } from 'mysql2/promise'
import type { EventSource } from 'perilune'
import { mysqlEvents } from 'perilune/mysql'
import { EVENTS, type Item, ITEM_ROWS, toItem, toRowCounts, type VoteDatabase } from './database.ts'

const TABLES = [
  `CREATE TABLE IF NOT EXISTS items (
    id BIGINT PRIMARY KEY, title VARCHAR(80) NOT NULL, votes BIGINT NOT NULL DEFAULT 0) ENGINE=InnoDB`,
  `CREATE TABLE IF NOT EXISTS votes (
    id BIGINT AUTO_INCREMENT PRIMARY KEY, voter VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    item BIGINT NOT NULL, at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), counted BIGINT NOT NULL DEFAULT 0,
    UNIQUE (voter, item), INDEX (counted)) ENGINE=InnoDB`,
  `INSERT IGNORE INTO items (id, title) VALUES ${ITEM_ROWS}`,
]
const VOTE = 'INSERT INTO votes (voter, item) VALUES (?, ?)'
const ROWS = "SELECT item, COUNT(*) AS votes FROM votes WHERE voter LIKE CONCAT(?, '%') GROUP BY item"
const DUPLICATE = 'ER_DUP_ENTRY'

export async function openMysql(url: string): Promise<VoteDatabase> {
  const pool = createPool({ uri: url, connectionLimit: 20 })
  for (const statement of TABLES) await pool.query(statement)
  return new MysqlVotes(pool)
}

class MysqlVotes implements VoteDatabase {
  readonly place = 'MySQL or MariaDB'
  readonly events: EventSource
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
    this.events = mysqlEvents(pool, EVENTS)
  }

  /** INSERT IGNORE would hide other errors, too. */
  async insert(voter: string, item: number): Promise<boolean> {
    try {
      await this.#pool.query(VOTE, [voter, item])
      return true
    } catch (error) {
      if ((error as { code?: unknown }).code === DUPLICATE) return false
      throw error
    }
  }

  async items(): Promise<Item[]> {
    const [rows] = await this.#pool.query<RowDataPacket[]>('SELECT id, title, votes FROM items ORDER BY id')
    return rows.map(toItem)
  }

  async rows(voters: string): Promise<Map<number, number>> {
    const [rows] = await this.#pool.query<RowDataPacket[]>(ROWS, [voters])
    return toRowCounts(rows)
  }

  close(): Promise<void> {
    return this.#pool.end()
  }
}
