// How MySQL and MariaDB count rows. Their numbers do not follow the order of commits, so a column of the row itself
// marks it as counted. Rows that a transaction is still writing are skipped, and found by a later roll-up.

import type { OutboxEntry } from '../../counters/count-source.ts'
import { causesOf } from '../sql/access.ts'
import {
  type CountDialect,
  changesOf,
  type Events,
  type EventsOptions,
  type EventsPlace,
  eventRow,
  eventsOf,
  outboxEventsOf,
  type RollUpStanding,
  type Taken,
} from '../sql/count-dialect.ts'
import { type Row, type SqlRunner, wholeOf } from '../sql/dialect.ts'
import { countsOf, describes, inParts, key, MYSQL } from './dialect.ts'
import { MYSQL_REFUSED } from './refused.ts'
import { asText, hexOf, inSchema, name, plain, tableOf, text } from './words.ts'

export interface MysqlEvents extends EventsOptions {
  /**
   * The column that marks counted rows, `BIGINT NOT NULL DEFAULT 0` or `BIGINT NULL`, with an index. Default:
   * `counted`.
   */
  readonly counted?: string
  /** The primary key, or another unique column, of integers: rows are marked by it. Default: `id`. */
  readonly key?: string
}

const DUPLICATE = 1062

export const MYSQL_COUNTS: CountDialect = {
  dialect: MYSQL,
  cursors: (schema) => `CREATE TABLE IF NOT EXISTS ${cursorIn(schema)} (
    counters VARBINARY(1024) NOT NULL PRIMARY KEY, version BIGINT NOT NULL, reached BIGINT NOT NULL) ENGINE=InnoDB`,
  outbox: (schema) => `CREATE TABLE IF NOT EXISTS ${outboxIn(schema)} (
    seq BIGINT AUTO_INCREMENT PRIMARY KEY, counters VARBINARY(1024) NOT NULL, idempotency_key VARBINARY(255) NOT NULL,
    id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, delta BIGINT NOT NULL,
    at DATETIME(3) NOT NULL, counted BIGINT NULL,
    UNIQUE (counters, idempotency_key), INDEX (counters, counted, seq), INDEX (counters, at)) ENGINE=InnoDB`,
  outboxEvents: outboxEventsOf({ mark: 'counted', key: 'seq' }),
  eventsOf: ({ counted = 'counted', key: number = 'id', ...events }: MysqlEvents) =>
    eventsOf(events, { mark: counted, key: number }, { counted, key: number }),
  suits: ({ table, mark, key: number, found }) => ({
    asked:
      plain(`SELECT c.is_nullable = 'NO' AS from_zero FROM information_schema.columns c JOIN information_schema.columns k
        WHERE ${describes('c', [found.schema, found.name])} AND ${describes('k', [found.schema, found.name])}
        AND c.column_name = ${text(mark)} AND c.data_type = 'bigint'
        AND COALESCE(c.column_default, 'NULL') = CASE c.is_nullable WHEN 'YES' THEN 'NULL' ELSE '0' END
        AND k.column_name = ${text(number)} AND k.data_type LIKE '%int' AND k.is_nullable = 'NO'
        AND EXISTS (SELECT 1 FROM information_schema.statistics s WHERE ${describes('s', [found.schema, found.name])} AND s.non_unique = 0
          GROUP BY s.index_name HAVING COUNT(*) = 1 AND MAX(s.column_name) = k.column_name)
        AND EXISTS (SELECT 1 FROM information_schema.statistics s WHERE ${describes('s', [found.schema, found.name])}
          AND s.column_name = c.column_name AND s.seq_in_index = 1)`),
    problem: `the column ${mark} of ${table} is not BIGINT NOT NULL DEFAULT 0 or BIGINT NULL with an index, or its key ${number} is not an integer NOT NULL with a unique index of its own`,
  }),
  enter: (schema, counters) =>
    plain(
      `INSERT IGNORE INTO ${cursorIn(schema)} (counters, version, reached) VALUES (${text(counters)}, 0, 0)`,
    ),
  standing,
  lock: (schema, counters) => plain(`${standing(schema, counters).sql} FOR UPDATE`),
  move: (schema, { counters, next }) =>
    plain(`UPDATE ${cursorIn(schema)} SET version = ${next} WHERE counters = ${text(counters)}`),
  take,
  values: (place, events, counters, ids) => {
    const { schema } = place.found
    const line = `SELECT NULL AS id_hex, NULL AS value, NULL AS refused, NULL AS pending, version, reached FROM ${cursorIn(schema)}
      WHERE counters = ${text(counters)}`
    const waiting = `SELECT ${hexOf('MIN(id)')}, NULL, NULL, CAST(SUM(amount) AS CHAR), NULL, NULL
      FROM (SELECT ${idOf(events)} AS id, ${amountOf(events)} AS amount FROM ${tableOf(events)} e
        WHERE ${own(events, counters)} AND ${isWaiting(events)} AND ${among(events, ids)}) e
      GROUP BY ${bytesOf('id')}`
    const nothing = 'NULL, NULL, NULL'
    const aside = MYSQL_REFUSED.among(schema, counters, ids, nothing)
    return plain([line, ...countsOf(place, ids, `NULL, ${nothing}`), ...aside, waiting].join('\nUNION ALL '))
  },
  waiting: (schema, events, counters, _hint, most) =>
    plain(`SELECT COUNT(w.one) AS waiting, MAX(w.age) AS age_ms, MAX(l.version) AS version, MAX(l.reached) AS reached
      FROM (SELECT 1 AS always) always LEFT JOIN ${cursorIn(schema)} l ON l.counters = ${text(counters)}
      LEFT JOIN (SELECT 1 AS one, ${ageOf(events)} AS age FROM ${tableOf(events)} e
        WHERE ${own(events, counters)} AND ${isWaiting(events)}
        ORDER BY e.${name(events.key)} LIMIT ${most}) w ON TRUE`),
  sums: (events, { counters }, ids) =>
    plain(`SELECT ${hexOf('MIN(id)')} AS id_hex, CAST(SUM(amount) AS CHAR) AS sum
      FROM (SELECT ${idOf(events)} AS id, ${amountOf(events)} AS amount FROM ${tableOf(events)} e
        WHERE ${own(events, counters)} AND NOT (${isWaiting(events)}) AND ${among(events, ids)}) e
      GROUP BY ${bytesOf('id')}`),
  add,
  purge: (schema, counters, olderThanMs, most) =>
    plain(`DELETE FROM ${outboxIn(schema)} WHERE counters = ${text(counters)} AND counted IS NOT NULL
      AND at < UTC_TIMESTAMP(3) - INTERVAL ${olderThanMs} * 1000 MICROSECOND ORDER BY at LIMIT ${most}`),
}

