// A sink of SQL: the order of the statements, which is the same everywhere. Dialects word them, stores run them.

import { SinkError } from '../counters/errors.ts'
import type { Applied, Batch, LedgerPlace, Sink, Snapshot } from '../counters/sink.ts'
import { InvalidArgumentError } from '../runtime/errors.ts'
import type {
  Column,
  Dialect,
  FullTarget,
  Place,
  Row,
  SqlRunner,
  SqlStore,
  Statement,
  Target,
} from './dialect.ts'

export type { Target } from './dialect.ts'

const LEDGER = 'perilune_ledger'
const NAME = /^[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)?$/

export class SqlSink implements Sink {
  readonly name: string
  readonly missing: 'create' | 'refuse'
  readonly #store: SqlStore
  readonly #dialect: Dialect
  readonly #target: FullTarget
  #prepared: Promise<Place> | undefined

  /** Throws InvalidArgumentError. */
  constructor(store: SqlStore, dialect: Dialect, target: Target) {
    this.name = dialect.name
    this.#store = store
    this.#dialect = dialect
    this.#target = checkTarget(target)
    this.missing = this.#target.missing
  }

  async prepare(): Promise<void> {
    await this.#place()
  }

  async read(place: LedgerPlace, ids: readonly string[]): Promise<Snapshot> {
    const target = await this.#place()
    for (const id of ids) this.#checkId(id, target.idColumn)
    const rows = await this.#rows(this.#dialect.read(target, place, ids))
    const seq = rows.find((row) => row['seq'] !== null)?.['seq']
    const found = rows.filter((row) => row['id'] !== null)
    return {
      seq: seq === undefined ? null : Number(seq),
      values: new Map(found.map(({ id, value }) => [String(id), BigInt(String(value))])),
    }
  }

  async begin(counters: string, shard: number): Promise<number> {
    await this.#place()
    for (;;) {
      const [row] = await this.#rows(this.#dialect.newest(counters, shard))
      const epoch = Number(row?.['epoch'] ?? 0) + 1
      const place = { counters, shard, epoch }
      if ((await this.#change(this.#dialect.enter(place))) === 1) return epoch
    }
  }

  async apply(batch: Batch): Promise<Applied> {
    const target = await this.#place()
    // Whoever else writes to Redis may have put anything there.
    for (const { id } of batch.changes) this.#checkId(id, target.idColumn)
    return this.#transaction(async (runner) => {
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

  /** An id that cannot be in the table is told when it is first asked for, or a batch with it would never be applied. */
  #checkId(id: string, column: Column): void {
    const problem = this.#dialect.misfit(id, column)
    if (problem === undefined) return
    throw new InvalidArgumentError('id', `${problem} to be in ${this.#target.table}: ${JSON.stringify(id)}`)
  }

  #place(): Promise<Place> {
    this.#prepared ??= this.#prepare().catch((error: unknown) => {
      this.#prepared = undefined
      throw error
    })
    return this.#prepared
  }

  async #prepare(): Promise<Place> {
    // A ledger that is there is not made: that would ask for a right that few grant to an application.
    if ((await this.#columns(LEDGER)).size === 0) {
      await this.#change({ sql: this.#dialect.ledger, values: [] })
    }
    const { table, id, value } = this.#target
    const columns = await this.#columns(table)
    if (columns.size === 0) throw misconfigured(`there is no table ${table}`)
    const [idColumn, { type }] = [columnOf(columns, table, id), columnOf(columns, table, value)]
    if (idColumn.flaw !== null) throw misconfigured(`the table ${table} ${idColumn.flaw}`)
    if (!idColumn.isUnique) throw misconfigured(`the column ${id} of ${table} has no unique index of its own`)
    if (!this.#dialect.isCount(type)) {
      throw misconfigured(`the column ${value} of ${table} is ${type}, and no integer of 64 bits with a sign`)
    }
    return { ...this.#target, idColumn }
  }

  async #columns(table: string): Promise<Map<string, Column>> {
    const rows = await this.#rows(this.#dialect.columns(table))
    return new Map(rows.map((row) => [String(row['name']), columnFrom(row)]))
  }

  #rows(statement: Statement): Promise<readonly Row[]> {
    return this.#try(() => this.#store.rows(statement))
  }

  #change(statement: Statement): Promise<number> {
    return this.#transaction((runner) => runner.changes(statement))
  }

  #transaction<Result>(work: (runner: SqlRunner) => Promise<Result>): Promise<Result> {
    return this.#try(() => this.#store.transaction(work))
  }

  #explain(error: unknown): SinkError {
    const meanings = chainOf(error).map((one) => this.#dialect.meaningOf(one))
    const code = meanings.find((meaning) => meaning !== 'sink-failed') ?? 'sink-failed'
    return new SinkError(code, `${this.name}: ${String(error)}`, { cause: error })
  }

  async #try<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      throw error instanceof SinkError ? error : this.#explain(error)
    }
  }
}

/** An error and its causes: what runs transactions may wrap what the client said. */
function chainOf(error: unknown): object[] {
  if (typeof error !== 'object' || error === null) return []
  return [error, ...chainOf((error as { cause?: unknown }).cause)]
}

function columnFrom(row: Row): Column {
  return {
    name: String(row['name']),
    type: String(row['type']),
    charset: textOrNull(row['charset']),
    length: row['length'] === null ? null : Number(row['length']),
    isUnique: Boolean(Number(row['is_unique'])),
    flaw: textOrNull(row['flaw']),
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function columnOf(columns: ReadonlyMap<string, Column>, table: string, name: string): Column {
  const column = columns.get(name)
  if (column === undefined) throw misconfigured(`the table ${table} has no column ${name}`)
  return column
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
