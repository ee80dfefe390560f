// What the contenders find of a database, whichever it is. `?` stands for values.

import type { EventSource } from '../../src/counters/count-source.ts'
import type { Sink } from '../../src/counters/sink.ts'
import type { EventsOptions } from '../../src/sinks/sql/count-dialect.ts'
import type { Target } from '../../src/sinks/sql/dialect.ts'

export type Kind = 'PostgreSQL' | 'MariaDB' | 'SQLite'

export type Rows = readonly Readonly<Record<string, unknown>>[]
export type Run = (sql: string, values?: readonly number[]) => Promise<Rows>

export interface Database {
  readonly kind: Kind
  /** One statement, prepared where the client can. */
  readonly run: Run
  /** What is no vote: makes tables, fills them. */
  readonly prepare: (sql: string) => Promise<unknown>
  /** BEGIN, the work, COMMIT; as isolated as the database has it by default, unless `level` says otherwise where it can. */
  transaction(work: (run: Run) => Promise<unknown>, level?: 'READ COMMITTED'): Promise<void>
  /** What it says of itself, with what keeps commits from being lost. */
  settings(): Promise<string>
  /** A table of votes with what telling uncounted rows needs here. */
  eventColumns(votes: string): { readonly columns: string; readonly index: string }
  sink(target: Target): Promise<Sink>
  events(options: EventsOptions): Promise<EventSource>
  /** What was done since it began. */
  work(): Promise<Work>
  stop(): Promise<unknown>
}

export interface Work {
  /** BEGIN and COMMIT are statements, too. */
  readonly statements: number
  /** Rows of tables that were inserted, updated or deleted. */
  readonly rows: number
}

/** Connections to a server, for everything that a contender does with it. */
export const CONNECTIONS = 32

/** Servers of tests have less memory. */
export const AS_IT_COMES: readonly string[] = []