function standing(schema: string, counters: string) {
  return plain(`SELECT version, reached FROM ${cursorIn(schema)} WHERE counters = ${text(counters)}`)
}

function own({ isShared }: Events, counters: string): string {
  return isShared ? `e.counters = ${text(counters)}` : 'TRUE'
}

function idOf({ id, idColumn }: EventsPlace): string {
  return asText(`e.${name(id)}`, idColumn)
}

/** Ids are grouped by their bytes: a collation may treat ids with trailing blanks as equal to those without. */
function bytesOf(id: string): string {
  return `CAST(${id} AS BINARY)`
}

function amountOf({ amount }: Events): string {
  return amount === null ? '1' : `e.${name(amount)}`
}

function isWaiting({ mark, isMarkedFromZero }: EventsPlace): string {
  return `e.${name(mark)} ${isMarkedFromZero ? '= 0' : 'IS NULL'}`
}

/** The outbox stores its times in UTC, whatever the time zone of the session. */
function ageOf({ at, isShared }: Events): string {
  if (at === null) return 'NULL'
  return `TIMESTAMPDIFF(MICROSECOND, e.${name(at)}, ${isShared ? 'UTC_TIMESTAMP(3)' : 'NOW(3)'}) / 1000`
}

function among({ id, idColumn }: EventsPlace, ids: readonly string[]): string {
  const fitting = ids.filter((one) => MYSQL.misfit(one, idColumn) === undefined)
  if (fitting.length === 0) return 'FALSE'
  return `e.${name(id)} IN (${fitting.map((one) => key(one, idColumn)).join(', ')})`
}

async function take(
  runner: SqlRunner,
  events: EventsPlace,
  { counters, next, reached }: RollUpStanding,
  limit: number,
  until: string | undefined,
): Promise<Taken> {
  const { keys, sums } = await lockWaiting(runner, events, counters, limit)
  if (keys.length > 0) {
    const kept = events.stamped.map((column) => `, ${name(column)} = ${name(column)}`).join('')
    const marked = `${name(events.mark)} = ${next}${kept}`
    await runner.changes(
      plain(`UPDATE ${tableOf(events)} SET ${marked} WHERE ${isAmong(name(events.key), keys)}`),
    )
  }
  const taken = { changes: changesOf(sums.map(eventRow)), events: keys.length, reached }
  const newestTaken = keys.at(-1)
  if (newestTaken === undefined || keys.length < limit) return { ...taken, more: false, until: '' }
  const last = until ?? (await newest(runner, events, counters))
  const more = newestTaken < BigInt(last)
  return { ...taken, more, until: more ? last : '' }
}

/** Locked rows, by their keys, and their sums. */
interface Locked {
  readonly keys: readonly bigint[]
  /** In the form that `eventRow` reads. */
  readonly sums: readonly Row[]
}

