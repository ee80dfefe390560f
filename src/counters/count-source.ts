// The database interface of counters whose truth is rows in SQL.

import type { Refusal, Refusals } from './sink.ts'

/** A consistent read of the database at one moment. */
export interface Counts {
  /** Version of the newest roll-up; 0 if there was none. */
  readonly version: number
  /** The values of the ids that the database has, including rows that are not rolled up yet. */
  readonly values: ReadonlyMap<string, bigint>
}

export interface RollUp {
  /** `shop:votes`: the namespace and the name of the counters. */
  readonly counters: string
  /** Counters whose counts are returned even if they do not change. */
  readonly ids: readonly string[]
  /** Approximate number of rows to count. */
  readonly limit: number
  /** Whether the counts of `ids` are recomputed from all of their rows. */
  readonly recount: boolean
  /** Whether to look on the primary even if no row seems to wait: a plain read may be served by a lagging replica. */
  readonly isSure?: boolean
  /**
   * The `until` of an earlier roll-up: later rows do not set `more`. Without it, rows later than this roll-up do not.
   */
  readonly until?: string | undefined
}

export interface RolledUp extends Counts {
  /** The version before this roll-up; equal to `version` if there was nothing to do. */
  readonly since: number
  /** Rows that it counted. */
  readonly events: number
  /** Whether more rows up to `until` can be counted at once. */
  readonly more: boolean
  /**
   * Marks the last row that existed at the first of several roll-ups, if more of these rows are left; '' if none are.
   */
  readonly until: string
  /** Changes that the database refused. */
  readonly refused?: readonly Refusal[]
}

/** Rows that are committed and not in the counts yet. */
export interface Backlog {
  /** Number of rows, at most 10,000. */
  readonly rows: number
  /** Age of the oldest of these rows in milliseconds; null if there is none, or no column has the time. */
  readonly ageMs: number | null
}

export interface CountSource extends Partial<Refusals> {
  /** Name of the database in messages: `postgres`. */
  readonly name: string
  /** `create`: a missing counter begins at 0. `refuse`: it is unknown. */
  readonly missing: 'create' | 'refuse'
  /** Creates Perilune's tables if they are missing, and checks yours. Throws SinkError. */
  prepare(): Promise<void>
  /** Moves rows into the counts, each exactly once, in one transaction. Throws SinkError. */
  rollUp(asked: RollUp): Promise<RolledUp>
  /**
   * Reads counts in one snapshot, without waiting for locks. Throws SinkError; InvalidArgumentError for an id that the
   * column cannot hold.
   */
  read(counters: string, ids: readonly string[]): Promise<Counts>
  /** Where the counts are stored, the same text in all processes; '' if unknown. Creates nothing. Throws SinkError. */
  location?(): Promise<string>
  /** The tables of the counts and of the rows, and their columns; otherwise like `location`. */
  tableNames?(): Promise<string>
  /**
   * Whether a roll-up has counted here under this name. Creates nothing. Without this method the first use of a process
   * needs Redis. Throws SinkError.
   */
  hasCounted?(counters: string): Promise<boolean>
  /** Rows that are not counted yet. Throws SinkError. */
  waiting(counters: string): Promise<Backlog>
}

/** A source whose counts can be recomputed from their rows. */
export interface EventSource extends CountSource {
  readonly kind: 'events'
}

export interface OutboxEntry {
  readonly id: string
  readonly by: number
  readonly idempotencyKey: string
}

/** A source whose rows Perilune writes in the user's transactions. `Client` is the type of their connection. */
export interface OutboxSource<Client> extends CountSource {
  readonly kind: 'outbox'
  /**
   * Inserts a change in the user's transaction. Resolves to false if its idempotency key is known. Throws SinkError.
   */
  add(client: Client, counters: string, entry: OutboxEntry): Promise<boolean>
  /** Deletes a batch of expired idempotency keys. Resolves to whether there may be more. Throws SinkError. */
  purge(counters: string): Promise<boolean>
}
