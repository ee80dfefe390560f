// What each database words and runs for itself to count rows; counts.ts has the order of the statements.

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
  /** The table of the events: `votes`, or `shop.votes`. Rows are only ever inserted. */
  readonly table: string
  /** Its column of the counter that an event is for. */
  readonly id: string
  /** Its column of integers that are counted; without it each row counts 1. */
  readonly amount?: string
  /** Its column of the time, if `inspect` is to tell how old the oldest row is that is not counted. */
  readonly at?: string
  /** The table of the counts. */
  readonly target: Target
}

/** Rows that are counted. */
export interface Events {
  readonly table: string
  readonly id: string
  readonly amount: string | null
  readonly at: string | null
  /** The column by which it is known what has been counted. */
  readonly mark: string
  /** The key of the table, where that is needed. */
  readonly key: string
  /** Whether a column `counters` says whose rows they are. */
  readonly isShared: boolean
}

/** Events whose table is known. */
export interface FoundEvents extends Events {
  readonly found: FoundTable
}

/** Events whose columns are known. */
export interface EventsPlace extends FoundEvents {
  readonly idColumn: Column
  /** Whether rows that wait have 0 in the column of the mark, and not NULL, where that says whether they were taken. */
  readonly isMarkedFromZero: boolean
  /** Columns that are to stay as they are where rows are marked. */
  readonly stamped: readonly string[]
}

/** Where a roll-up stands. */
export interface RollUpStanding {
  readonly counters: string
  readonly version: number
  /** The version that the roll-up makes. */
  readonly next: number
  /** How far rows have been taken, where that is a place in their order. */
  readonly reached: string
}

export interface Taken {
  readonly changes: readonly Change[]
  readonly events: number
  readonly reached: string
  readonly more: boolean
  /** As `RolledUp` has it. */
  readonly until: string
}

export interface CountDialect {
  readonly dialect: Dialect
  /** Makes the table of the roll-ups in a schema, also where another is just doing that. */
  cursors(schema: string): string
  /** Makes the outbox in a schema. */
  outbox(schema: string): string
  /** Indexes of the outbox that are made by statements of their own. */
  outboxIndexes?(schema: string): readonly LaterMade[]
  readonly outboxEvents: Events
  /** Rows of the user's, as options name them: those of this database among them. Throws InvalidArgumentError. */
  eventsOf(options: EventsOptions): Events
  /** A row when there is what taking events needs besides their columns, `from_zero` as EventsPlace has it; `problem` otherwise. */
  suits(events: FoundEvents): { readonly asked: Statement; readonly problem: string }
  /** Makes the line of counters that were never rolled up; does nothing when it is there. */
  enter(schema: string, counters: string): Statement
  /** `version` and `reached` of counters. */
  standing(schema: string, counters: string): Statement
  /** `version`, `reached` and `flaw` of counters, whose line is locked. */
  lock(schema: string, counters: string, events: EventsPlace): Statement
  move(schema: string, standing: RollUpStanding): Statement
  /**
   * Keeps the flaw of a line until somebody takes it away: what it comes of may pass by itself, and rows that were written before that
   * would still never be taken. Only where lines may have one.
   */
  keepFlaw?(schema: string, counters: string, flaw: string): Statement
  /** Takes rows that were never taken, about `limit`, the oldest first. */
  take(
    runner: SqlRunner,
    events: EventsPlace,
    standing: RollUpStanding,
    limit: number,
    until: string | undefined,
  ): Promise<Taken>
  /**
   * Rows of an id, as `idFrom` reads it, `value`, `refused`, `pending`, and of `version` and `reached`: some null. `hint`: how far rows had been taken at least.
   */
  values(
    place: TargetPlace,
    events: EventsPlace,
    counters: string,
    ids: readonly string[],
    hint: string,
  ): Statement
  /** How many rows wait, `most` at most, as `waiting`; `age_ms`, `version`, `reached` and `flaw`. */
  waiting(schema: string, events: EventsPlace, counters: string, hint: string, most: number): Statement
  /** An id, as `idFrom` reads it, and `sum` of the rows that were taken. */
  sums(events: EventsPlace, standing: RollUpStanding, ids: readonly string[]): Statement
  /** Enters a change into the outbox, in any transaction; false when its idempotency key is known. */
  add(runner: SqlRunner, schema: string, counters: string, entry: OutboxEntry): Promise<boolean>
  /** Forgets rows that were taken and written so long ago. */
  purge(schema: string, counters: string, olderThanMs: number, most: number): Statement
}

/** The columns of our outbox. */
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

/** A change for each counter; they come in the order of their ids. */
export function changesOf(rows: readonly EventRow[]): Change[] {
  const sums = new Map<string, bigint>()
  for (const { id, amount } of rows) {
    if (id !== null) sums.set(id, (sums.get(id) ?? 0n) + amount)
  }
  const changes = [...sums].map(([id, delta]) => ({ id, delta }))
  // Whoever else writes several of these rows in the order of their keys waits, and does not deadlock.
  return changes.toSorted((left, right) => (left.id < right.id ? -1 : 1))
}

export function eventRow(row: Readonly<Record<string, unknown>>): EventRow {
  return { id: idFrom(row), amount: BigInt(wholeOf(row['amount'])) }
}
