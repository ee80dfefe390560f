// A sink of SQL: the order of the statements, which is the same everywhere. Dialects word them, stores run them.

import { SinkError } from '../counters/errors.ts'
import type { Applied, Batch, Change, LedgerPlace, Sink, Snapshot } from '../counters/sink.ts'
import { InvalidArgumentError } from '../runtime/errors.ts'

export type SqlValue = string | number | bigint | null | readonly string[]
export type Row = Readonly<Record<string, unknown>>

export interface Statement {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

/** One transaction, or what can stand for it where a statement is alone. */
export interface SqlRunner {
  rows(statement: Statement): Promise<readonly Row[]>
  /** Runs a statement that changes something; answers how many rows it changed. */
  changes(statement: Statement): Promise<number>
}

export interface SqlStore {
  /** Commits when `work` resolves, and rolls back when it rejects. */
  transaction<Result>(work: (runner: SqlRunner) => Promise<Result>): Promise<Result>
  /** What an error of the database means. */
  explain(error: unknown): SinkError
}

/** Where counters are written to: a row for each, whose key is its id. */
export interface Target {
  /** The table: `items`, or `shop.items`. */
  readonly table: string
  /** Its key; default `id`. */
  readonly id?: string
  /** The column of the count, of 64 bits; default `value`. */
  readonly value?: string
  /** `create`, the default, inserts rows that are missing; `refuse` only changes those that are there. */
  readonly missing?: 'create' | 'refuse'
}

export interface FullTarget {
  readonly table: string
  readonly id: string
  readonly value: string
  readonly missing: 'create' | 'refuse'
}

/** A column of the target, as the database calls its type. */
export interface Column {
  readonly name: string
  readonly type: string
}

export interface Dialect {
  readonly name: string
  /** Makes the ledger unless it is there. */
  readonly ledger: string
  /** The columns of the target that are there; rows of `name` and `type`. */
  columns(target: FullTarget): Statement
  /** One row a counter, with `id`, `value` and `seq`, at least one with `seq` where the ledger knows the epoch. */
  read(target: FullTarget, place: LedgerPlace, ids: readonly string[]): Statement
  /** The newest epoch of a shard, as `epoch`. */
  newest(counters: string, shard: number): Statement
  /** Enters a new epoch; changes no row, or fails, when it is there already. */
  enter(place: LedgerPlace): Statement
  /** Moves the ledger on by one batch, if it stands before it. */
  advance(batch: Batch): Statement
  /** `seq` and `batch` of the ledger. */
  standing(place: LedgerPlace): Statement
  /** All changes, `idType` being what `columns` said. */
  change(target: FullTarget, changes: readonly Change[], idType: string): readonly Statement[]
}

const NAME = /^[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)?$/

export class SqlSink implements Sink {
  readonly name: string
  readonly missing: 'create' | 'refuse'
  readonly #store: SqlStore
  readonly #dialect: Dialect
  readonly #target: FullTarget
  #prepared: Promise<string> | undefined

  /** Throws InvalidArgumentError. */
  constructor(store: SqlStore, dialect: Dialect, target: Target) {
    this.name = dialect.name
    this.#store = store
    this.#dialect = dialect
    this.#target = checkTarget(target)
    this.missing = this.#target.missing
  }

  async prepare(): Promise<void> {
    await this.#idType()
  }

  async read(place: LedgerPlace, ids: readonly string[]): Promise<Snapshot> {
    await this.#idType()
    const rows = await this.#try((runner) => runner.rows(this.#dialect.read(this.#target, place, ids)))
    const seq = rows.find((row) => row['seq'] !== null)?.['seq']
    const found = rows.filter((row) => row['id'] !== null)
    return {
      seq: seq === undefined ? null : Number(seq),
      values: new Map(found.map(({ id, value }) => [String(id), BigInt(String(value))])),
    }
  }

  async begin(counters: string, shard: number): Promise<number> {
    await this.#idType()
    for (;;) {
      const [row] = await this.#try((runner) => runner.rows(this.#dialect.newest(counters, shard)))
      const epoch = Number(row?.['epoch'] ?? 0) + 1
      const place = { counters, shard, epoch }
      if ((await this.#try((runner) => runner.changes(this.#dialect.enter(place)))) === 1) return epoch
    }
  }

  async apply(batch: Batch): Promise<Applied> {
    const idType = await this.#idType()
    return this.#try(async (runner) => {
      if ((await runner.changes(this.#dialect.advance(batch))) === 0) return this.#standing(runner, batch)
      for (const statement of this.#dialect.change(this.#target, batch.changes, idType)) {
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

  #idType(): Promise<string> {
    this.#prepared ??= this.#prepare().catch((error: unknown) => {
      this.#prepared = undefined
      throw error
    })
    return this.#prepared
  }

  async #prepare(): Promise<string> {
    const columns = await this.#try(async (runner) => {
      await runner.changes({ sql: this.#dialect.ledger, values: [] })
      return runner.rows(this.#dialect.columns(this.#target))
    })
    const { table, id, value } = this.#target
    if (columns.length === 0) throw misconfigured(`there is no table ${table}`)
    for (const name of [id, value]) {
      if (!columns.some((column) => column['name'] === name)) {
        throw misconfigured(`the table ${table} has no column ${name}`)
      }
    }
    return String(columns.find((column) => column['name'] === id)?.['type'])
  }

  async #try<Result>(work: (runner: SqlRunner) => Promise<Result>): Promise<Result> {
    try {
      return await this.#store.transaction(work)
    } catch (error) {
      throw error instanceof SinkError ? error : this.#store.explain(error)
    }
  }
}

function misconfigured(problem: string): SinkError {
  return new SinkError('sink-misconfigured', problem)
}

function checkTarget({ table, id = 'id', value = 'value', missing = 'create' }: Target): FullTarget {
  for (const [argument, name] of Object.entries({ table, id, value })) {
    if (typeof name !== 'string' || !NAME.test(name)) {
      throw new InvalidArgumentError(argument, 'must be a plain name of the database, such as items')
    }
  }
  if (missing !== 'create' && missing !== 'refuse') {
    throw new InvalidArgumentError('missing', 'must be one of create, refuse')
  }
  return { table, id, value, missing }
}
