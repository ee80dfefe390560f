// How PostgreSQL counts rows. Each row has the id of its transaction. All transactions below the oldest open one have
// ended, in whatever order they committed: their rows exist, or never will. A roll-up takes the rows from the end of
// the last one up to there. So a window is closed before it is read, and windows have neither overlaps nor gaps.
// Transaction ids travel as text: not every library knows their type.

import type { OutboxEntry } from '../../counters/count-source.ts'
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
import type { SqlRunner } from '../sql/dialect.ts'
import { cursorIn, name, outboxIn } from '../sql/quoted-names.ts'
import { POSTGRES } from './dialect.ts'
import { guarded, POSTGRES_REFUSED } from './refused.ts'
import { countOf, equal, tableOf } from './words.ts'

export interface PostgresEvents extends EventsOptions {
  /** The column of the transaction id, `xid8 NOT NULL DEFAULT pg_current_xact_id()`, indexed. Default: `tx`. */
  readonly tx?: string
}

const AHEAD = `roll-ups are ahead of the transactions of this server, for the database came from another one`

export const POSTGRES_COUNTS: CountDialect = {
  dialect: POSTGRES,
  cursors: (schema) =>
    guarded(`CREATE TABLE IF NOT EXISTS ${cursorIn(schema)} (
      counters text PRIMARY KEY, version bigint NOT NULL, reached xid8 NOT NULL, flaw text);`),
  outbox: (schema) =>
    guarded(`CREATE TABLE IF NOT EXISTS ${outboxIn(schema)} (
      counters text NOT NULL, idempotency_key text NOT NULL, id text NOT NULL, delta bigint NOT NULL,
      tx xid8 NOT NULL DEFAULT pg_current_xact_id(), at timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (counters, idempotency_key));
    CREATE INDEX IF NOT EXISTS perilune_outbox_tx ON ${outboxIn(schema)} (counters, tx);
    CREATE INDEX IF NOT EXISTS perilune_outbox_at ON ${outboxIn(schema)} (counters, at);`),
  outboxEvents: outboxEventsOf({ mark: 'tx', key: '' }),
  eventsOf: ({ tx = 'tx', ...events }: PostgresEvents) => eventsOf(events, { mark: tx, key: '' }, { tx }),
  suits: ({ table, mark, found }) => ({
    asked: {
      sql: `SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attrelid = to_regclass($1) AND a.attname = $2 AND a.atttypid = 'xid8'::regtype AND a.attnotnull
          AND i.indisvalid AND i.indpred IS NULL AND pg_get_expr(d.adbin, d.adrelid) = 'pg_current_xact_id()'`,
      values: [tableOf({ found }), mark],
    },
    problem: `the column ${mark} of ${table} is not xid8 NOT NULL DEFAULT pg_current_xact_id() with an index`,
  }),
  enter: (schema, counters) => ({
    sql: `INSERT INTO ${cursorIn(schema)} (counters, version, reached) VALUES ($1, 0, '0') ON CONFLICT DO NOTHING`,
    values: [counters],
  }),
  standing: (schema, counters) => ({
    sql: `SELECT version, reached::text AS reached FROM ${cursorIn(schema)} WHERE counters = $1`,
    values: [counters],
  }),
  lock: (schema, counters) => ({
    sql: `SELECT version, reached::text AS reached, ${flawOf('c', '$2')} AS flaw
      FROM ${cursorIn(schema)} c WHERE counters = $1 FOR UPDATE`,
    values: [counters, AHEAD],
  }),
  move: (schema, { counters, next, reached }) => ({
    sql: `UPDATE ${cursorIn(schema)} SET version = $2, reached = $3::xid8 WHERE counters = $1`,
    values: [counters, next, reached],
  }),
  keepFlaw: (schema, counters, flaw) => ({
    sql: `UPDATE ${cursorIn(schema)} SET flaw = $2 WHERE counters = $1`,
    values: [counters, flaw],
  }),
  take,
  values: (place, events, counters, ids, hint) => ({
    sql: `WITH line AS (SELECT version, reached FROM ${cursorIn(place.found.schema)} WHERE counters = $1),
      waiting AS (SELECT e.${name(events.id)}::text AS id, sum(${amountOf(events)}) AS pending
        FROM ${tableOf(events)} e WHERE ${own(events)} AND e.${name(events.mark)} >= $2::xid8
          AND e.${name(events.mark)} >= coalesce((SELECT reached FROM line), '0'::xid8)
          AND e.${name(events.id)}::text = ANY($3) GROUP BY 1)
      SELECT asked.id, ${countOf(place, 't')} AS value, r.delta AS refused, w.pending::text AS pending, l.version,
        l.reached::text AS reached
      FROM unnest($3::text[], $4::${place.idColumn.type}[]) AS asked (id, key)
      LEFT JOIN line l ON true
      LEFT JOIN ${tableOf(place)} t ON t.${name(place.id)} ${equal(place.idColumn)} asked.key
      LEFT JOIN ${POSTGRES_REFUSED.in(place.found.schema)} r ON r.counters = $1 AND r.id = asked.id
      LEFT JOIN waiting w ON w.id = asked.id`,
    values: [counters, hint, ids, ids],
  }),
  waiting: (schema, events, counters, hint, most) => ({
    sql: `WITH line AS (SELECT version, reached, flaw FROM ${cursorIn(schema)} WHERE counters = $1)
      SELECT count(w.one) AS waiting, max(w.age) AS age_ms, max(l.version) AS version, max(l.reached::text) AS reached,
        max(${flawOf('l', '$4')}) AS flaw
      FROM (SELECT 1) always LEFT JOIN line l ON true
      LEFT JOIN LATERAL (SELECT 1 AS one, ${ageOf(events)} AS age FROM ${tableOf(events)} e
        WHERE ${own(events)} AND e.${name(events.mark)} >= $2::xid8
          AND e.${name(events.mark)} >= coalesce(l.reached, '0'::xid8)
        ORDER BY e.${name(events.mark)} LIMIT $3) w ON true`,
    values: [counters, hint, most, AHEAD],
  }),
  sums: (events, { counters, reached }, ids) => ({
    sql: `SELECT e.${name(events.id)}::text AS id, sum(${amountOf(events)})::text AS sum FROM ${tableOf(events)} e
      WHERE ${own(events)} AND e.${name(events.mark)} < $2::xid8
        AND e.${name(events.id)} ${equal(events.idColumn)} ANY($3::text[]::${events.idColumn.type}[]) GROUP BY 1`,
    values: [counters, reached, ids],
  }),
  add,
  purge: (schema, counters, olderThanMs, most) => ({
    sql: `DELETE FROM ${outboxIn(schema)} o USING (SELECT e.counters, e.idempotency_key FROM ${outboxIn(schema)} e
        JOIN ${cursorIn(schema)} l ON l.counters = e.counters
        WHERE e.counters = $1 AND e.tx < l.reached AND e.at < clock_timestamp() - $2 * interval '1 millisecond'
        ORDER BY e.at LIMIT $3) d
      WHERE o.counters = d.counters AND o.idempotency_key = d.idempotency_key`,
    values: [counters, olderThanMs, most],
  }),
}

