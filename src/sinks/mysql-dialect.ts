// How MySQL and MariaDB say it. Statements have no placeholders: text is written as its bytes, which no sql_mode reads
// in another way.

import type { SinkErrorCode } from '../counters/errors.ts'
import type { Change } from '../counters/sink.ts'
import {
  type Column,
  type Dialect,
  integerMisfit,
  namesOf,
  type Place,
  quote,
  type Statement,
  textMisfit,
  uuidMisfit,
} from './dialect.ts'

/** A long statement is slow to read for the server: its time grows with the square of what it changes. */
const MOST_UPDATED = 100
const MOST_INSERTED = 1000

/** A word of MySQL. */
const PARTITION = '`partition`'

export const MYSQL: Dialect = {
  name: 'mysql',
  ledger: `CREATE TABLE IF NOT EXISTS perilune_ledger (
    counters VARBINARY(1024) NOT NULL, ${PARTITION} INT NOT NULL, epoch BIGINT NOT NULL,
    seq BIGINT NOT NULL, batch VARBINARY(64) NOT NULL, PRIMARY KEY (counters, ${PARTITION}, epoch)) ENGINE=InnoDB`,
  columns: (table) =>
    plain(`SELECT c.column_name AS name, c.character_set_name AS charset, c.column_type AS type, c.character_maximum_length AS length,
        EXISTS (SELECT 1 FROM information_schema.statistics s
          WHERE ${describes('s', table)} AND s.non_unique = 0
          GROUP BY s.index_name
          HAVING COUNT(*) = 1 AND MAX(s.column_name) = c.column_name AND MAX(s.sub_part) IS NULL) AS is_unique,
        CASE WHEN c.is_nullable = 'NO' AND c.column_default IS NULL AND c.data_type <> 'enum'
            AND c.extra NOT LIKE '%auto_increment%' AND COALESCE(c.generation_expression, '') = ''
            AND NOT EXISTS (SELECT 1 FROM information_schema.triggers g WHERE ${describes('g', table, ['event_object_schema', 'event_object_table'])}
              AND g.event_manipulation = 'INSERT' AND g.action_timing = 'BEFORE')
          THEN 'must' ELSE 'may' END AS inserted,
        CASE e.transactions WHEN 'YES' THEN NULL ELSE CONCAT('has no transactions, for it is of ', t.engine) END AS flaw
      FROM information_schema.columns c JOIN information_schema.tables t
      LEFT JOIN information_schema.engines e ON e.engine = t.engine
      WHERE ${describes('c', table)} AND ${describes('t', table)}`),
  isCount: (type) => /^bigint(\(\d+\))?$/i.test(type),
  isId: (column) =>
    isInteger(column) || isUuid(column) || (TEXT.test(column.type) && (column.charset ?? '') in CHARACTERS),
  ids: 'integers, text in utf8mb4, utf8, latin1 or ascii, or the uuid of MariaDB',
  misfit,
  meaningOf,
  read: (place, { counters, partition, epoch }, ids) => {
    const of = ledgerRow(counters, partition, epoch)
    const ledger = `SELECT NULL AS id, NULL AS value, seq FROM perilune_ledger WHERE ${of}`
    return plain([ledger, ...countsOf(place, ids, 'NULL')].join('\nUNION ALL '))
  },
  newest: (counters, partition) =>
    plain(
      `SELECT MAX(epoch) AS epoch FROM perilune_ledger WHERE counters = ${text(counters)} AND ${PARTITION} = ${partition}`,
    ),
  enter: ({ counters, partition, epoch }) =>
    plain(`INSERT IGNORE INTO perilune_ledger (counters, ${PARTITION}, epoch, seq, batch)
      VALUES (${text(counters)}, ${partition}, ${epoch}, 0, '')`),
  advance: ({ counters, partition, epoch, seq, batch }) =>
    plain(`UPDATE perilune_ledger SET seq = ${seq}, batch = ${text(batch)}
      WHERE ${ledgerRow(counters, partition, epoch)} AND seq = ${seq - 1}`),
  standing: ({ counters, partition, epoch }) =>
    plain(`SELECT seq, CAST(batch AS CHAR) AS batch FROM perilune_ledger
      WHERE ${ledgerRow(counters, partition, epoch)}`),
  change: (target, changes) =>
    target.missing === 'create'
      ? inParts(changes, MOST_INSERTED).map((part) => insertion(target, part))
      : inParts(changes, MOST_UPDATED).map((part) => update(target, part)),
}

function insertion({ table, id, value, idColumn }: Place, changes: readonly Change[]): Statement {
  const [into, ids, count] = [name(table), name(id), name(value)]
  const rows = changes.map((change) => `(${key(change.id, idColumn)}, ${change.delta})`)
  // Any unique index makes a duplicate. That of another column is an error here: it is the row of another counter.
  return plain(`INSERT INTO ${into} (${ids}, ${count}) VALUES ${rows.join(', ')}
    ON DUPLICATE KEY UPDATE ${count} = IF(${ids} = VALUES(${ids}), ${count} + VALUES(${count}), (SELECT 1 UNION SELECT 2))`)
}

