// The database access shared by this folder: runs statements of a dialect, and translates errors.

import { SinkError } from '../../counters/errors.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { summaryOf } from '../../runtime/errors/thrown.ts'
import {
  type Column,
  type Dialect,
  type FoundTable,
  type LaterMade,
  namesOf,
  type Row,
  type SqlRunner,
  type SqlStore,
  type Statement,
  type TableName,
} from './dialect.ts'

const NAME = /^[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)?$/

export class SqlAccess {
  readonly name: string
  readonly dialect: Dialect
  readonly #store: SqlStore
  /** The tables by the names that the user gave, as they were first found. */
  readonly #found = new Map<string, string>()

  constructor(store: SqlStore, dialect: Dialect) {
    this.name = dialect.name
    this.dialect = dialect
    this.#store = store
  }

  /** A statement outside of a transaction. */
  rows(statement: Statement): Promise<readonly Row[]> {
    return this.#try(() => this.#store.rows(statement))
  }

  change(statement: Statement): Promise<number> {
    return this.transaction((runner) => runner.changes(statement))
  }

  transaction<Result>(work: (runner: SqlRunner) => Promise<Result>): Promise<Result> {
    return this.#try(() => this.#store.transaction(work))
  }

  /** Runs a statement in the user's transaction, and translates its errors. */
  inUserTransaction<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#try(work)
  }

  /**
   * Creates a table of Perilune if it is missing. An existing one is left alone: CREATE needs a right that few grant to
   * an application.
   */
  async make(table: TableName, definition: string): Promise<void> {
    if (await this.has(table)) return
    await this.change({ sql: definition, values: [] })
  }

  /** Creates an addition to a table of Perilune. */
  async makeBeside({ asked, definition }: LaterMade): Promise<void> {
    if ((await this.#catalog(asked)).length > 0) return
    await this.change({ sql: definition, values: [] })
  }

  /** Whether a table exists. */
  async has(table: TableName): Promise<boolean> {
    return (await this.columns(table)).size > 0
  }

  async columns(table: TableName): Promise<Map<string, Column>> {
    const rows = await this.#catalog(this.dialect.columns(table))
    return new Map(rows.map((row) => [String(row['name']), columnFrom(row)]))
  }

  /** The location of a table that must exist, and its columns. Throws SinkError. */
  async find(table: string): Promise<{ found: FoundTable; columns: Map<string, Column> }> {
    const [row] = await this.#catalog(this.dialect.find(namesOf(table)))
    if (row === undefined) throw misconfigured(`the table ${table} does not exist`)
    const [schema, name] = [String(row['schema']), String(row['name'])]
    const columns = await this.columns([schema, name])
    if (columns.size === 0) throw misconfigured(`the table ${table} does not exist`)
    this.#checkStays(table, `${schema}.${name}`)
    return { found: { schema, name, location: String(row['location']) }, columns }
  }

  /** The database may find another table under a name once the first one has disappeared, as in another schema. */
  #checkStays(table: string, place: string): void {
    const first = this.#found.get(table) ?? place
    this.#found.set(table, first)
    if (first === place) return
    throw misconfigured(
      `the table ${table} was ${first}, and the database finds ${place} now: bring it back, or restart the process`,
    )
  }

  /** Throws SinkError if rows written to the table may be dropped. */
  async checkTakesRows(table: string, { schema, name }: FoundTable): Promise<void> {
    const [row] = await this.#catalog(this.dialect.flaws([schema, name]))
    if (row !== undefined) throw misconfigured(`the table ${table} ${String(row['flaw'])}`)
  }

  /** Throws SinkError if row-level security hides rows of a table from the role of the connection. */
  async checkShowsRows(tables: readonly TableName[]): Promise<void> {
    const asked = this.dialect.hiding?.(tables)
    const [row] = asked === undefined ? [] : await this.#catalog(asked)
    if (row === undefined) return
    throw misconfigured(
      `row-level security of the table ${String(row['name'])} applies to the role ${String(row['role'])}, which may not see all rows: use a role that owns the table or has BYPASSRLS, or set rowLevelSecurity: 'allow'`,
    )
  }

  explain(error: unknown): SinkError {
    if (error instanceof SinkError) return error
    const meanings = causesOf(error).map((one) => this.dialect.meaningOf(one))
    const code = meanings.find((meaning) => meaning !== 'sink-failed') ?? 'sink-failed'
    return new SinkError(code, `${this.name}: ${summaryOf(error)}`, { cause: error })
  }

  #catalog(statement: Statement): Promise<readonly Row[]> {
    return this.#try(() => (this.#store.catalog ?? this.#store.rows).call(this.#store, statement))
  }

  async #try<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      throw this.explain(error)
    }
  }
}

