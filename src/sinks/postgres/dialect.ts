// The SQL of PostgreSQL.

import {
  type Column,
  type Dialect,
  integerMisfit,
  KEPT_EPOCHS,
  textMisfit,
  uuidMisfit,
} from '../sql/dialect.ts'
import { ledgerIn, name, nameOf } from '../sql/quoted-names.ts'
import { CLOSED, HAS_BATCHES, HAS_NO_BATCH, IS_OPEN } from '../sql/ledger-lines.ts'
import { isOfRows, meaningOf } from './errors.ts'
import { guarded, POSTGRES_REFUSED } from './refused.ts'
import { countOf, equal, tableOf } from './words.ts'

const INTEGERS: Readonly<Record<string, bigint>> = { smallint: 15n, integer: 31n, bigint: 63n }

/** An extension may be in any schema. */
const TEXT = /^(text|character varying|bpchar|name|([^.]+\.)?citext)$/

/**
 * The characters that each encoding of a database has; a missing one would fail the whole statement. SQL_ASCII accepts
 * any bytes.
 */
const CHARACTERS: Readonly<Record<string, RegExp>> = { UTF8: /^/, SQL_ASCII: /^/, LATIN1: /^[\0-\u{ff}]*$/u }

/** PostgreSQL truncates longer names. */
const MOST_BYTES_OF_A_NAME = 63

/** Bits of pg_trigger.tgtype. Such a trigger may set columns that an INSERT leaves out. */
const BEFORE_INSERT_OF_A_ROW = 1 + 2 + 4
const BEFORE_A_ROW = 1 + 2
const INSERT_OR_UPDATE = 4 + 16

