// Where counts are kept whose truth is rows of SQL: what showing them needs of a database.

import type { Refusal, Refusals } from './sink.ts'

/** What one moment of the database says. */
export interface Counts {
  /** Of the newest roll-up in it; 0: there was none. */
  readonly version: number
  /** Of those that it has; rows that are not rolled up yet are in them. */
  readonly values: ReadonlyMap<string, bigint>
}

export interface RollUp {
  /** `shop:votes`: the namespace and the name of the counters. */
  readonly counters: string
  /** Counters that are told besides those that change. */
  readonly ids: readonly string[]
  /** About how many rows it takes. */
  readonly limit: number
  /** Whether the counts of `ids` are made anew from their rows. */
  readonly recount: boolean
  /** Whether it looks where rows are taken though nothing seems to wait: what is only read may come from a copy that lags. */
  readonly isSure?: boolean
  /** What an earlier roll-up told: later rows are no reason for `more`. Without it, those that come after this one. */
  readonly until?: string | undefined
}

export interface RolledUp extends Counts {
  /** The version before; the same where nothing was to be done. */
  readonly since: number
  /** Rows that it took. */
  readonly events: number
  /** Whether there may be more to take at once, of the rows up to `until`. */
  readonly more: boolean
  /** Of the rows that were there at the first of several roll-ups, where more of them are to be taken; '': none are. */
  readonly until: string
  /** What the database did not let be written of them. */
  readonly refused?: readonly Refusal[]
}

/** Rows that are committed and not in the counts yet. */
export interface Backlog {
  /** At most 10,000. */
  readonly rows: number
  /** How old the oldest of these is; null: there is none, or no column tells. */
  readonly ageMs: number | null
}

export interface CountSource extends Partial<Refusals> {
  /** What people call it: `postgres`. */
  readonly name: string
  /** Whether a counter that is not there begins at 0, or is unknown. */
  readonly missing: 'create' | 'refuse'
  /** Makes the tables of ours unless they are there, and checks those of yours. Throws SinkError. */
  prepare(): Promise<void>
  /** Moves rows into the counts, each exactly once, in one transaction. Throws SinkError. */
  rollUp(asked: RollUp): Promise<RolledUp>
  /** Reads counts in one snapshot, and waits for nobody. Throws SinkError; InvalidArgumentError for an id that cannot be there. */
  read(counters: string, ids: readonly string[]): Promise<Counts>
  /** Where the counts are, as all processes call it; '': nobody can tell. Throws SinkError. */
  location?(): Promise<string>
  /** Throws SinkError. */
  waiting(counters: string): Promise<Backlog>
}

/** A source whose counts can be made anew from their rows. */
export interface EventSource extends CountSource {
  readonly kind: 'events'
}

export interface OutboxEntry {
  readonly id: string
  readonly by: number
  readonly idempotencyKey: string
}

/** A source whose rows are written for it, in transactions of the user: `Client` is what these have. */
export interface OutboxSource<Client> extends CountSource {
  readonly kind: 'outbox'
  /** Enters a change in the user's transaction; false when its idempotency key is known. Throws SinkError. */
  add(client: Client, counters: string, entry: OutboxEntry): Promise<boolean>
  /** Forgets old idempotency keys, some at a time; resolves to whether there may be more. Throws SinkError. */
  purge(counters: string): Promise<boolean>
}
