// The part of counting rows that differs between databases; counts.ts has the order of the statements.

import type { OutboxEntry } from '../../counters/count-source.ts'
import type { Change } from '../../counters/sink.ts'
import { checkOptions } from '../../runtime/values/arguments.ts'
import { checkNames } from './access.ts'
import {
  type Column,
  type Dialect,
  type FoundTable,
  idFrom,
  type LaterMade,
  type TargetPlace,
  type SqlRunner,
  type Statement,
  type Target,
  wholeOf,
} from './dialect.ts'

export interface EventsOptions {
  /** The table of the events: `votes`, or `shop.votes`. Rows may only be inserted. */
  readonly table: string
  /** The column with the id of the counter of an event. */
  readonly id: string
  /** The column of integers to add; without it each row counts 1. */
  readonly amount?: string
  /**
   * The column with the time of an event. `inspect` needs it to report the age of the oldest row that is not counted.
   */
  readonly at?: string
  /** The table of the counts. */
  readonly target: Target
}

/** The rows to count. */
export interface Events {
  readonly table: string
  readonly id: string
  readonly amount: string | null
  readonly at: string | null
  /** The column that shows which rows were counted. */
  readonly mark: string
  /** The key of the table, where the database needs one. */
  readonly key: string
  /** Whether the table has rows of several counters, distinguished by a column `counters`. */
  readonly isShared: boolean
}

/** Events whose table was found. */
export interface FoundEvents extends Events {
  readonly found: FoundTable
}

/** Events whose columns are known. */
export interface EventsPlace extends FoundEvents {
  readonly idColumn: Column
  /** Whether the mark of waiting rows is 0 instead of NULL, in databases that mark each row. */
  readonly isMarkedFromZero: boolean
  /** Columns that must keep their values when rows are marked. */
  readonly stamped: readonly string[]
}

/** The progress of roll-ups. */
export interface RollUpStanding {
  readonly counters: string
  readonly version: number
  /** The version that this roll-up creates. */
  readonly next: number
  /** The position up to which rows were counted, in databases that count in an order. */
  readonly reached: string
}

export interface Taken {
  readonly changes: readonly Change[]
  readonly events: number
  readonly reached: string
  readonly more: boolean
  /** As in `RolledUp`. */
  readonly until: string
}

export interface CountDialect {
  readonly dialect: Dialect
  /** Creates the table of the roll-ups in a schema; safe if another process does so at the same time. */
  cursors(schema: string): string
  /** Creates the outbox in a schema. */
  outbox(schema: string): string
  /** Indexes of the outbox that need statements of their own. */
  outboxIndexes?(schema: string): readonly LaterMade[]
  readonly outboxEvents: Events
  /** The user's rows, from the options of this database. Throws InvalidArgumentError. */
  eventsOf(options: EventsOptions): Events
  /**
   * A row if the table has what counting needs besides the columns of the options, with `from_zero` as in EventsPlace;
   * otherwise `problem`.
   */
  suits(events: FoundEvents): { readonly asked: Statement; readonly problem: string }
  /** Creates the line of counters that were never rolled up; does nothing if it exists. */
  enter(schema: string, counters: string): Statement
  /** `version` and `reached` of counters. */
  standing(schema: string, counters: string): Statement
  /** `version`, `reached` and `flaw` of counters; locks their line. */
  lock(schema: string, counters: string, events: EventsPlace): Statement
  move(schema: string, standing: RollUpStanding): Statement
  /**
   * Stores the flaw of a line until an operator removes it: its cause may pass by itself, but rows written before that
   * would still never be counted. Only for databases whose lines can have a flaw.
   */
  keepFlaw?(schema: string, counters: string, flaw: string): Statement
  /** Takes about `limit` rows that were never counted, the oldest first. */
  take(
    runner: SqlRunner,
    events: EventsPlace,
    standing: RollUpStanding,
    limit: number,
    until: string | undefined,
  ): Promise<Taken>
  /**
   * Rows of an id, as `idFrom` reads it, `value`, `refused`, `pending`, and of `version` and `reached`, some of them
   * null. `hint`: a position up to which rows are known to be counted.
   */
  values(
    place: TargetPlace,
    events: EventsPlace,
    counters: string,
    ids: readonly string[],
    hint: string,
  ): Statement
  /** Rows waiting, at most `most`, as `waiting`; also `age_ms`, `version`, `reached` and `flaw`. */
  waiting(schema: string, events: EventsPlace, counters: string, hint: string, most: number): Statement
  /** An id, as `idFrom` reads it, and `sum` of its counted rows. */
  sums(events: EventsPlace, standing: RollUpStanding, ids: readonly string[]): Statement
  /** Inserts a change into the outbox, in any transaction. Resolves to false if its idempotency key is known. */
  add(runner: SqlRunner, schema: string, counters: string, entry: OutboxEntry): Promise<boolean>
  /** Deletes counted rows that were written longer ago than `olderThanMs`. */
  purge(schema: string, counters: string, olderThanMs: number, most: number): Statement
}

/** The columns of Perilune's outbox. */
export function outboxEventsOf(marks: Pick<Events, 'mark' | 'key'>): Events {
  return { table: 'perilune_outbox', id: 'id', amount: 'delta', at: 'at', ...marks, isShared: true }
}

/** Throws InvalidArgumentError. */
export function eventsOf(
  options: EventsOptions,
  marks: { readonly mark: string; readonly key: string },
  names: Readonly<Record<string, unknown>>,
): Events {
  checkOptions('options', options, ['table', 'id', 'amount', 'at', 'target'])
  const { table, id, amount, at } = options
  const optional = Object.entries({ amount, at }).filter(([, name]) => name !== undefined)
  checkNames({ table, id, ...Object.fromEntries(optional), ...names })
  return { table, id, amount: amount ?? null, at: at ?? null, ...marks, isShared: false }
}

export interface EventRow {
  readonly id: string | null
  readonly amount: bigint
}

/** One change per counter, in the order of the ids. */
export function changesOf(rows: readonly EventRow[]): Change[] {
  const sums = new Map<string, bigint>()
  for (const { id, amount } of rows) {
    if (id !== null) sums.set(id, (sums.get(id) ?? 0n) + amount)
  }
  const changes = [...sums].map(([id, delta]) => ({ id, delta }))
  // Sorted by key: other writers that use the same order then wait and do not deadlock.
  return changes.toSorted((left, right) => (left.id < right.id ? -1 : 1))
}

export function eventRow(row: Readonly<Record<string, unknown>>): EventRow {
  return { id: idFrom(row), amount: BigInt(wholeOf(row['amount'])) }
}
