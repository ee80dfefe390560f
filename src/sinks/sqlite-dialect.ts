// How SQLite says it.

import type { SinkErrorCode } from '../counters/errors.ts'
import { type Column, type Dialect, integerMisfit, namesOf, quote, uuidMisfit } from './dialect.ts'

export const SQLITE: Dialect = {
  name: 'sqlite',
  ledger: `CREATE TABLE IF NOT EXISTS perilune_ledger (
    counters TEXT NOT NULL, partition INTEGER NOT NULL, epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL, batch TEXT NOT NULL, PRIMARY KEY (counters, partition, epoch)) WITHOUT ROWID`,
  columns: (table) => {
    const [schema = 'main', own] = namesOf(table)
    return {
      sql: `SELECT c.name AS name, c.type AS type, NULL AS length, c.name IN (
          SELECT MAX(name) FROM pragma_table_info(?, ?) WHERE pk > 0 HAVING COUNT(*) = 1
          UNION ALL SELECT MAX(k.name) FROM pragma_index_list(?, ?) i, pragma_index_info(i.name, ?) k
          WHERE i."unique" AND NOT i.partial GROUP BY i.name HAVING COUNT(*) = 1) AS is_unique,
          CASE WHEN c."notnull" AND coalesce(upper(c.dflt_value), 'NULL') = 'NULL' AND (c.pk = 0 OR EXISTS (
            SELECT 1 FROM pragma_index_list(?, ?) i WHERE i.origin = 'pk')) THEN 'must' ELSE 'may' END AS inserted
        FROM pragma_table_info(?, ?) c`,
      values: [own, schema, own, schema, schema, own, schema, own, schema],
    }
  },
  isCount: (type) => /INT/i.test(type),
  // Other types would make numbers of ids, and `1.0` of `1`.
  isId: ({ type }) => /INT|CHAR|CLOB|TEXT|BLOB|UUID|^$/i.test(type),
  ids: 'INTEGER, TEXT or UUID',
  misfit,
  meaningOf,
  read: ({ table, id, value }, { counters, partition, epoch }, ids) => ({
    sql: `SELECT CAST(t.${name(id)} AS TEXT) AS id, CAST(t.${name(value)} AS TEXT) AS value, l.seq AS seq
      FROM (SELECT 1) one
      LEFT JOIN perilune_ledger l ON l.counters = ? AND l.partition = ? AND l.epoch = ?
      LEFT JOIN ${name(table)} t ON t.${name(id)} IN (${ids.map(() => '?').join(', ')})`,
    values: [counters, partition, epoch, ...ids],
  }),
  newest: (counters, partition) => ({
    sql: 'SELECT MAX(epoch) AS epoch FROM perilune_ledger WHERE counters = ? AND partition = ?',
    values: [counters, partition],
  }),
  enter: ({ counters, partition, epoch }) => ({
    sql: "INSERT INTO perilune_ledger VALUES (?, ?, ?, 0, '') ON CONFLICT DO NOTHING",
    values: [counters, partition, epoch],
  }),
  advance: ({ counters, partition, epoch, seq, batch }) => ({
    sql: `UPDATE perilune_ledger SET seq = ?, batch = ?
      WHERE counters = ? AND partition = ? AND epoch = ? AND seq = ?`,
    values: [seq, batch, counters, partition, epoch, seq - 1],
  }),
  standing: ({ counters, partition, epoch }) => ({
    sql: 'SELECT seq, batch FROM perilune_ledger WHERE counters = ? AND partition = ? AND epoch = ?',
    values: [counters, partition, epoch],
  }),
  change: ({ table, id, value, missing }, changes) => {
    const all = JSON.stringify(changes.map((change) => [change.id, String(change.delta)]))
    const rows = 'SELECT value ->> 0 AS id, CAST(value ->> 1 AS INTEGER) AS delta FROM json_each(?)'
    const [into, key, count] = [name(table), name(id), name(value)]
    const sql =
      missing === 'create'
        ? `INSERT INTO ${into} AS t (${key}, ${count}) SELECT id, delta FROM (${rows}) WHERE true
           ON CONFLICT (${key}) DO UPDATE SET ${count} = ${sum(`t.${count}`, `excluded.${count}`)}`
        : `UPDATE ${into} AS t SET ${count} = ${sum(`t.${count}`, 'c.delta')} FROM (${rows}) AS c
           WHERE t.${key} = c.id`
    return [{ sql, values: [all] }]
  },
}

/** SQLite would go on with a rounded number where a sum leaves 64 bits. This fails: the number has no absolute value. */
function sum(left: string, right: string): string {
  const added = `${left} + ${right}`
  return `CASE typeof(${added}) WHEN 'real' THEN abs(${left} * 0 + -9223372036854775808) ELSE ${added} END`
}

function misfit(id: string, { type }: Column): string | undefined {
  if (/INT/i.test(type)) return integerMisfit(id, -(2n ** 63n), 2n ** 63n - 1n)
  return /UUID/i.test(type) && !/CHAR|CLOB|TEXT|BLOB/i.test(type) ? uuidMisfit(id) : undefined
}

function name(plain: string): string {
  return quote(plain, '"')
}

function meaningOf(error: object): SinkErrorCode {
  const { code = '', message = '' } = error as { code?: string; message?: string }
  const isBusy = /SQLITE_(BUSY|LOCKED)/.test(code) || /database (table )?is locked/.test(message)
  return isBusy ? 'sink-busy' : 'sink-failed'
}
