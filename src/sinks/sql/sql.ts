// A sink of SQL: the order of the statements, which is the same everywhere. Dialects word them, stores run them.

import { SinkError } from '../../counters/errors.ts'
import type {
  Applied,
  AppliedInPart,
  Batch,
  LedgerPlace,
  LedgerStanding,
  Refusal,
  Sink,
  Snapshot,
} from '../../counters/sink.ts'
import { Known, SqlAccess } from './access.ts'
import { beyond } from './beyond.ts'
import { RowChanges } from './row-changes.ts'
import {
  type Dialect,
  type FullTarget,
  KEPT_EPOCHS,
  type TargetPlace,
  type SqlRunner,
  type SqlStore,
  type Target,
} from './dialect.ts'
import { addUp } from './rows-of-counters.ts'
import { checkFits, checkShowsRows, checkTarget, findTarget, makeRefused, nameOfTarget } from './target.ts'

export type { Target } from './dialect.ts'

/** Epochs skip up to so many numbers: an older copy of the database does not reuse one that began elsewhere. */
const MOST_LEFT_OUT = 2 ** 28

export class SqlSink implements Sink {
  readonly name: string
  readonly missing: 'create' | 'refuse'
  readonly #access: SqlAccess
  readonly #dialect: Dialect
  /** The target, before anything is created next to it. */
  readonly #seen: Known<TargetPlace>
  readonly #known: Known<TargetPlace>
  readonly #changing: RowChanges

  /** Throws InvalidArgumentError. */
  constructor(store: SqlStore, dialect: Dialect, target: Target) {
    const full = checkTarget(dialect, target)
    this.name = dialect.name
    this.missing = full.missing
    this.#access = new SqlAccess(store, dialect)
    this.#dialect = dialect
    this.#seen = new Known(() => findTarget(this.#access, full))
    this.#known = new Known(() => this.#prepare(full))
    this.#changing = new RowChanges(this.#access, (work) => this.#known.use(work))
  }

  async prepare(): Promise<void> {
    await this.#known.get()
  }