/** A sum where two ids may be one row, `A` and `a` in most collations. */
function update({ table, id, value, idColumn }: Place, changes: readonly Change[]): Statement {
  const ids = changes.map((change) => key(change.id, idColumn))
  const added = isInteger(idColumn)
    ? `CASE ${name(id)} ${changes.map(({ delta }, at) => `WHEN ${ids[at]} THEN ${delta}`).join(' ')} END`
    : changes.map(({ delta }, at) => `IF(${name(id)} = ${ids[at]}, ${delta}, 0)`).join(' + ')
  return plain(`UPDATE ${name(table)} SET ${name(value)} = ${name(value)} + ${added}
    WHERE ${name(id)} IN (${ids.join(', ')})`)
}

/**
 * Selects ids and counts, and `others` behind them. A SELECT for each id where the column decides what is equal, so that each
 * has the row that it would change; integers are equal to nothing else.
 */
export function countsOf(
  { table, id, value, idColumn }: Place,
  ids: readonly string[],
  others: string,
): string[] {
  if (ids.length === 0) return []
  const counts = `CAST(${name(value)} AS CHAR), ${others} FROM ${name(table)} WHERE ${name(id)}`
  return isInteger(idColumn)
    ? [`SELECT ${asText(name(id), idColumn)}, ${counts} IN (${ids.join(', ')})`]
    : ids.map((one) => `SELECT ${text(one)}, ${counts} = ${text(one)}`)
}

/**
 * That a row of information_schema is of this table. Each of its tables has to be told by what is known before it is read, or the
 * server opens all tables that there are.
 */
export function describes(
  row: string,
  table: string,
  [inSchema, named]: readonly [string, string] = ['table_schema', 'table_name'],
): string {
  const [schema, alone] = namesOf(table)
  const of = schema === undefined ? 'DATABASE()' : text(schema)
  return `${row}.${inSchema} = ${of} AND ${row}.${named} = ${text(alone)}`
}

export function plain(sql: string): Statement {
  return { sql, values: [] }
}

export function name(of: string): string {
  return quote(of, '`')
}

export function text(of: string): string {
  return `_utf8mb4 ${of === '' ? "''" : `0x${Buffer.from(of).toString('hex')}`}`
}

export function key(id: string, column: Column): string {
  return isInteger(column) ? id : text(id)
}

/** The id as people write it, without the zeros of a ZEROFILL, as text that no collation makes equal to another. */
export function asText(id: string, column: Column): string {
  const plainly = isInteger(column) ? `CAST(${id} + 0 AS CHAR)` : id
  return `CONVERT(${plainly} USING utf8mb4) COLLATE utf8mb4_bin`
}

function isInteger({ type }: Column): boolean {
  return bitsOf(type) !== undefined
}

function isUuid({ type }: Column): boolean {
  return /^uuid$/i.test(type)
}

function ledgerRow(counters: string, partition: number, epoch: number): string {
  return `counters = ${text(counters)} AND ${PARTITION} = ${partition} AND epoch = ${epoch}`
}

const BITS: Readonly<Record<string, bigint>> = {
  tinyint: 8n,
  smallint: 16n,
  mediumint: 24n,
  int: 32n,
  bigint: 64n,
}

function bitsOf(type: string): bigint | undefined {
  return BITS[/^[a-z]+/i.exec(type)?.[0].toLowerCase() ?? '']
}

const TEXT = /^(var)?char|text/i

/** The characters that each character set has. latin1 has others where control characters would be. */
const CHARACTERS: Readonly<Record<string, RegExp>> = {
  ascii: /^\p{ASCII}*$/u,
  latin1: /^[\p{ASCII}\u{a0}-\u{ff}]*$/u,
  utf8: /^[\0-\u{ffff}]*$/u,
  utf8mb3: /^[\0-\u{ffff}]*$/u,
  utf8mb4: /^/,
}

function misfit(id: string, column: Column): string | undefined {
  const bits = bitsOf(column.type)
  if (isUuid(column)) return uuidMisfit(id)
  if (bits === undefined) return narrowMisfit(id, column) ?? textMisfit(id, column)
  if (/unsigned/i.test(column.type)) return integerMisfit(id, 0n, 2n ** bits - 1n)
  return integerMisfit(id, -(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n)
}

function narrowMisfit(id: string, { charset }: Column): string | undefined {
  return CHARACTERS[charset ?? '']?.test(id) === false ? `must be of the characters of ${charset}` : undefined
}

export function inParts<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size))
}

const MEANINGS: Readonly<Record<SinkErrorCode, readonly number[]>> = {
  'sink-busy': [1213, 1205, 1020, 3572],
  'sink-unreachable': [1040, 1053, 1927, 2006, 2013],
  'sink-misconfigured': [1044, 1045, 1049, 1054, 1142, 1143, 1146, 1665],
  'sink-failed': [],
}

const LOST = /^(ECONN.*|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|PROTOCOL_.*)$/
const CLOSED = /closed state|connection is (closed|lost)/i

function meaningOf(error: object): SinkErrorCode {
  const { errno, code, message } = error as { errno?: unknown; code?: unknown; message?: unknown }
  if (LOST.test(String(code)) || CLOSED.test(String(message))) return 'sink-unreachable'
  const codes = Object.keys(MEANINGS) as SinkErrorCode[]
  return codes.find((meaning) => MEANINGS[meaning].includes(Number(errno))) ?? 'sink-failed'
}
