// How PostgreSQL says it.

import type { SinkErrorCode } from '../counters/errors.ts'
import { type Column, type Dialect, integerMisfit, quote, textMisfit, uuidMisfit } from './dialect.ts'

const INTEGERS: Readonly<Record<string, bigint>> = { smallint: 15n, integer: 31n, bigint: 63n }

/** An extension is in a schema of somebody's choice. */
const TEXT = /^(text|character varying|bpchar|name|([^.]+\.)?citext)$/

/** What is longer would be cut off. */
const MOST_BYTES_OF_A_NAME = 63

/** Of what a trigger is, as bits of pg_trigger. Such a trigger may fill what an INSERT leaves out. */
const BEFORE_INSERT_OF_A_ROW = 1 + 2 + 4

export const POSTGRES: Dialect = {
  name: 'postgres',
  // The lock: of two who make a table at once, one would be told that a name is taken, `IF NOT EXISTS` or not.
  ledger: `DO $$ BEGIN
    PERFORM pg_advisory_xact_lock(7146820551921032);
    CREATE TABLE IF NOT EXISTS perilune_ledger (
      counters text NOT NULL, partition integer NOT NULL, epoch bigint NOT NULL,
      seq bigint NOT NULL, batch text NOT NULL, PRIMARY KEY (counters, partition, epoch));
    END $$`,
  columns: (table) => ({
    // -1: a character(8) has to be called bpchar, for character would be one of length 1. A domain is what it is made of.
    sql: `SELECT a.attname AS name, format_type(b.type, -1) AS type,
        CASE WHEN b.type IN ('bpchar'::regtype, 'varchar'::regtype) AND b.modifier > 4
          THEN b.modifier - 4 END AS length,
        EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisunique AND i.indisvalid
          AND i.indimmediate AND i.indpred IS NULL AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum)::int AS is_unique,
        CASE WHEN a.attidentity = 'a' THEN 'never'
          WHEN (a.attnotnull OR b.is_needed) AND a.attidentity = '' AND NOT a.atthasdef AND t.typdefault IS NULL
            AND NOT EXISTS (SELECT 1 FROM pg_trigger g WHERE g.tgrelid = a.attrelid AND g.tgenabled <> 'D'
              AND g.tgtype & ${BEFORE_INSERT_OF_A_ROW} = ${BEFORE_INSERT_OF_A_ROW}) THEN 'must'
          ELSE 'may' END AS inserted
      FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
      CROSS JOIN LATERAL (WITH RECURSIVE made AS (SELECT t.oid AS type, a.atttypmod AS modifier, false AS is_needed
          UNION ALL SELECT d.typbasetype, d.typtypmod, made.is_needed OR d.typnotnull
            FROM made JOIN pg_type d ON d.oid = made.type WHERE d.typtype = 'd')
        SELECT made.* FROM made JOIN pg_type d ON d.oid = made.type WHERE d.typtype <> 'd') b
      WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped`,
    values: [name(table)],
  }),
  isCount: (type) => type === 'bigint',
  isId: ({ type }) => type in INTEGERS || type === 'uuid' || TEXT.test(type),
  ids: 'integers, text or uuid',
  misfit,
  meaningOf,
  read: ({ table, id, value, idColumn }, { counters, partition, epoch }, ids) => ({
    sql: `SELECT asked.id AS id, t.${name(value)}::text AS value, l.seq AS seq
      FROM (SELECT 1) one
      LEFT JOIN perilune_ledger l ON l.counters = $1 AND l.partition = $2 AND l.epoch = $3
      LEFT JOIN (unnest($4::text[], $5::${idColumn.type}[]) AS asked (id, key)
        JOIN ${name(table)} t ON t.${name(id)} = asked.key) ON true`,
    values: [counters, partition, epoch, ids, ids],
  }),
  newest: (counters, partition) => ({
    sql: 'SELECT max(epoch) AS epoch FROM perilune_ledger WHERE counters = $1 AND partition = $2',
    values: [counters, partition],
  }),
  enter: ({ counters, partition, epoch }) => ({
    sql: `INSERT INTO perilune_ledger (counters, partition, epoch, seq, batch)
      VALUES ($1, $2, $3, 0, '') ON CONFLICT DO NOTHING`,
    values: [counters, partition, epoch],
  }),
  advance: ({ counters, partition, epoch, seq, batch }) => ({
    sql: `UPDATE perilune_ledger SET seq = $1, batch = $2
      WHERE counters = $3 AND partition = $4 AND epoch = $5 AND seq = $6`,
    values: [seq, batch, counters, partition, epoch, seq - 1],
  }),
  standing: ({ counters, partition, epoch }) => ({
    sql: 'SELECT seq, batch FROM perilune_ledger WHERE counters = $1 AND partition = $2 AND epoch = $3',
    values: [counters, partition, epoch],
  }),
  change: ({ table, id, value, missing, idColumn }, changes) => {
    const [into, key, count] = [name(table), name(id), name(value)]
    // Two ids may be one key, `A` and `a` in a column of citext: PostgreSQL changes a row once a statement.
    const rows = `SELECT c.key, sum(c.delta)::bigint AS delta
      FROM unnest($1::${idColumn.type}[], $2::bigint[]) AS c (key, delta) GROUP BY c.key`
    const sql =
      missing === 'create'
        ? `INSERT INTO ${into} AS t (${key}, ${count}) SELECT key, delta FROM (${rows}) c ORDER BY key
           ON CONFLICT (${key}) DO UPDATE SET ${count} = t.${count} + excluded.${count}`
        : `UPDATE ${into} AS t SET ${count} = t.${count} + c.delta FROM (${rows}) c WHERE t.${key} = c.key`
    return [{ sql, values: [changes.map((change) => change.id), changes.map(({ delta }) => String(delta))] }]
  },
}

function name(plain: string): string {
  return quote(plain, '"')
}

function misfit(id: string, column: Column): string | undefined {
  const bits = INTEGERS[column.type]
  if (bits !== undefined) return integerMisfit(id, -(2n ** bits), 2n ** bits - 1n)
  if (column.type === 'uuid') return uuidMisfit(id)
  if (column.type === 'name' && Buffer.byteLength(id) > MOST_BYTES_OF_A_NAME) {
    return `must have at most ${MOST_BYTES_OF_A_NAME} bytes`
  }
  return id.includes('\0') ? 'must not have U+0000' : textMisfit(id, column)
}

const MEANINGS: readonly [RegExp, SinkErrorCode][] = [
  [/^(40P01|40001|55P03|57014)$/, 'sink-busy'],
  [/^(08...|57P0[1-5]|25P0[34]|53300|E[A-Z_]{4,})$/, 'sink-unreachable'],
  [/^(42P01|42703|42501|42P10|42804|3F000|3D000|28...)$/, 'sink-misconfigured'],
]

/** pg tells of a lost connection in words only. */
const LOST =
  /connection (terminated|ended|error)|not queryable|timeout exceeded when trying to connect|query read timeout/i

function meaningOf(error: object): SinkErrorCode {
  const { code, message } = error as { code?: unknown; message?: unknown }
  const found = MEANINGS.find(([codes]) => codes.test(String(code)))
  if (found !== undefined) return found[1]
  return code === undefined && LOST.test(String(message)) ? 'sink-unreachable' : 'sink-failed'
}
