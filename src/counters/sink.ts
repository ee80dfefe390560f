// Where counters are kept for good: what a flush needs of an SQL database.

/** A partition of counters in one life of its ledger. */
export interface LedgerPlace {
  /** `shop:votes`: the namespace and the name of the counters. */
  readonly counters: string
  readonly partition: number
  readonly epoch: number
}

/** Where the ledger stands. */
export interface LedgerStanding {
  /** The newest batch of the epoch that is in it; null: it does not know the epoch. */
  readonly seq: number | null
  /** Whether many epochs have come after it, so that it is forgotten, or a later one has batches: nobody can tell what is in the database. */
  readonly isPast?: boolean
}

/** What one moment of the database says. */
export interface Snapshot extends LedgerStanding {
  /** Of those that it has. */
  readonly values: ReadonlyMap<string, bigint>
}

export interface Change {
  readonly id: string
  readonly delta: bigint
}

/** What was counted of a counter and is in no row of it, for the database refused that: it is kept beside, and tried again. */
export interface Refusal {
  readonly id: string
  readonly delta: bigint
  /** What the database said. */
  readonly why: string
}

/** What became of a batch whose place in the ledger was right: all of it is in now, but for what the database refused. */
export interface AppliedInPart {
  readonly refused: readonly Refusal[]
}

/** Where the database keeps what it refused. */
export interface Refusals {
  /** What is kept of these counters, 1,000 at most; the same id once. Throws SinkError. */
  refused(counters: string): Promise<readonly Refusal[]>
  /** Writes what is not refused any more, of some at a time; whether any is left. Throws SinkError. */
  retryRefused(counters: string): Promise<boolean>
}

/** What was counted between two seals: its content never changes. */
export interface Batch extends LedgerPlace {
  readonly seq: number
  readonly batch: string
  readonly changes: readonly Change[]
}

/**
 * `applied`: all of it is in now. `known`: it was before, nothing changed. `ahead`: the ledger has another batch in its
 * place, for Redis came back with an old copy. `behind`: it lacks batches before this one, for the database did. Neither
 * changes anything.
 */
export type Applied = 'applied' | 'known' | 'ahead' | 'behind'

export interface Sink extends Partial<Refusals> {
  /** What people call it: `postgres`. */
  readonly name: string
  /** Whether a counter that is not there begins at 0, or is unknown. */
  readonly missing: 'create' | 'refuse'
  /**
   * Makes the ledger unless it is there, and checks what counters are written to. For programs that want to know as they
   * start: the other methods do so by themselves. Throws SinkError.
   */
  prepare(): Promise<void>
  /** Reads values, with what is refused of them, and the ledger in one snapshot. Throws SinkError. */
  read(place: LedgerPlace, ids: readonly string[]): Promise<Snapshot>
  /**
   * Where the ledger stands, asked where it is written: what is only read may come from a copy that lags. Without it such a copy
   * is taken for a database that went back. Throws SinkError.
   */
  standing?(place: LedgerPlace): Promise<LedgerStanding>
  /** Begins an epoch that was never there, in no copy of the database either; answers it. Throws SinkError. */
  begin(counters: string, partition: number): Promise<number>
  /** Applies a batch and enters it into the ledger, in one transaction. Throws SinkError. */
  apply(batch: Batch): Promise<Applied | AppliedInPart>
  /** Whether the ledger has a batch of any epoch. Throws SinkError. */
  hasBatches?(counters: string, partition: number): Promise<boolean>
  /** Where the ledger is, as all processes call it; '': nobody can tell. Throws SinkError. */
  location?(): Promise<string>
}
