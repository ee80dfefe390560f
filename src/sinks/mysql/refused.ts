// How MySQL and MariaDB store refused changes.

import type { RefusedTable } from '../sql/dialect.ts'
import { exactly, hexOf, inSchema, plain, text } from './words.ts'

interface MysqlRefused extends RefusedTable {
  /** Selects ids, NULL, their refused changes, followed by `others`. */
  among(schema: string, counters: string, ids: readonly string[], others: string): string[]
}

export const MYSQL_REFUSED: MysqlRefused = {
  // Ids are stored as bytes, which no collation treats as equal to others.
  table: (schema) => `CREATE TABLE IF NOT EXISTS ${refusedIn(schema)} (
    counters VARBINARY(1024) NOT NULL, id VARBINARY(255) NOT NULL, delta VARCHAR(100) CHARACTER SET ascii NOT NULL,
    why VARCHAR(500) CHARACTER SET utf8mb4 NOT NULL, tried DATETIME(6) NOT NULL, PRIMARY KEY (counters, id)) ENGINE=InnoDB`,
  list: (schema, counters, most) =>
    plain(`SELECT ${hexOf(exactly('id'))} AS id_hex, delta, why FROM ${refusedIn(schema)} WHERE counters = ${text(counters)}
      ORDER BY tried LIMIT ${most}`),
  enter: (schema, counters, id) =>
    plain(`INSERT INTO ${refusedIn(schema)} (counters, id, delta, why, tried)
      VALUES (${text(counters)}, ${text(id)}, '0', '', UTC_TIMESTAMP(6)) ON DUPLICATE KEY UPDATE delta = delta`),
  lock: (schema, counters, id) =>
    plain(`SELECT delta FROM ${refusedIn(schema)} WHERE ${isOf(counters, id)} FOR UPDATE`),
  put: (schema, counters, { id, delta, why }) =>
    plain(`INSERT INTO ${refusedIn(schema)} (counters, id, delta, why, tried)
      VALUES (${text(counters)}, ${text(id)}, '${delta}', ${text(why)}, UTC_TIMESTAMP(6))
      ON DUPLICATE KEY UPDATE delta = VALUES(delta), why = VALUES(why), tried = VALUES(tried)`),
  remove: (schema, counters, id) => plain(`DELETE FROM ${refusedIn(schema)} WHERE ${isOf(counters, id)}`),
  among: (schema, counters, ids, others) =>
    ids.length === 0
      ? []
      : [
          `SELECT ${hexOf(exactly('id'))}, NULL, CAST(delta AS CHAR), ${others} FROM ${refusedIn(schema)}
            WHERE counters = ${text(counters)} AND id IN (${ids.map(text).join(', ')})`,
        ],
}

function isOf(counters: string, id: string): string {
  return `counters = ${text(counters)} AND id = ${text(id)}`
}

function refusedIn(schema: string): string {
  return inSchema(schema, 'perilune_refused')
}
