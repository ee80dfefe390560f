// The interface of an SQL database that stores counters: what a flush needs.

/** A partition of counters in one epoch of its ledger. */
export interface LedgerPlace {
  /** `shop:votes`: the namespace and the name of the counters. */
  readonly counters: string
  readonly partition: number
  readonly epoch: number
}

/** The state of the ledger. */
export interface LedgerStanding {
  /** The newest batch of the epoch in the ledger; null if it does not know the epoch. */
  readonly seq: number | null
  /**
   * Whether the ledger has forgotten the epoch after many later ones, or a later one has batches: then the content of
   * the database is unknown.
   */
  readonly isPast?: boolean
}

/** The last batch of an epoch that takes no more. */
export interface LedgerEnd {
  readonly seq: number
  readonly batch: string
}

/** A consistent read of the database at one moment. */
export interface Snapshot extends LedgerStanding {
  /** The values of the ids that the database has. */
  readonly values: ReadonlyMap<string, bigint>
}

export interface Change {
  readonly id: string
  readonly delta: bigint
}

/** An increment of a counter that the database refused, so that no row has it. It is kept apart and retried. */
export interface Refusal {
  readonly id: string
  readonly delta: bigint
  /** The error message of the database. */
  readonly why: string
}

/** Result of a batch whose place in the ledger was right: all of it is applied, except for the refused changes. */
export interface AppliedInPart {
  readonly refused: readonly Refusal[]
}

/** The storage of refused changes. */
export interface Refusals {
  /** The kept changes of these counters, at most 1,000, each id once. Throws SinkError. */
  refused(counters: string): Promise<readonly Refusal[]>
  /** Writes a part of the changes that are not refused any more. Resolves to whether any are left. Throws SinkError. */
  retryRefused(counters: string): Promise<boolean>
}

/** The increments between two seals; its content never changes. */
export interface Batch extends LedgerPlace {
  readonly seq: number
  readonly batch: string
  readonly changes: readonly Change[]
}

/**
 * `applied`: all of it is applied now. `known`: it was applied before; nothing changed. `ahead`: the ledger has another
 * batch in its place, because Redis came back with an old copy. `behind`: the ledger lacks batches before this one,
 * because the database came back with an old copy, or the epoch is closed. `ahead` and `behind` change nothing.
 */
export type Applied = 'applied' | 'known' | 'ahead' | 'behind'

export interface Sink extends Partial<Refusals> {
  /** Name of the database in messages: `postgres`. */
  readonly name: string
  /** `create`: a missing counter begins at 0. `refuse`: it is unknown. */
  readonly missing: 'create' | 'refuse'
  /**
   * Creates the ledger if it is missing, and checks the table of the counters. For programs that want to fail at their
   * start: the other methods do the same. Throws SinkError.
   */
  prepare(): Promise<void>
  /** Reads values, including their refused changes, and the ledger in one snapshot. Throws SinkError. */
  read(place: LedgerPlace, ids: readonly string[]): Promise<Snapshot>
  /**
   * The state of the ledger, read from the primary: a plain read may come from a lagging replica. Without this method
   * such a replica is taken for a database that went back. Throws SinkError.
   */
  standing?(place: LedgerPlace): Promise<LedgerStanding>
  /**
   * Closes this epoch and all earlier ones of its partition: a batch that arrives late is not applied. So the result is
   * final; null if the ledger does not know the epoch. Throws SinkError.
   */
  close(place: LedgerPlace): Promise<LedgerEnd | null>
  /**
   * Begins an epoch that never existed, not even in an older copy of the database, and resolves to it: a number beyond
   * `after` (default: 0) and beyond all epochs of the ledger. Throws SinkError.
   */
  begin(counters: string, partition: number, after?: number): Promise<number>
  /** Applies a batch and enters it into the ledger, in one transaction. Throws SinkError. */
  apply(batch: Batch): Promise<Applied | AppliedInPart>
  /** Whether the ledger has a batch of any epoch. Throws SinkError. */
  hasBatches?(counters: string, partition: number): Promise<boolean>
  /** Where the ledger is stored, the same text in all processes; '' if unknown. Creates nothing. Throws SinkError. */
  location?(): Promise<string>
  /** The table of the counts and its columns; otherwise like `location`. */
  tableNames?(): Promise<string>
}
