// How SQLite counts rows: it has one writer, so rows become visible in the order of their numbers. AUTOINCREMENT
// prevents the number of a deleted row from being used again.

import type { OutboxEntry } from '../../counters/count-source.ts'
import {
  type CountDialect,
  changesOf,
  type Events,
  type EventsPlace,
  eventRow,
  eventsOf,
  outboxEventsOf,
  type RollUpStanding,
  type Taken,
} from '../sql/count-dialect.ts'
import { type LaterMade, type SqlRunner, wholeOf } from '../sql/dialect.ts'
import { cursorIn, name, nameOf, outboxIn } from '../sql/quoted-names.ts'
import { countOf, SQLITE, tableOf } from './dialect.ts'
import { SQLITE_REFUSED } from './refused.ts'

/** Milliseconds since 1970, in any version. */
const NOW_MS = "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"

export const SQLITE_COUNTS: CountDialect = {
  dialect: SQLITE,
  cursors: (schema) => `CREATE TABLE IF NOT EXISTS ${cursorIn(schema)} (
    counters TEXT PRIMARY KEY, version INTEGER NOT NULL, reached INTEGER NOT NULL, flaw TEXT) WITHOUT ROWID`,
  outbox: (schema) => `CREATE TABLE IF NOT EXISTS ${outboxIn(schema)} (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, counters TEXT NOT NULL, idempotency_key TEXT NOT NULL, id TEXT NOT NULL,
    delta INTEGER NOT NULL, at INTEGER NOT NULL, UNIQUE (counters, idempotency_key))`,
  // The rowid is the last part of every index. Without these indexes each flush would read all remembered rows.
  outboxIndexes: (schema) => [
    indexOf(schema, 'perilune_outbox_seq', 'counters'),
    indexOf(schema, 'perilune_outbox_at', 'counters, at'),
  ],
  outboxEvents: outboxEventsOf({ mark: '', key: '' }),
  eventsOf: (events) => eventsOf(events, { mark: '', key: '' }, {}),
  suits: ({ table, found }) => ({
    asked: {
      sql: `SELECT 1 FROM ${name(found.schema)}.sqlite_master
        WHERE type = 'table' AND name = ? AND sql LIKE '%AUTOINCREMENT%'`,
      values: [found.name],
    },
    problem: `the table ${table} has no key INTEGER PRIMARY KEY AUTOINCREMENT`,
  }),
  enter: (schema, counters) => ({
    sql: `INSERT INTO ${cursorIn(schema)} VALUES (?, 0, 0, NULL) ON CONFLICT DO NOTHING`,
    values: [counters],
  }),
  standing,
  lock: (schema, counters, events) => ({
    sql: `SELECT l.version AS version, CAST(l.reached AS TEXT) AS reached, ${flawOf(events)} AS flaw
      FROM ${cursorIn(schema)} l WHERE l.counters = ?`,
    values: [...flawValues(events), counters],
  }),
  move: (schema, { counters, next, reached }) => ({
    sql: `UPDATE ${cursorIn(schema)} SET version = ?, reached = ? WHERE counters = ?`,
    values: [next, Number(reached), counters],
  }),
  keepFlaw: (schema, counters, flaw) => ({
    sql: `UPDATE ${cursorIn(schema)} SET flaw = ? WHERE counters = ?`,
    values: [flaw, counters],
  }),
  take,
  values: (place, events, counters, ids) => ({
    sql: `SELECT asked.value AS id, ${countOf(place, 't')} AS value, r.delta AS refused, CAST(w.pending AS TEXT) AS pending,
        CAST(w.pending_high AS TEXT) AS pending_high, l.version AS version, l.reached AS reached
      FROM json_each(?) asked LEFT JOIN ${cursorIn(place.found.schema)} l ON l.counters = ?
      LEFT JOIN ${tableOf(place)} t ON t.${name(place.id)} = asked.value
      LEFT JOIN ${SQLITE_REFUSED.in(place.found.schema)} r ON r.counters = ? AND r.id = asked.value
      LEFT JOIN (SELECT CAST(e.${name(events.id)} AS TEXT) AS id, ${sumOf(events, 'pending')}
        FROM ${tableOf(events)} e WHERE ${own(events)} AND e.rowid > ${reachedIn(place.found.schema)}
          AND e.${name(events.id)} IN (SELECT value FROM json_each(?)) GROUP BY 1) w ON w.id = asked.value`,
    values: [JSON.stringify(ids), counters, counters, counters, counters, JSON.stringify(ids)],
  }),
  waiting: (schema, events, counters, _hint, most) => ({
    sql: `SELECT (SELECT COUNT(*) FROM (${waitingRows(schema, events)})) AS waiting,
        (SELECT MAX(age) FROM (${waitingRows(schema, events)})) AS age_ms,
        l.version AS version, l.reached AS reached, ${flawOf(events)} AS flaw
      FROM (SELECT 1) always LEFT JOIN ${cursorIn(schema)} l ON l.counters = ?`,
    values: [counters, counters, most, counters, counters, most, ...flawValues(events), counters],
  }),
  sums: (events, { counters, reached }, ids) => ({
    // As bytes: a cast keeps the collation of the column.
    sql: `SELECT CAST(e.${name(events.id)} AS TEXT) COLLATE BINARY AS id, ${sumOf(events, 'sum')}
      FROM ${tableOf(events)} e WHERE ${own(events)} AND e.rowid <= ?
        AND e.${name(events.id)} IN (SELECT value FROM json_each(?)) GROUP BY 1`,
    values: [counters, Number(reached), JSON.stringify(ids)],
  }),
  add,
  purge: (schema, counters, olderThanMs, most) => ({
    sql: `DELETE FROM ${outboxIn(schema)} WHERE seq IN (SELECT e.seq FROM ${outboxIn(schema)} e
      WHERE e.counters = ? AND e.seq <= ${reachedIn(schema)} AND e.at < ${NOW_MS} - ? ORDER BY e.at LIMIT ?)`,
    values: [counters, counters, olderThanMs, most],
  }),
}