/** Reports roll-ups that have counted transactions which have not begun: rows of those would never be waiting. */
function flawOf(line: string, said: string): string {
  return `coalesce(${line}.flaw, CASE WHEN ${line}.reached > pg_snapshot_xmax(pg_current_snapshot()) THEN ${said}::text END)`
}

/** `$1` in every statement on events: the name of the counters, where the table has rows of several. */
function own({ isShared }: Events): string {
  return isShared ? 'e.counters = $1' : '$1::text IS NOT NULL'
}

function amountOf({ amount }: Events): string {
  return amount === null ? '1' : `e.${name(amount)}`
}

function ageOf({ at }: Events): string {
  return at === null ? 'NULL::float8' : `extract(epoch FROM clock_timestamp() - e.${name(at)}) * 1000`
}

/** Takes whole transactions, whose rows share one number: at least the first one, even beyond `limit` rows. */
async function take(
  runner: SqlRunner,
  events: EventsPlace,
  { counters, reached }: RollUpStanding,
  limit: number,
  until: string | undefined,
): Promise<Taken> {
  const [mark, from] = [`e.${name(events.mark)}`, tableOf(events)]
  const next = (offset: string): string => `(SELECT ${mark} FROM ${from} e WHERE ${own(events)}
    AND ${mark} >= $2::xid8 AND ${mark} < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY ${mark} OFFSET ${offset} LIMIT 1)::text`
  const [row] = await runner.rows({
    sql: `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS oldest,
      pg_snapshot_xmax(pg_current_snapshot())::text AS newest, ${next('0')} AS first, ${next('$3')} AS beyond`,
    values: [counters, reached, limit],
  })
  const { oldest, newest, first, beyond } = row as unknown as Window
  if (first === null) return { changes: [], events: 0, reached, more: false, until: '' }
  const end = beyond === null ? oldest : beyond === first ? String(BigInt(first) + 1n) : beyond
  const rows = await runner.rows({
    sql: `SELECT e.${name(events.id)}::text AS id, sum(${amountOf(events)})::text AS amount, count(*) AS events
      FROM ${from} e WHERE ${own(events)} AND ${mark} >= $2::xid8 AND ${mark} < $3::xid8 GROUP BY 1`,
    values: [counters, reached, end],
  })
  const taken = rows.reduce((sum, each) => sum + Number(each['events']), 0)
  const last = until ?? newest
  const more = beyond !== null && BigInt(beyond) < BigInt(last)
  return {
    changes: changesOf(rows.map(eventRow)),
    events: taken,
    reached: end,
    more,
    until: more ? last : '',
  }
}

/** Transaction ids. */
interface Window {
  /** The oldest open one. */
  readonly oldest: string
  /** The next one to begin. */
  readonly newest: string
  /** That of the first row to take. */
  readonly first: string | null
  /** The first one after the rows to take. */
  readonly beyond: string | null
}

async function add(
  runner: SqlRunner,
  schema: string,
  counters: string,
  { id, by, idempotencyKey }: OutboxEntry,
): Promise<boolean> {
  const added = await runner.changes({
    sql: `INSERT INTO ${outboxIn(schema)} (counters, idempotency_key, id, delta) VALUES ($1, $2, $3, $4)
      ON CONFLICT (counters, idempotency_key) DO NOTHING`,
    values: [counters, idempotencyKey, id, by],
  })
  return added === 1
}
