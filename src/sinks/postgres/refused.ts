// How PostgreSQL stores refused changes.

import type { RefusedTable } from '../sql/dialect.ts'
import { refusedIn } from '../sql/quoted-names.ts'

export const POSTGRES_REFUSED: RefusedTable & { in(schema: string): string } = {
  in: refusedIn,
  table: (schema) =>
    guarded(`CREATE TABLE IF NOT EXISTS ${refusedIn(schema)} (
      counters text NOT NULL, id text NOT NULL, delta text NOT NULL, why text NOT NULL,
      tried timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (counters, id));`),
  list: (schema, counters, most) => ({
    sql: `SELECT id, delta, why FROM ${refusedIn(schema)} WHERE counters = $1 ORDER BY tried LIMIT $2`,
    values: [counters, most],
  }),
  enter: (schema, counters, id) => ({
    sql: `INSERT INTO ${refusedIn(schema)} (counters, id, delta, why) VALUES ($1, $2, '0', '') ON CONFLICT DO NOTHING`,
    values: [counters, id],
  }),
  lock: (schema, counters, id) => ({
    sql: `SELECT delta FROM ${refusedIn(schema)} WHERE counters = $1 AND id = $2 FOR UPDATE`,
    values: [counters, id],
  }),
  put: (schema, counters, { id, delta, why }) => ({
    sql: `INSERT INTO ${refusedIn(schema)} (counters, id, delta, why) VALUES ($1, $2, $3, $4)
      ON CONFLICT (counters, id) DO UPDATE SET delta = excluded.delta, why = excluded.why, tried = clock_timestamp()`,
    values: [counters, id, String(delta), why],
  }),
  remove: (schema, counters, id) => ({
    sql: `DELETE FROM ${refusedIn(schema)} WHERE counters = $1 AND id = $2`,
    values: [counters, id],
  }),
}

/** If two sessions create a table at once, one fails because the name exists, even with `IF NOT EXISTS`. */
export function guarded(sql: string): string {
  return `DO $$ BEGIN PERFORM pg_advisory_xact_lock(7146820551921032); ${sql} END $$`
}
