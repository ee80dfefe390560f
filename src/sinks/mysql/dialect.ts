// The SQL of MySQL and MariaDB. Statements have no placeholders: text is written as its bytes, which every sql_mode
// reads the same way.

import type { Change } from '../../counters/sink.ts'
import {
  type ChangeStatement,
  type Column,
  type Dialect,
  integerMisfit,
  KEPT_EPOCHS,
  type TargetPlace,
  type Statement,
  type TableName,
  textMisfit,
  uuidMisfit,
} from '../sql/dialect.ts'
import { CLOSED, HAS_BATCHES, HAS_NO_BATCH, IS_OPEN } from '../sql/ledger-lines.ts'
import { isOfRows, meaningOf } from './errors.ts'
import { MYSQL_REFUSED } from './refused.ts'
import { asText, bitsOf, hexOf, inSchema, isInteger, name, plain, tableOf, text } from './words.ts'

/** The server is slow to parse a long statement: the time grows with the square of the number of changes. */
const MOST_UPDATED = 100
const MOST_INSERTED = 1000

/** A reserved word of MySQL. */
const PARTITION = '`partition`'

export const MYSQL: Dialect = {
  name: 'mysql',
  ledger: (schema) => `CREATE TABLE IF NOT EXISTS ${ledgerIn(schema)} (
    counters VARBINARY(1024) NOT NULL, ${PARTITION} INT NOT NULL, epoch BIGINT NOT NULL,
    seq BIGINT NOT NULL, batch VARBINARY(64) NOT NULL, PRIMARY KEY (counters, ${PARTITION}, epoch)) ENGINE=InnoDB`,
  refused: MYSQL_REFUSED,
  find: (table) =>
    plain(`SELECT t.table_schema AS \`schema\`, t.table_name AS name, t.table_schema AS location
      FROM information_schema.tables t WHERE ${describes('t', table)}`),
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
        COALESCE(c.generation_expression, '') <> '' AS is_generated, c.extra LIKE '%auto_increment%' AS makes_zero,
        c.extra LIKE '%auto_increment%' OR c.column_default LIKE 'nextval(%' AS is_numbered,
        c.extra LIKE '%on update%' AND c.privileges LIKE '%select%update%' AS is_stamped,
        CASE e.transactions WHEN 'YES' THEN NULL ELSE CONCAT('has no transactions, for it is of ', t.engine) END AS flaw
      FROM information_schema.columns c JOIN information_schema.tables t
      LEFT JOIN information_schema.engines e ON e.engine = t.engine
      WHERE ${describes('c', table)} AND ${describes('t', table)}`),
  // No trigger of MySQL can drop a row.
  flaws: () => plain('SELECT NULL AS flaw FROM DUAL WHERE FALSE'),
  carefully: [],
  isCount: (type) => /^bigint(\(\d+\))?$/i.test(type),
  isWhole: (type) => bitsOf(type) !== undefined,
  isTime: (type) => /^(date|timestamp)/i.test(type),
  isId: (column) =>
    isInteger(column) || isUuid(column) || (TEXT.test(column.type) && (column.charset ?? '') in CHARACTERS),
  ids: 'integers, text in utf8mb4, utf8, latin1 or ascii, or the uuid of MariaDB',
  misfit,
  meaningOf,
  isOfRows,
  read: (place, { counters, partition, epoch }, ids) => {
    const { schema } = place.found
    const ledger = `SELECT NULL AS id_hex, NULL AS value, NULL AS refused, seq FROM ${ledgerIn(schema)}
      WHERE ${ledgerRow(counters, partition, epoch)}`
    const aside = MYSQL_REFUSED.among(schema, counters, ids, 'NULL')
    return plain([ledger, ...countsOf(place, ids, 'NULL, NULL'), ...aside].join('\nUNION ALL '))
  },
  newest: (schema, counters, partition) =>
    plain(`SELECT MAX(epoch) AS epoch FROM ${ledgerIn(schema)} WHERE ${linesOf(counters, partition)}`),
  batches: (schema, counters, partition) =>
    plain(`SELECT COUNT(*) AS batched, MIN(epoch) AS oldest, MAX(epoch) AS latest FROM ${ledgerIn(schema)}
      WHERE ${linesOf(counters, partition)} AND ${HAS_BATCHES}`),
  enter: (schema, { counters, partition, epoch }) =>
    plain(`INSERT IGNORE INTO ${ledgerIn(schema)} (counters, ${PARTITION}, epoch, seq, batch)
      VALUES (${text(counters)}, ${partition}, ${epoch}, 0, '')`),
  prune: (schema, counters, partition) => {
    const lines = linesOf(counters, partition)
    // MySQL only reads from the table of a DELETE through a derived table.
    const last = (seq: string, kept: number): string => `${seq} AND epoch < (SELECT epoch FROM (SELECT epoch
      FROM ${ledgerIn(schema)} WHERE ${lines} AND ${seq} ORDER BY epoch DESC LIMIT 1 OFFSET ${kept - 1}) kept)`
    return plain(`DELETE FROM ${ledgerIn(schema)} WHERE ${lines}
      AND (${last(HAS_NO_BATCH, KEPT_EPOCHS.empty)} OR ${last(HAS_BATCHES, KEPT_EPOCHS.others)})`)
  },
  advance: (schema, { counters, partition, epoch, seq, batch }) =>
    plain(`UPDATE ${ledgerIn(schema)} SET seq = ${seq}, batch = ${text(batch)}
      WHERE ${ledgerRow(counters, partition, epoch)} AND seq = ${seq - 1}`),
  close: (schema, { counters, partition, epoch }) =>
    plain(`UPDATE ${ledgerIn(schema)} SET ${CLOSED}
      WHERE ${linesOf(counters, partition)} AND epoch <= ${epoch} AND ${IS_OPEN}`),
  hold: (schema, { counters, partition, epoch }) =>
    plain(`UPDATE ${ledgerIn(schema)} SET seq = seq WHERE ${ledgerRow(counters, partition, epoch)}`),
  // With a lock it reads the last commit: the transaction may have taken its snapshot before it waited for this row.
  standing: (schema, { counters, partition, epoch }) =>
    plain(`SELECT seq, CAST(batch AS CHAR) AS batch FROM ${ledgerIn(schema)}
      WHERE ${ledgerRow(counters, partition, epoch)} LOCK IN SHARE MODE`),
  // Updates take three times as long as one INSERT.
  present: (place, ids) => (place.isNumbered ? presentOf(place, ids) : null),
  change: (target, changes) =>
    target.missing === 'create'
      ? inParts(changes, MOST_INSERTED).map((part) => insertion(target, part))
      : inParts(changes, MOST_UPDATED).map((part) => update(target, part)),
  owners: ({ found, id, idColumn }, ids) => {
    const own = hexOf(asText(name(id), idColumn))
    const from = `AS own_hex FROM ${tableOf({ found })} WHERE ${name(id)}`
    return plain(
      isInteger(idColumn)
        ? `SELECT ${own} AS id_hex, ${own} ${from} IN (${ids.join(', ')})`
        : ids
            .map((one) => `SELECT ${hexOf(text(one))} AS id_hex, ${own} ${from} = ${text(one)}`)
            .join('\nUNION ALL '),
    )
  },
}

function insertion(place: TargetPlace, changes: readonly Change[]): ChangeStatement {
  const [ids, count] = [name(place.id), name(place.value)]
  const rows = changes.map((change) => `(${key(change.id, place.idColumn)}, ${change.delta})`)
  // Any unique index causes a duplicate. A duplicate in another column is an error here: it is the row of another
  // counter.
  const { sql, values } = plain(`INSERT INTO ${tableOf(place)} (${ids}, ${count}) VALUES ${rows.join(', ')}
    ON DUPLICATE KEY UPDATE ${count} = IF(${ids} = VALUES(${ids}), COALESCE(${count}, 0) + VALUES(${count}), (SELECT 1 UNION SELECT 2))`)
  // An updated row counts as two, or as none.
  return { sql, values, rows: null }
}

function presentOf({ found, id, idColumn }: TargetPlace, ids: readonly string[]): Statement {
  const parts = inParts(ids, MOST_UPDATED).map((part) => {
    const keys = part.map((one) => key(one, idColumn)).join(', ')
    return `SELECT ${hexOf(asText(name(id), idColumn))} AS id_hex FROM ${tableOf({ found })} WHERE ${name(id)} IN (${keys})`
  })
  return plain(parts.join('\nUNION ALL '))
}

/** A sum, because two ids may be one row, such as `A` and `a` in most collations. */
function update(place: TargetPlace, changes: readonly Change[]): ChangeStatement {
  const [id, count] = [name(place.id), name(place.value)]
  const ids = changes.map((change) => key(change.id, place.idColumn))
  const added = isInteger(place.idColumn)
    ? `CASE ${id} ${changes.map(({ delta }, at) => `WHEN ${ids[at]} THEN ${delta}`).join(' ')} END`
    : changes.map(({ delta }, at) => `IF(${id} = ${ids[at]}, ${delta}, 0)`).join(' + ')
  const { sql, values } = plain(`UPDATE ${tableOf(place)} SET ${count} = COALESCE(${count}, 0) + ${added}
    WHERE ${id} IN (${ids.join(', ')})`)
  return { sql, values, rows: changes.length }
}

/**
 * Selects ids and counts, followed by `others`; NULL counts as 0. If the column decides which ids are equal, it uses a
 * SELECT for each id, so that each id gets the row that it would change. An integer only equals itself.
 */
export function countsOf(place: TargetPlace, ids: readonly string[], others: string): string[] {
  if (ids.length === 0) return []
  const { id, value, idColumn } = place
  const counts = `CAST(COALESCE(${name(value)}, 0) AS CHAR), ${others} FROM ${tableOf(place)} WHERE ${name(id)}`
  return isInteger(idColumn)
    ? [`SELECT ${hexOf(asText(name(id), idColumn))}, ${counts} IN (${ids.join(', ')})`]
    : ids.map((one) => `SELECT ${hexOf(text(one))}, ${counts} = ${text(one)}`)
}

/**
 * A condition that a row of information_schema belongs to this table. It must name each of its tables by constants, or
 * the server opens all tables that exist.
 */
export function describes(
  row: string,
  [schema, alone]: TableName,
  [ofSchema, named]: readonly [string, string] = ['table_schema', 'table_name'],
): string {
  const of = schema === undefined ? 'DATABASE()' : text(schema)
  return `${row}.${ofSchema} = ${of} AND ${row}.${named} = ${text(alone)}`
}

export function key(id: string, column: Column): string {
  return isInteger(column) ? id : text(id)
}

function isUuid({ type }: Column): boolean {
  return /^uuid$/i.test(type)
}

function ledgerIn(schema: string): string {
  return inSchema(schema, 'perilune_ledger')
}

function linesOf(counters: string, partition: number): string {
  return `counters = ${text(counters)} AND ${PARTITION} = ${partition}`
}

function ledgerRow(counters: string, partition: number, epoch: number): string {
  return `${linesOf(counters, partition)} AND epoch = ${epoch}`
}

const MADE_OF_ZERO = 'must not be 0, for which AUTO_INCREMENT generates another number,'

const TEXT = /^(var)?char|text/i

/** The characters that each character set has. latin1 has other characters in the place of control characters. */
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
  if (column.makesZero && id === '0') return MADE_OF_ZERO
  if (/unsigned/i.test(column.type)) return integerMisfit(id, 0n, 2n ** bits - 1n)
  return integerMisfit(id, -(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n)
}

function narrowMisfit(id: string, { charset }: Column): string | undefined {
  return CHARACTERS[charset ?? '']?.test(id) === false ? `must only have characters of ${charset}` : undefined
}

export function inParts<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size))
}
