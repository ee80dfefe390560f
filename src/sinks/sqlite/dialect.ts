// The SQL of SQLite.

import type { SinkErrorCode } from '../../counters/errors.ts'
import {
  type Column,
  type Dialect,
  integerMisfit,
  KEPT_EPOCHS,
  type TargetPlace,
  uuidMisfit,
} from '../sql/dialect.ts'
import { ledgerIn, name, nameOf } from '../sql/quoted-names.ts'
import { CLOSED, HAS_BATCHES, HAS_NO_BATCH, IS_OPEN } from '../sql/ledger-lines.ts'
import { SQLITE_REFUSED } from './refused.ts'

export const SQLITE: Dialect = {
  name: 'sqlite',
  ledger: (schema) => `CREATE TABLE IF NOT EXISTS ${ledgerIn(schema)} (
    counters TEXT NOT NULL, partition INTEGER NOT NULL, epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL, batch TEXT NOT NULL, PRIMARY KEY (counters, partition, epoch)) WITHOUT ROWID`,
  refused: SQLITE_REFUSED,
  // One file may have another path in each process.
  find: ([schema = 'main', own]) => ({
    sql: `SELECT ? AS schema, name, '' AS location FROM ${name(schema)}.sqlite_master
      WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE`,
    values: [schema, own],
  }),
  columns: ([schema = 'main', own]) => ({
    sql: `SELECT c.name AS name, c.type AS type, NULL AS length, c.name IN (
          SELECT MAX(name) FROM pragma_table_info(?, ?) WHERE pk > 0 HAVING COUNT(*) = 1
          UNION ALL SELECT MAX(k.name) FROM pragma_index_list(?, ?) i, pragma_index_info(i.name, ?) k
          WHERE i."unique" AND NOT i.partial GROUP BY i.name HAVING COUNT(*) = 1) AS is_unique,
          CASE WHEN c."notnull" AND coalesce(upper(c.dflt_value), 'NULL') = 'NULL' AND c.hidden = 0 AND (c.pk = 0 OR EXISTS (
            SELECT 1 FROM pragma_index_list(?, ?) i WHERE i.origin = 'pk')) THEN 'must' ELSE 'may' END AS inserted,
          c.hidden IN (2, 3) AS is_generated
        FROM pragma_table_xinfo(?, ?) c`,
    values: [own, schema, own, schema, schema, own, schema, own, schema],
  }),
  flaws: ([schema = 'main', own]) => ({
    sql: `SELECT 'has the trigger ' || name || ', which leaves rows out (RAISE(IGNORE))' AS flaw
      FROM ${name(schema)}.sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE
        AND replace(upper(sql), ' ', '') LIKE '%RAISE(IGNORE)%'`,
    values: [own],
  }),
  carefully: [],
  // A SAVEPOINT does not check them. The check reads the whole table, so it only runs if the table has any.
  unmet: ({ found: { schema, name: own } }) => ({
    sql: `SELECT COUNT(*) AS unmet FROM pragma_foreign_key_check(?, ?)
      WHERE (SELECT foreign_keys FROM pragma_foreign_keys) AND EXISTS (
        SELECT 1 FROM ${name(schema)}.sqlite_master WHERE name = ? AND sql LIKE '%INITIALLY%DEFERRED%')`,
    values: [own, schema, own],
  }),
  isCount: (type) => /INT/i.test(type),
  isWhole: (type) => /INT/i.test(type),
  isTime: () => true,
  // Other types would convert ids to numbers, and `1.0` to `1`. Without a type, 7 and '7' would be two ids.
  isId: ({ type }) => /INT|CHAR|CLOB|TEXT|UUID/i.test(type),
  ids: 'INTEGER, TEXT or UUID',
  misfit,
  meaningOf,
  isOfRows,
  read: (place, { counters, partition, epoch }, ids) => ({
    sql: `SELECT asked.value AS id, ${countOf(place, 't')} AS value, r.delta AS refused, l.seq AS seq
      FROM (SELECT 1) one
      LEFT JOIN ${ledgerIn(place.found.schema)} l ON l.counters = ? AND l.partition = ? AND l.epoch = ?
      LEFT JOIN json_each(?) asked
      LEFT JOIN ${tableOf(place)} t ON t.${name(place.id)} = asked.value
      LEFT JOIN ${SQLITE_REFUSED.in(place.found.schema)} r ON r.counters = ? AND r.id = asked.value`,
    values: [counters, partition, epoch, JSON.stringify(ids), counters],
  }),
  newest: (schema, counters, partition) => ({
    sql: `SELECT MAX(epoch) AS epoch FROM ${ledgerIn(schema)} WHERE counters = ? AND partition = ?`,
    values: [counters, partition],
  }),
  batches: (schema, counters, partition) => ({
    sql: `SELECT COUNT(*) AS batched, MIN(epoch) AS oldest, MAX(epoch) AS latest FROM ${ledgerIn(schema)}
      WHERE counters = ? AND partition = ? AND ${HAS_BATCHES}`,
    values: [counters, partition],
  }),
  enter: (schema, { counters, partition, epoch }) => ({
    sql: `INSERT INTO ${ledgerIn(schema)} VALUES (?, ?, ?, 0, '') ON CONFLICT DO NOTHING`,
    values: [counters, partition, epoch],
  }),
  prune: (schema, counters, partition) => {
    const last = (
      seq: string,
      kept: number,
    ): string => `${seq} AND epoch < (SELECT epoch FROM ${ledgerIn(schema)}
      WHERE counters = ? AND partition = ? AND ${seq} ORDER BY epoch DESC LIMIT 1 OFFSET ${kept - 1})`
    return {
      sql: `DELETE FROM ${ledgerIn(schema)} WHERE counters = ? AND partition = ?
        AND (${last(HAS_NO_BATCH, KEPT_EPOCHS.empty)} OR ${last(HAS_BATCHES, KEPT_EPOCHS.others)})`,
      values: [counters, partition, counters, partition, counters, partition],
    }
  },
  advance: (schema, { counters, partition, epoch, seq, batch }) => ({
    sql: `UPDATE ${ledgerIn(schema)} SET seq = ?, batch = ?
      WHERE counters = ? AND partition = ? AND epoch = ? AND seq = ?`,
    values: [seq, batch, counters, partition, epoch, seq - 1],
  }),
  close: (schema, { counters, partition, epoch }) => ({
    sql: `UPDATE ${ledgerIn(schema)} SET ${CLOSED}
      WHERE counters = ? AND partition = ? AND epoch <= ? AND ${IS_OPEN}`,
    values: [counters, partition, epoch],
  }),
  hold: (schema, { counters, partition, epoch }) => ({
    sql: `UPDATE ${ledgerIn(schema)} SET seq = seq WHERE counters = ? AND partition = ? AND epoch = ?`,
    values: [counters, partition, epoch],
  }),
  standing: (schema, { counters, partition, epoch }) => ({
    sql: `SELECT seq, batch FROM ${ledgerIn(schema)} WHERE counters = ? AND partition = ? AND epoch = ?`,
    values: [counters, partition, epoch],
  }),
  present: (place, ids) => ({
    sql: `SELECT CAST(t.${name(place.id)} AS TEXT) AS id FROM ${tableOf(place)} t
      WHERE t.${name(place.id)} IN (SELECT value FROM json_each(?))`,
    values: [JSON.stringify(ids)],
  }),
  change: (place, changes) => {
    const all = JSON.stringify(changes.map((change) => [change.id, String(change.delta)]))
    const rows = 'SELECT value ->> 0 AS id, CAST(value ->> 1 AS INTEGER) AS delta FROM json_each(?)'
    const [into, key, count] = [tableOf(place), name(place.id), name(place.value)]
    // Two ids may be one row, such as `A` and `a` in a column with COLLATE NOCASE, and a statement updates a row once.
    // CROSS fixes the order: a table that had ten rows when it was analyzed would be the outer one, and the list would
    // be read for each of its rows.
    const sums = `SELECT o.${key} AS id, SUM(c.delta) AS delta FROM (${rows}) c CROSS JOIN ${into} o ON o.${key} = c.id GROUP BY o.${key}`
    const sql =
      place.missing === 'create'
        ? `INSERT INTO ${into} AS t (${key}, ${count}) SELECT id, delta FROM (${rows}) WHERE true
           ON CONFLICT (${key}) DO UPDATE SET ${count} = ${sum(`coalesce(t.${count}, 0)`, `excluded.${count}`)}`
        : `UPDATE ${into} AS t SET ${count} = ${sum(`coalesce(t.${count}, 0)`, 'c.delta')} FROM (${sums}) AS c
           WHERE t.${key} = c.id`
    return [{ sql, values: [all], rows: changes.length }]
  },
  owners: (place, ids) => ({
    sql: `SELECT asked.value AS id, CAST(t.${name(place.id)} AS TEXT) AS own
      FROM json_each(?) asked CROSS JOIN ${tableOf(place)} t ON t.${name(place.id)} = asked.value`,
    values: [JSON.stringify(ids)],
  }),
}

