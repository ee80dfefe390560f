// A sink of SQL: the order of the statements, which is the same everywhere. Dialects word them, stores run them.

import type { Applied, Batch, LedgerPlace, Sink, Snapshot } from '../counters/sink.ts'
import { once, SqlAccess } from './access.ts'
import type { Dialect, FullTarget, Place, SqlRunner, SqlStore, Target } from './dialect.ts'
import { checkFits, checkTarget, prepareTarget } from './target.ts'

export type { Target } from './dialect.ts'

export class SqlSink implements Sink {
  readonly name: string
  readonly missing: 'create' | 'refuse'
  readonly #access: SqlAccess
  readonly #dialect: Dialect
  readonly #place: () => Promise<Place>

  /** Throws InvalidArgumentError. */
  constructor(store: SqlStore, dialect: Dialect, target: Target) {
    const full = checkTarget(target)
    this.name = dialect.name
    this.missing = full.missing
    this.#access = new SqlAccess(store, dialect)
    this.#dialect = dialect
    this.#place = once(() => this.#prepare(full))
  }

  async prepare(): Promise<void> {
    await this.#place()
  }

  async read(place: LedgerPlace, ids: readonly string[]): Promise<Snapshot> {
    const target = await this.#place()
    for (const id of ids) checkFits(this.#access, target.table, target.idColumn, id)
    const rows = await this.#access.rows(this.#dialect.read(target, place, ids))
    const seq = rows.find((row) => row['seq'] !== null)?.['seq']
    const found = rows.filter((row) => row['id'] !== null)
    return {
      seq: seq === undefined ? null : Number(seq),
      values: new Map(found.map(({ id, value }) => [String(id), BigInt(String(value))])),
    }
  }

  async begin(counters: string, partition: number): Promise<number> {
    await this.#place()
    for (;;) {
      const [row] = await this.#access.rows(this.#dialect.newest(counters, partition))
      const epoch = Number(row?.['epoch'] ?? 0) + 1
      const place = { counters, partition, epoch }
      if ((await this.#access.change(this.#dialect.enter(place))) === 1) return epoch
    }
  }

  async apply(batch: Batch): Promise<Applied> {
    const target = await this.#place()
    // Whoever else writes to Redis may have put anything there.
    for (const { id } of batch.changes) checkFits(this.#access, target.table, target.idColumn, id)
    return this.#access.transaction(async (runner) => {
      if ((await runner.changes(this.#dialect.advance(batch))) === 0) return this.#standing(runner, batch)
      for (const statement of this.#dialect.change(target, batch.changes)) {
        await runner.changes(statement)
      }
      return 'applied'
    })
  }

  async #standing(runner: SqlRunner, batch: Batch): Promise<Applied> {
    const [row] = await runner.rows(this.#dialect.standing(batch))
    const seq = row === undefined ? -1 : Number(row['seq'])
    if (seq === batch.seq && row?.['batch'] === batch.batch) return 'known'
    return seq < batch.seq ? 'behind' : 'ahead'
  }

  async #prepare(target: FullTarget): Promise<Place> {
    await this.#access.make('perilune_ledger', this.#dialect.ledger)
    return prepareTarget(this.#access, target)
  }
}