/**
 * Locks waiting rows, the oldest first. Locking through the index of the marks costs many times more than locking by
 * key. So rows are looked up without a lock, and locked by key if they still wait. If that leaves any out, because
 * another transaction holds or has taken them, the index is locked after all: a scan of it continues after those rows,
 * however many they are.
 */
async function lockWaiting(
  runner: SqlRunner,
  events: EventsPlace,
  counters: string,
  limit: number,
): Promise<Locked> {
  const [from, number] = [tableOf(events), `e.${name(events.key)}`]
  const [id, amount] = [idOf(events), amountOf(events)]
  const waiting = `FROM ${from} e WHERE ${own(events, counters)} AND ${isWaiting(events)} ORDER BY ${number} LIMIT ${limit}`
  const found = keysOf(await runner.rows(plain(`SELECT CAST(${number} AS CHAR) AS at ${waiting}`)))
  if (found.length === 0) return { keys: [], sums: [] }
  // Written differently, so that the optimizer does not use the index of the marks here.
  const known = `${isAmong(number, found)} AND COALESCE(e.${name(events.mark)}, 0) = 0`
  const sums = await runner.rows(
    plain(`SELECT ${hexOf(`MIN(${id})`)} AS id_hex, CAST(SUM(${amount}) AS CHAR) AS amount, COUNT(*) AS events
      FROM ${from} e WHERE ${known} GROUP BY ${bytesOf(id)} FOR UPDATE SKIP LOCKED`),
  )
  if (sums.reduce((all, each) => all + Number(each['events']), 0) === found.length)
    return { keys: found, sums }
  const rows = await runner.rows(
    plain(`SELECT CAST(${number} AS CHAR) AS at, ${hexOf(id)} AS id_hex, CAST(${amount} AS CHAR) AS amount
      ${waiting} FOR UPDATE SKIP LOCKED`),
  )
  return { keys: keysOf(rows), sums: rows }
}

function keysOf(rows: readonly Row[]): bigint[] {
  return rows.map(({ at }) => BigInt(String(at)))
}

/** MariaDB converts a list of 1,000 or more values to a table, and may then read the whole other table. */
const LONGEST_LIST = 500

/** Consecutive keys become a range, which costs less to parse and to look up than a list. */
function isAmong(number: string, keys: readonly bigint[]): string {
  const runs = runsOf(keys)
  const ranges = runs.filter(({ from, to }) => from < to)
  const alone = runs.filter(({ from, to }) => from === to)
  const lists = inParts(alone, LONGEST_LIST).map((list) => list.map(({ from }) => from).join(', '))
  const either = [
    ...ranges.map(({ from, to }) => `${number} BETWEEN ${from} AND ${to}`),
    ...lists.map((list) => `${number} IN (${list})`),
  ]
  return `(${either.join(' OR ')})`
}

interface Run {
  readonly from: bigint
  to: bigint
}

/** The keys must be sorted. */
function runsOf(keys: readonly bigint[]): Run[] {
  const runs: Run[] = []
  for (const at of keys) {
    const run = runs.at(-1)
    if (run !== undefined && run.to + 1n === at) run.to = at
    else runs.push({ from: at, to: at })
  }
  return runs
}

/** The greatest key of a row that was not counted. */
async function newest(runner: SqlRunner, events: EventsPlace, counters: string): Promise<string> {
  const number = name(events.key)
  const [row] = await runner.rows(
    plain(`SELECT CAST(e.${number} AS CHAR) AS at FROM ${tableOf(events)} e
      WHERE ${own(events, counters)} AND ${isWaiting(events)} ORDER BY e.${number} DESC LIMIT 1`),
  )
  return wholeOf(row?.['at'], MIN)
}

/** Less than any key. */
const MIN = String(-(2n ** 63n))

/** INSERT IGNORE would hide other errors, too. A duplicate key fails the statement, but not the transaction. */
async function add(
  runner: SqlRunner,
  schema: string,
  counters: string,
  { id, by, idempotencyKey }: OutboxEntry,
): Promise<boolean> {
  try {
    await runner.changes(
      plain(`INSERT INTO ${outboxIn(schema)} (counters, idempotency_key, id, delta, at)
        VALUES (${text(counters)}, ${text(idempotencyKey)}, ${text(id)}, ${by}, UTC_TIMESTAMP(3))`),
    )
    return true
  } catch (error) {
    if (causesOf(error).some((cause) => (cause as { errno?: unknown }).errno === DUPLICATE)) return false
    throw error
  }
}

function cursorIn(schema: string): string {
  return inSchema(schema, 'perilune_cursor')
}

function outboxIn(schema: string): string {
  return inSchema(schema, 'perilune_outbox')
}