/**
 * The count of a row of `alias` as text, if the row exists: NULL counts as 0. A column of integers may have any value
 * in a row.
 */
export function countOf({ id, value }: TargetPlace, alias: string): string {
  const count = `CAST(coalesce(${alias}.${name(value)}, 0) AS INTEGER)`
  return `CASE WHEN ${alias}.${name(id)} IS NOT NULL THEN CAST(${count} AS TEXT) END`
}

export function tableOf({ found }: Pick<TargetPlace, 'found'>): string {
  return nameOf([found.schema, found.name])
}

/**
 * SQLite would continue with a rounded number when a sum leaves 64 bits. This fails: the number has no absolute value.
 */
function sum(left: string, right: string): string {
  const added = `${left} + ${right}`
  return `CASE typeof(${added}) WHEN 'real' THEN abs(CAST(${left} AS INTEGER) * 0 + -9223372036854775808) ELSE ${added} END`
}

function misfit(id: string, { type }: Column): string | undefined {
  if (/INT/i.test(type)) return integerMisfit(id, -(2n ** 63n), 2n ** 63n - 1n)
  return /UUID/i.test(type) && !/CHAR|CLOB|TEXT/i.test(type) ? uuidMisfit(id) : undefined
}

const OF_ROWS = /^(SQLITE_(CONSTRAINT|ERROR|MISMATCH|TOOBIG)|ERR_SQLITE_ERROR)/
/** node:sqlite has one code for all errors. */
const OF_THE_FILE =
  /is full|disk I\/O|readonly|out of memory|malformed|unable to open|not a database|locked|busy/i

const GONE = /no such (table|column)/i

/** The low byte of `errcode` in node:sqlite. */
const CONSTRAINT = 19

interface ReportedError {
  readonly code?: string
  readonly errcode?: number
  readonly message?: string
}

function isOfRows(error: ReportedError): boolean {
  const { code = '', message = '' } = error
  return isConstraint(error) || (OF_ROWS.test(code) && !OF_THE_FILE.test(message) && !GONE.test(message))
}

/** Includes triggers, whose message may have any words: `the poll is locked`. */
function isConstraint({ code = '', errcode = 0 }: ReportedError): boolean {
  return code.startsWith('SQLITE_CONSTRAINT') || (errcode & 0xff) === CONSTRAINT
}

function meaningOf(error: ReportedError): SinkErrorCode {
  const { code = '', message = '' } = error
  if (isConstraint(error)) return 'sink-failed'
  if (/SQLITE_(BUSY|LOCKED)/.test(code) || /database (table )?is locked/.test(message)) return 'sink-busy'
  return GONE.test(message) ? 'sink-misconfigured' : 'sink-failed'
}