/** Roll-ups that have counted numbers which a recreated table will use again: such rows would never be found. */
function flawOf({ found }: EventsPlace): string {
  const given = `SELECT seq FROM ${name(found.schema)}.sqlite_sequence WHERE name = ?`
  return `coalesce(l.flaw, CASE WHEN l.reached > coalesce((${given}), 0) THEN ? END)`
}

function flawValues({ table, found }: EventsPlace): string[] {
  return [found.name, `roll-ups are ahead of the numbers of ${table}, which were set back in sqlite_sequence`]
}

/** The position up to which rows were counted; its parameter is the name of the counters. */
function reachedIn(schema: string): string {
  return `coalesce((SELECT reached FROM ${cursorIn(schema)} WHERE counters = ?), 0)`
}

function standing(schema: string, counters: string) {
  return {
    sql: `SELECT version, CAST(reached AS TEXT) AS reached FROM ${cursorIn(schema)} WHERE counters = ?`,
    values: [counters],
  }
}

/** The first parameter is the name of the counters, even if the table has rows of one name only. */
function own({ isShared }: Events): string {
  return isShared ? 'e.counters = ?' : '? IS NOT NULL'
}

/** A column of integers may have any value in a row. */
function amountOf({ amount }: Events): string {
  return amount === null ? '1' : `CAST(e.${name(amount)} AS INTEGER)`
}

/** In two parts, as `wideOf` reads them: SUM fails when it leaves 64 bits, and the whole statement with it. */
function sumOf(events: Events, column: string): string {
  const amount = amountOf(events)
  return `SUM(${amount} & 4294967295) AS ${column}, SUM(${amount} >> 32) AS ${column}_high`
}

function waitingRows(schema: string, events: EventsPlace): string {
  return `SELECT ${ageOf(events)} AS age FROM ${tableOf(events)} e
    WHERE ${own(events)} AND e.rowid > ${reachedIn(schema)} ORDER BY e.rowid LIMIT ?`
}

/** A time may be milliseconds, seconds, or text. */
function ageOf({ at }: Events): string {
  if (at === null) return 'NULL'
  const column = `e.${name(at)}`
  return `CASE typeof(${column}) WHEN 'text' THEN (julianday('now') - julianday(${column})) * 86400000
    ELSE ${NOW_MS} - ${column} * CASE WHEN ${column} < 100000000000 THEN 1000 ELSE 1 END END`
}

async function take(
  runner: SqlRunner,
  events: EventsPlace,
  { counters, reached }: RollUpStanding,
  limit: number,
  until: string | undefined,
): Promise<Taken> {
  const rows = await runner.rows({
    sql: `SELECT CAST(e.rowid AS TEXT) AS at, CAST(e.${name(events.id)} AS TEXT) AS id, CAST(${amountOf(events)} AS TEXT) AS amount
      FROM ${tableOf(events)} e WHERE ${own(events)} AND e.rowid > ? ORDER BY e.rowid LIMIT ?`,
    values: [counters, Number(reached), limit],
  })
  const taken = { changes: changesOf(rows.map(eventRow)), events: rows.length }
  const to = wholeOf(rows.at(-1)?.['at'], reached)
  if (rows.length < limit) return { ...taken, reached: to, more: false, until: '' }
  const last = until ?? (await newest(runner, events, counters))
  const more = BigInt(to) < BigInt(last)
  return { ...taken, reached: to, more, until: more ? last : '' }
}

/** The number of the newest row. */
async function newest(runner: SqlRunner, events: EventsPlace, counters: string): Promise<string> {
  const [row] = await runner.rows({
    sql: `SELECT CAST(e.rowid AS TEXT) AS at FROM ${tableOf(events)} e WHERE ${own(events)} ORDER BY e.rowid DESC LIMIT 1`,
    values: [counters],
  })
  return wholeOf(row?.['at'])
}

async function add(
  runner: SqlRunner,
  schema: string,
  counters: string,
  { id, by, idempotencyKey }: OutboxEntry,
): Promise<boolean> {
  const added = await runner.changes({
    sql: `INSERT INTO ${outboxIn(schema)} (counters, idempotency_key, id, delta, at) VALUES (?, ?, ?, ?, ${NOW_MS})
      ON CONFLICT (counters, idempotency_key) DO NOTHING`,
    values: [counters, idempotencyKey, id, by],
  })
  return added === 1
}

function indexOf(schema: string, index: string, columns: string): LaterMade {
  return {
    asked: {
      sql: `SELECT 1 FROM ${name(schema)}.sqlite_master WHERE type = 'index' AND name = ?`,
      values: [index],
    },
    definition: `CREATE INDEX IF NOT EXISTS ${nameOf([schema, index])} ON perilune_outbox (${columns})`,
  }
}