export const POSTGRES: Dialect = {
  name: 'postgres',
  ledger: (schema) =>
    guarded(`CREATE TABLE IF NOT EXISTS ${ledgerIn(schema)} (
      counters text NOT NULL, partition integer NOT NULL, epoch bigint NOT NULL,
      seq bigint NOT NULL, batch text NOT NULL, PRIMARY KEY (counters, partition, epoch));`),
  refused: POSTGRES_REFUSED,
  find: (table) => ({
    sql: `SELECT n.nspname AS schema, c.relname AS name, current_database() || '.' || n.nspname AS location
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass($1)`,
    values: [nameOf(table)],
  }),
  columns: (table) => ({
    // -1: character(8) must be named bpchar, because character would have length 1. A domain is resolved to its base
    // type.
    sql: `SELECT a.attname AS name, format_type(b.type, -1) AS type,
        CASE WHEN b.type IN ('bpchar'::regtype, 'varchar'::regtype) AND b.modifier > 4
          THEN b.modifier - 4 END AS length,
        CASE WHEN b.category = 'S' THEN getdatabaseencoding()::text END AS charset,
        EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisunique AND i.indisvalid
          AND i.indimmediate AND i.indpred IS NULL AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum)::int AS is_unique,
        (a.attgenerated <> '')::int AS is_generated,
        CASE WHEN a.attidentity = 'a' THEN 'never'
          WHEN (a.attnotnull OR b.is_needed) AND a.attidentity = '' AND NOT a.atthasdef AND t.typdefault IS NULL
            AND NOT EXISTS (SELECT 1 FROM pg_trigger g WHERE g.tgrelid = a.attrelid AND g.tgenabled <> 'D'
              AND g.tgtype & ${BEFORE_INSERT_OF_A_ROW} = ${BEFORE_INSERT_OF_A_ROW}) THEN 'must'
          ELSE 'may' END AS inserted
      FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
      CROSS JOIN LATERAL (WITH RECURSIVE made AS (SELECT t.oid AS type, a.atttypmod AS modifier, false AS is_needed
          UNION ALL SELECT d.typbasetype, d.typtypmod, made.is_needed OR d.typnotnull
            FROM made JOIN pg_type d ON d.oid = made.type WHERE d.typtype = 'd')
        SELECT made.*, d.typcategory AS category FROM made JOIN pg_type d ON d.oid = made.type WHERE d.typtype <> 'd') b
      WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped`,
    values: [nameOf(table)],
  }),
  flaws: (table) => ({
    sql: `SELECT 'has the trigger ' || g.tgname || ', which leaves rows out (RETURN NULL)' AS flaw
      FROM pg_trigger g JOIN pg_proc p ON p.oid = g.tgfoid
      WHERE g.tgrelid = to_regclass($1) AND g.tgenabled <> 'D' AND p.prosrc ~* 'return\\s+null'
        AND g.tgtype & ${BEFORE_A_ROW} = ${BEFORE_A_ROW} AND g.tgtype & ${INSERT_OR_UPDATE} <> 0
      UNION ALL SELECT 'has the rule ' || r.rulename || ', which does something else instead'
      FROM pg_rewrite r WHERE r.ev_class = to_regclass($1) AND r.is_instead AND r.ev_type IN ('2', '3')
      UNION ALL SELECT 'is inherited by ' || h.inhrelid::regclass || ', so an id may have several rows'
      FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhparent WHERE c.oid = to_regclass($1) AND c.relkind = 'r'`,
    values: [nameOf(table)],
  }),
  hiding: (tables) => ({
    sql: `SELECT t.name AS name, current_user AS role
      FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS t (path, name, at)
      WHERE row_security_active(to_regclass(t.path)::oid) ORDER BY t.at`,
    values: [tables.map(nameOf), tables.map(([, own]) => own)],
  }),
  // A check at the COMMIT would reject the whole transaction.
  carefully: [{ sql: 'SET CONSTRAINTS ALL IMMEDIATE', values: [] }],
  isCount: (type) => type === 'bigint',
  isWhole: (type) => type in INTEGERS,
  isTime: (type) => /^(date|timestamp with(out)? time zone)$/.test(type),
  isId: ({ type, charset }) =>
    type in INTEGERS || type === 'uuid' || (TEXT.test(type) && (charset ?? '') in CHARACTERS),
  ids: 'integers, text in UTF8, LATIN1 or SQL_ASCII, or uuid',
  misfit,
  meaningOf,
  isOfRows,
  read: (place, { counters, partition, epoch }, ids) => ({
    sql: `SELECT asked.id AS id, ${countOf(place, 't')} AS value, r.delta AS refused, l.seq AS seq
      FROM (SELECT 1) one
      LEFT JOIN ${ledgerIn(place.found.schema)} l ON l.counters = $1 AND l.partition = $2 AND l.epoch = $3
      LEFT JOIN unnest($4::text[], $5::${place.idColumn.type}[]) AS asked (id, key) ON true
      LEFT JOIN ${tableOf(place)} t ON t.${name(place.id)} ${equal(place.idColumn)} asked.key
      LEFT JOIN ${POSTGRES_REFUSED.in(place.found.schema)} r ON r.counters = $1 AND r.id = asked.id`,
    values: [counters, partition, epoch, ids, ids],
  }),
  newest: (schema, counters, partition) => ({
    sql: `SELECT max(epoch) AS epoch FROM ${ledgerIn(schema)} WHERE counters = $1 AND partition = $2`,
    values: [counters, partition],
  }),
  batches: (schema, counters, partition) => ({
    sql: `SELECT count(*) AS batched, min(epoch) AS oldest, max(epoch) AS latest FROM ${ledgerIn(schema)}
      WHERE counters = $1 AND partition = $2 AND ${HAS_BATCHES}`,
    values: [counters, partition],
  }),
  enter: (schema, { counters, partition, epoch }) => ({
    sql: `INSERT INTO ${ledgerIn(schema)} (counters, partition, epoch, seq, batch)
      VALUES ($1, $2, $3, 0, '') ON CONFLICT DO NOTHING`,
    values: [counters, partition, epoch],
  }),
  prune: (schema, counters, partition) => {
    const last = (
      seq: string,
      kept: number,
    ): string => `${seq} AND epoch < (SELECT epoch FROM ${ledgerIn(schema)}
      WHERE counters = $1 AND partition = $2 AND ${seq} ORDER BY epoch DESC LIMIT 1 OFFSET ${kept - 1})`
    return {
      sql: `DELETE FROM ${ledgerIn(schema)} WHERE counters = $1 AND partition = $2
        AND (${last(HAS_NO_BATCH, KEPT_EPOCHS.empty)} OR ${last(HAS_BATCHES, KEPT_EPOCHS.others)})`,
      values: [counters, partition],
    }
  },
  advance: (schema, { counters, partition, epoch, seq, batch }) => ({
    sql: `UPDATE ${ledgerIn(schema)} SET seq = $1, batch = $2
      WHERE counters = $3 AND partition = $4 AND epoch = $5 AND seq = $6`,
    values: [seq, batch, counters, partition, epoch, seq - 1],
  }),
  close: (schema, { counters, partition, epoch }) => ({
    sql: `UPDATE ${ledgerIn(schema)} SET ${CLOSED}
      WHERE counters = $1 AND partition = $2 AND epoch <= $3 AND ${IS_OPEN}`,
    values: [counters, partition, epoch],
  }),
  hold: (schema, { counters, partition, epoch }) => ({
    sql: `UPDATE ${ledgerIn(schema)} SET seq = seq WHERE counters = $1 AND partition = $2 AND epoch = $3`,
    values: [counters, partition, epoch],
  }),
  standing: (schema, { counters, partition, epoch }) => ({
    sql: `SELECT seq, batch FROM ${ledgerIn(schema)} WHERE counters = $1 AND partition = $2 AND epoch = $3`,
    values: [counters, partition, epoch],
  }),
  // Locked in the order of their keys, like an INSERT of sorted rows: an UPDATE has no fixed order. Rows that refer to
  // these may still be inserted.
  present: (place, ids) => ({
    sql: `SELECT t.${name(place.id)}::text AS id FROM ${tableOf(place)} t
      WHERE t.${name(place.id)} ${equal(place.idColumn)} ANY($1::text[]::${place.idColumn.type}[]) ORDER BY t.${name(place.id)} FOR NO KEY UPDATE`,
    values: [ids],
  }),
  change: (place, changes) => {
    const [into, key, count] = [tableOf(place), name(place.id), name(place.value)]
    // Two ids may be one key, such as `A` and `a` in a column of citext: PostgreSQL changes a row once per statement.
    const rows = `SELECT c.key, sum(c.delta)::bigint AS delta
      FROM unnest($1::${place.idColumn.type}[], $2::bigint[]) AS c (key, delta) GROUP BY c.key`
    const sql =
      place.missing === 'create'
        ? `INSERT INTO ${into} AS t (${key}, ${count}) SELECT key, delta FROM (${rows}) c ORDER BY key
           ON CONFLICT (${key}) DO UPDATE SET ${count} = coalesce(t.${count}, 0) + excluded.${count}`
        : `UPDATE ${into} AS t SET ${count} = coalesce(t.${count}, 0) + c.delta FROM (${rows}) c WHERE t.${key} ${equal(place.idColumn)} c.key`
    const values = [changes.map((change) => change.id), changes.map(({ delta }) => String(delta))]
    return [{ sql, values, rows: changes.length }]
  },
  owners: (place, ids) => ({
    sql: `SELECT asked.id AS id, t.${name(place.id)}::text AS own FROM unnest($1::text[], $2::${place.idColumn.type}[]) AS asked (id, key)
      JOIN ${tableOf(place)} t ON t.${name(place.id)} ${equal(place.idColumn)} asked.key`,
    values: [ids, ids],
  }),
}

function misfit(id: string, column: Column): string | undefined {
  const bits = INTEGERS[column.type]
  if (bits !== undefined) return integerMisfit(id, -(2n ** bits), 2n ** bits - 1n)
  if (column.type === 'uuid') return uuidMisfit(id)
  if (column.type === 'name' && Buffer.byteLength(id) > MOST_BYTES_OF_A_NAME) {
    return `must have at most ${MOST_BYTES_OF_A_NAME} bytes`
  }
  if (CHARACTERS[column.charset ?? '']?.test(id) === false)
    return `must only have characters of ${column.charset}`
  return id.includes('\0') ? 'must not have U+0000' : textMisfit(id, column)
}
