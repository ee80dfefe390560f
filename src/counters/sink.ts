// Where counters are kept for good: what a flush needs of an SQL database.

/** A partition of counters in one life of its ledger. */
export interface LedgerPlace {
  /** `shop:votes`: the namespace and the name of the counters. */
  readonly counters: string
  readonly partition: number
  readonly epoch: number
}

/** What one moment of the database says. */
export interface Snapshot {
  /** The newest batch of the epoch that is in it; null: it does not know the epoch. */
  readonly seq: number | null
  /** Of those that it has. */
  readonly values: ReadonlyMap<string, bigint>
}

export interface Change {
  readonly id: string
  readonly delta: bigint
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

export interface Sink {
  /** What people call it: `postgres`. */
  readonly name: string
  /** Whether a counter that is not there begins at 0, or is unknown. */
  readonly missing: 'create' | 'refuse'
  /**
   * Makes the ledger unless it is there, and checks what counters are written to. For programs that want to know as they
   * start: the other methods do so by themselves. Throws SinkError.
   */
  prepare(): Promise<void>
  /** Reads values and the ledger in one snapshot. Throws SinkError. */
  read(place: LedgerPlace, ids: readonly string[]): Promise<Snapshot>
  /** Begins an epoch that was never there; answers it. Throws SinkError. */
  begin(counters: string, partition: number): Promise<number>
  /** Applies a batch and enters it into the ledger, in one transaction. Throws SinkError. */
  apply(batch: Batch): Promise<Applied>
}
