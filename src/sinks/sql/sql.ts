// A sink of SQL: the order of the statements, which is the same everywhere. Dialects word them, stores run them.

import type {
  Applied,
  AppliedInPart,
  Batch,
  LedgerEnd,
  LedgerPlace,
  LedgerStanding,
  Refusal,
  Sink,
  Snapshot,
} from '../../counters/sink.ts'
import { Known, SqlAccess } from './access.ts'
import { Ledger } from './ledger.ts'
import { seqOf } from './ledger-lines.ts'
import { RowChanges } from './row-changes.ts'
import { type Dialect, type FullTarget, type TargetPlace, type SqlStore, type Target } from './dialect.ts'
import { addUp } from './rows-of-counters.ts'
import { checkFits, checkShowsRows, checkTarget, findTarget, makeRefused, nameOfTarget } from './target.ts'

export type { Target } from './dialect.ts'

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
    this.#changing = new RowChanges(
      this.#access,
      (work) => this.#known.use(work),
      () => this.#see(),
    )
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
      const line = rows.find((row) => (row['seq'] ?? null) !== null)
      const { values } = addUp(this.missing, ids, rows)
      if (line !== undefined) return { seq: seqOf(line), values }
      return { seq: null, ...((await this.#ledger(target).isPast(place)) && { isPast: true }), values }
    })
  }

  standing(place: LedgerPlace): Promise<LedgerStanding> {
    return this.#known.use((target) => this.#ledger(target).standing(place))
  }

  close(place: LedgerPlace): Promise<LedgerEnd | null> {
    return this.#known.use((target) => this.#ledger(target).close(place))
  }

  begin(counters: string, partition: number, after = 0): Promise<number> {
    return this.#known.use((target) => this.#ledger(target).begin(counters, partition, after))
  }

  hasBatches(counters: string, partition: number): Promise<boolean> {
    return this.#known.use((target) => this.#ledger(target).hasBatches(counters, partition))
  }

  apply(batch: Batch): Promise<Applied | AppliedInPart> {
    return this.#known.use((target) => this.#apply(target, batch))
  }

  async #apply(target: TargetPlace, batch: Batch): Promise<Applied | AppliedInPart> {
    const { counters, changes } = batch
    // Another writer may have put any data into Redis, and the type of the column may have changed since the id was
    // accepted.
    const [fitting, others] = this.#sorted(target, changes)
    const { result, refused } = await this.#changing.transaction(target, counters, async (runner, change) => {
      const applied = await this.#ledger(target).advance(runner, batch)
      if (applied !== 'applied') return applied
      await change(fitting)
      await this.#changing.keepAll(runner, target, counters, others)
      return applied
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

  #ledger({ found: { schema } }: TargetPlace): Ledger {
    return new Ledger(this.#access, schema)
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