  async location(): Promise<string> {
    return (await this.#see()).found.location
  }

  async tableNames(): Promise<string> {
    return nameOfTarget(await this.#see())
  }

  #see(): Promise<TargetPlace> {
    return this.#known.found ?? this.#seen.get()
  }

  read(place: LedgerPlace, ids: readonly string[]): Promise<Snapshot> {
    return this.#known.use(async (target) => {
      for (const id of ids) checkFits(this.#access, target.table, target.idColumn, id)
      const rows = await this.#access.rows(this.#dialect.read(target, place, ids))
      const seq = rows.find((row) => (row['seq'] ?? null) !== null)?.['seq']
      const { values } = addUp(this.missing, ids, rows)
      if (seq !== undefined) return { seq: Number(seq), values }
      return { ...(await this.#unknown(this.#access, target, place)), values }
    })
  }

  standing(place: LedgerPlace): Promise<LedgerStanding> {
    return this.#known.use((target) =>
      this.#access.transaction(async (runner) => {
        const { schema } = target.found
        // It writes, so it reaches the primary like a batch, and its result stays valid until the end of the
        // transaction.
        await runner.changes(this.#dialect.hold(schema, place))
        const [row] = await runner.rows(this.#dialect.standing(schema, place))
        if (row === undefined) return this.#unknown(runner, target, place)
        const isPast = await this.#isLeft(runner, schema, place)
        return isPast ? { seq: null, isPast } : { seq: Number(row['seq']) }
      }),
    )
  }

  begin(counters: string, partition: number): Promise<number> {
    return this.#known.use(async ({ found: { schema } }) => {
      for (;;) {
        const [row] = await this.#access.rows(this.#dialect.newest(schema, counters, partition))
        const epoch = beyond(Number(row?.['epoch'] ?? 0), MOST_LEFT_OUT)
        const place = { counters, partition, epoch }
        if ((await this.#access.change(this.#dialect.enter(schema, place))) === 0) continue
        await this.#prune(schema, counters, partition)
        return epoch
      }
    })
  }

  hasBatches(counters: string, partition: number): Promise<boolean> {
    return this.#known.use(async ({ found: { schema } }) => {
      const [row] = await this.#access.rows(this.#dialect.batches(schema, counters, partition))
      return Number(row?.['batched'] ?? 0) > 0
    })
  }

  apply(batch: Batch): Promise<Applied | AppliedInPart> {
    return this.#known.use((target) => this.#apply(target, batch))
  }

  async #apply(target: TargetPlace, batch: Batch): Promise<Applied | AppliedInPart> {
    const { schema } = target.found
    const { counters, changes } = batch
    // Another writer may have put any data into Redis, and the type of the column may have changed since the id was
    // accepted.
    const [fitting, others] = this.#sorted(target, changes)
    const { result, refused } = await this.#changing.transaction(target, counters, async (runner, change) => {
      if ((await runner.changes(this.#dialect.advance(schema, batch))) === 0) {
        return this.#standing(runner, target, batch)
      }
      await change(fitting)
      await this.#changing.keepAll(runner, target, counters, others)
      return 'applied'
    })
    const all = [...refused, ...others]
    return result !== 'applied' || all.length === 0 ? result : { refused: all }
  }

  async refused(counters: string): Promise<readonly Refusal[]> {
    return this.#changing.refused(counters)
  }

  async retryRefused(counters: string): Promise<boolean> {
    return this.#changing.retryRefused(counters)
  }

  #sorted({ idColumn, missing }: TargetPlace, changes: Batch['changes']): [Batch['changes'], Refusal[]] {
    const misfits = changes.flatMap((change) => {
      const why = this.#dialect.misfit(change.id, idColumn)
      return why === undefined ? [] : [{ ...change, why }]
    })
    const unfit = new Set(misfits.map(({ id }) => id))
    // A change of 0 to a row has no effect: it only matters if the row must be created.
    const fitting = changes.filter(
      ({ id, delta }) => !unfit.has(id) && (delta !== 0n || missing === 'create'),
    )
    return [fitting, misfits]
  }

  async #standing(runner: SqlRunner, target: TargetPlace, batch: Batch): Promise<Applied> {
    const [row] = await runner.rows(this.#dialect.standing(target.found.schema, batch))
    if (row === undefined)
      return (await this.#unknown(runner, target, batch)).isPast === true ? 'ahead' : 'behind'
    const seq = Number(row['seq'])
    if (seq === batch.seq && row['batch'] === batch.batch) return 'known'
    if (seq >= batch.seq) return 'ahead'
    return (await this.#isLeft(runner, target.found.schema, batch)) ? 'ahead' : 'behind'
  }

  /** Whether a later epoch has batches. Then the epoch of Redis is from an old copy of Redis: SQL did not go back. */
  async #isLeft(
    runner: Pick<SqlRunner, 'rows'>,
    schema: string,
    { counters, partition, epoch }: LedgerPlace,
  ): Promise<boolean> {
    const [row] = await runner.rows(this.#dialect.batches(schema, counters, partition))
    return Number(row?.['latest'] ?? 0) > epoch
  }

  /** An epoch that is missing from the ledger may have existed, and been pruned. */
  async #unknown(
    runner: Pick<SqlRunner, 'rows'>,
    { found }: TargetPlace,
    { counters, partition, epoch }: LedgerPlace,
  ): Promise<LedgerStanding> {
    const [row] = await runner.rows(this.#dialect.batches(found.schema, counters, partition))
    const isPast = Number(row?.['batched'] ?? 0) >= KEPT_EPOCHS.others && epoch < Number(row?.['oldest'])
    return isPast ? { seq: null, isPast } : { seq: null }
  }

  /** A user without the right to delete lets the ledger grow. */
  async #prune(schema: string, counters: string, partition: number): Promise<void> {
    try {
      await this.#access.change(this.#dialect.prune(schema, counters, partition))
    } catch (error) {
      if (!(error instanceof SinkError)) throw error
    }
  }

  async #prepare(target: FullTarget): Promise<TargetPlace> {
    const place = await findTarget(this.#access, target)
    const { schema } = place.found
    await makeRefused(this.#access, place)
    await this.#access.make([schema, 'perilune_ledger'], this.#dialect.ledger(schema))
    const own = ['perilune_ledger', 'perilune_refused'].map((name) => [schema, name] as const)
    await checkShowsRows(this.#access, target, own)
    return place
  }
}
