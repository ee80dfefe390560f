// How SQLite stores refused changes.

import type { RefusedTable } from '../sql/dialect.ts'
import { refusedIn } from '../sql/quoted-names.ts'

export const SQLITE_REFUSED: RefusedTable & { in(schema: string): string } = {
  in: refusedIn,
  table: (schema) => `CREATE TABLE IF NOT EXISTS ${refusedIn(schema)} (
    counters TEXT NOT NULL, id TEXT NOT NULL, delta TEXT NOT NULL, why TEXT NOT NULL, tried REAL NOT NULL,
    PRIMARY KEY (counters, id)) WITHOUT ROWID`,
  list: (schema, counters, most) => ({
    sql: `SELECT id, delta, why FROM ${refusedIn(schema)} WHERE counters = ? ORDER BY tried LIMIT ?`,
    values: [counters, most],
  }),
  enter: (schema, counters, id) => ({
    sql: `INSERT INTO ${refusedIn(schema)} (counters, id, delta, why, tried) VALUES (?, ?, '0', '', 0) ON CONFLICT DO NOTHING`,
    values: [counters, id],
  }),
  lock: (schema, counters, id) => ({
    sql: `SELECT delta FROM ${refusedIn(schema)} WHERE counters = ? AND id = ?`,
    values: [counters, id],
  }),
  put: (schema, counters, { id, delta, why }) => ({
    sql: `INSERT INTO ${refusedIn(schema)} (counters, id, delta, why, tried) VALUES (?, ?, ?, ?, julianday('now'))
      ON CONFLICT (counters, id) DO UPDATE SET delta = excluded.delta, why = excluded.why, tried = excluded.tried`,
    values: [counters, id, String(delta), why],
  }),
  remove: (schema, counters, id) => ({
    sql: `DELETE FROM ${refusedIn(schema)} WHERE counters = ? AND id = ?`,
    values: [counters, id],
  }),
}
