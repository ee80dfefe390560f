// The lines of the ledger: one for each epoch of a partition of counters.

import { SinkError } from '../../counters/errors.ts'
import type { Applied, Batch, LedgerEnd, LedgerPlace, LedgerStanding } from '../../counters/sink.ts'
import type { SqlAccess } from './access.ts'
import { beyond } from './beyond.ts'
import type { Dialect, SqlRunner } from './dialect.ts'
import { seqOf } from './ledger-lines.ts'

/** Epochs skip up to so many numbers: an older copy of the database does not reuse one that began elsewhere. */
const MOST_LEFT_OUT = 2 ** 28

export class Ledger {
  readonly #access: SqlAccess
  readonly #dialect: Dialect
  readonly #schema: string

  constructor(access: SqlAccess, schema: string) {
    this.#access = access
    this.#dialect = access.dialect
    this.#schema = schema
  }

  standing(place: LedgerPlace): Promise<LedgerStanding> {
    return this.#access.transaction(async (runner) => {
      // It writes, so it reaches the primary like a batch, and its result stays valid until the end of the transaction.
      await runner.changes(this.#dialect.hold(this.#schema, place))
      const [row] = await runner.rows(this.#dialect.standing(this.#schema, place))
      const isPast = await this.isPast(place, runner)
      if (row === undefined || isPast) return isPast ? { seq: null, isPast } : { seq: null }
      return { seq: seqOf(row) }
    })
  }

  close(place: LedgerPlace): Promise<LedgerEnd | null> {
    return this.#access.transaction(async (runner) => {
      await runner.changes(this.#dialect.close(this.#schema, place))
      const [row] = await runner.rows(this.#dialect.standing(this.#schema, place))
      return row === undefined ? null : { seq: seqOf(row), batch: String(row['batch']) }
    })
  }

  async begin(counters: string, partition: number, after: number): Promise<number> {
    for (;;) {
      const [row] = await this.#access.rows(this.#dialect.newest(this.#schema, counters, partition))
      const epoch = beyond(Math.max(after, Number(row?.['epoch'] ?? 0)), MOST_LEFT_OUT)
      const place = { counters, partition, epoch }
      if ((await this.#access.change(this.#dialect.enter(this.#schema, place))) === 0) continue
      await this.#prune(counters, partition)
      return epoch
    }
  }

  async hasBatches(counters: string, partition: number): Promise<boolean> {
    const [row] = await this.#access.rows(this.#dialect.batches(this.#schema, counters, partition))
    return Number(row?.['batched'] ?? 0) > 0
  }

  /** Moves its line on to this batch; changes nothing unless that is its place. */
  async advance(runner: SqlRunner, batch: Batch): Promise<Applied> {
    if ((await runner.changes(this.#dialect.advance(this.#schema, batch))) > 0) return 'applied'
    const [row] = await runner.rows(this.#dialect.standing(this.#schema, batch))
    const seq = row === undefined ? -1 : seqOf(row)
    if (seq === batch.seq && row?.['batch'] === batch.batch) return 'known'
    return seq >= batch.seq || (await this.isPast(batch, runner)) ? 'ahead' : 'behind'
  }

  /**
   * Whether a later epoch has batches. Then the epoch of Redis is from an old copy of Redis: a new epoch has a number
   * beyond it.
   */
  async isPast(
    { counters, partition, epoch }: LedgerPlace,
    runner: Pick<SqlRunner, 'rows'> = this.#access,
  ): Promise<boolean> {
    const [row] = await runner.rows(this.#dialect.batches(this.#schema, counters, partition))
    return Number(row?.['latest'] ?? 0) > epoch
  }

  /** A user without the right to delete lets the ledger grow. */
  async #prune(counters: string, partition: number): Promise<void> {
    try {
      await this.#access.change(this.#dialect.prune(this.#schema, counters, partition))
    } catch (error) {
      if (!(error instanceof SinkError)) throw error
    }
  }
}