/**
 * An error and its causes: a transaction library may wrap the error of the client, or have it next to its own message,
 * as Prisma does.
 */
export function causesOf(error: unknown): object[] {
  const causes: object[] = []
  // An error may be a cause of itself.
  for (let one = error; typeof one === 'object' && one !== null && !causes.includes(one); ) {
    causes.push(one)
    const { cause, meta } = one as { cause?: unknown; meta?: unknown }
    if (typeof meta === 'object' && meta !== null) causes.push(meta)
    one = cause
  }
  return causes
}

function columnFrom(row: Row): Column {
  return {
    name: String(row['name']),
    type: String(row['type']),
    charset: textOrNull(row['charset']),
    length: row['length'] === null ? null : Number(row['length']),
    isUnique: Boolean(Number(row['is_unique'])),
    insert: row['inserted'] as Column['insert'],
    isGenerated: Boolean(Number(row['is_generated'] ?? 0)),
    makesZero: Boolean(Number(row['makes_zero'] ?? 0)),
    isNumbered: Boolean(Number(row['is_numbered'] ?? 0)),
    isStamped: Boolean(Number(row['is_stamped'] ?? 0)),
    flaw: textOrNull(row['flaw']),
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** Throws SinkError. */
export function columnOf(columns: ReadonlyMap<string, Column>, table: string, name: string): Column {
  const column = columns.get(name)
  if (column === undefined) throw misconfigured(`the table ${table} has no column ${name}`)
  return column
}

export function misconfigured(problem: string): SinkError {
  return new SinkError('sink-misconfigured', problem)
}

/** Throws InvalidArgumentError. */
export function checkNames(names: Readonly<Record<string, unknown>>): void {
  for (const [argument, name] of Object.entries(names)) {
    if (typeof name !== 'string' || !NAME.test(name)) {
      throw new InvalidArgumentError(argument, 'must be a plain name of the database, such as items')
    }
  }
}

/** Whether a table or a column has disappeared: the database came back with a copy from before it was made. */
function isGone(error: unknown): boolean {
  return error instanceof SinkError && error.code === 'sink-misconfigured' && error.cause !== undefined
}

/** A value that is looked up once, and again after a failure, or after its table turned out to have disappeared. */
export class Known<Value> {
  readonly #look: () => Promise<Value>
  #found: Promise<Value> | undefined

  constructor(look: () => Promise<Value>) {
    this.#look = look
  }

  /** The value if it is known, or being looked up. */
  get found(): Promise<Value> | undefined {
    return this.#found
  }

  get(): Promise<Value> {
    if (this.#found !== undefined) return this.#found
    const looking: Promise<Value> = this.#look().catch((error: unknown) => {
      this.#forget(looking)
      throw error
    })
    this.#found = looking
    return looking
  }

  /** For work that can be repeated. */
  async use<Done>(work: (found: Value) => Promise<Done>): Promise<Done> {
    try {
      return await this.useOnce(work)
    } catch (error) {
      if (!isGone(error)) throw error
    }
    return work(await this.get())
  }

  /** For work in a transaction that has failed with it: the next one looks the value up again. */
  async useOnce<Done>(work: (found: Value) => Promise<Done>): Promise<Done> {
    const found = this.get()
    try {
      return await work(await found)
    } catch (error) {
      if (isGone(error)) this.#forget(found)
      throw error
    }
  }

  #forget(found: Promise<Value>): void {
    if (this.#found === found) this.#found = undefined
  }
}
