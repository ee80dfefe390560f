// What each database words and runs for itself; sql.ts has the order of the statements.

import type { SinkErrorCode } from '../../counters/errors.ts'
import type { Batch, Change, LedgerPlace, Refusal } from '../../counters/sink.ts'

export type SqlValue = string | number | bigint | null | readonly string[]
export type Row = Readonly<Record<string, unknown>>

export interface Statement {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

/** One transaction. */
export interface SqlRunner {
  rows(statement: Statement): Promise<readonly Row[]>
  /** Runs a statement that changes something; answers how many rows it changed. */
  changes(statement: Statement): Promise<number>
}

export interface SqlStore {
  /** Commits when `work` resolves, and rolls back when it rejects. */
  transaction<Result>(work: (runner: SqlRunner) => Promise<Result>): Promise<Result>
  /** A statement alone, which sees one moment of the database, and nothing that is not committed. */
  rows(statement: Statement): Promise<readonly Row[]>
  /** As `rows`, of what the database says of its tables; also where a transaction of the user is open. */
  catalog?(statement: Statement): Promise<readonly Row[]>
}

/** Where counters are written to: a row for each, whose key is its id. */
export interface Target {
  /** The table: `items`, or `shop.items`; upper and lower case as it was made. */
  readonly table: string
  /** Its key, which has a unique index of its own; default `id`. */
  readonly id?: string
  /** The column of the count, of 64 bits; default `value`. */
  readonly value?: string
  /** `create`, the default, inserts rows that are missing; `refuse` only changes those that are there. */
  readonly missing?: 'create' | 'refuse'
  /**
   * Of PostgreSQL. `refuse`, the default, takes no table whose row-level security applies to the role; `allow` does: then its policies must
   * let the role see, insert and update every row that is counted, or counted in.
   */
  readonly rowLevelSecurity?: 'refuse' | 'allow'
}

export type FullTarget = Required<Target>

/** A table by its own name and that of its schema; undefined: the database chooses. */
export type TableName = readonly [schema: string | undefined, name: string]

/** A table, as the database has found it. */
export interface FoundTable {
  readonly schema: string
  readonly name: string
  /** What the schema is called on the whole server: two that are spelled alike are one; '': nobody can tell. */
  readonly location: string
}

/** A target whose columns are known. */
export interface TargetPlace extends Omit<FullTarget, 'rowLevelSecurity'> {
  readonly found: FoundTable
  readonly idColumn: Column
  /** Whether a row that is inserted takes a number for another column than the id, whether it comes to be or not. */
  readonly isNumbered: boolean
}

/** A column, as the database calls its type. */
export interface Column {
  readonly name: string
  readonly type: string
  /** Of text, where columns have one of their own. */
  readonly charset: string | null
  /** The most characters that it can have; null: no limit. */
  readonly length: number | null
  /** Whether no two rows have the same in it. */
  readonly isUnique: boolean
  /** Whether an INSERT must name it: it can do without only where rows have a value all the same, or need none. */
  readonly insert: 'must' | 'may' | 'never'
  /** Whether the database makes its values from other columns, and takes none. */
  readonly isGenerated: boolean
  /** Whether the database makes a value of its own where it is given 0. */
  readonly makesZero: boolean
  /** Whether it has numbers of AUTO_INCREMENT, or of a sequence. */
  readonly isNumbered: boolean
  /** Whether the database writes it anew with each change of its row (`ON UPDATE CURRENT_TIMESTAMP`), and we may write it as it was. */
  readonly isStamped: boolean
  /** Why the whole table will not do, if it will not. */
  readonly flaw: string | null
}

/** A statement that changes rows, and how many those are where it leaves none out; null: it leaves none out, or fails. */
export interface ChangeStatement extends Statement {
  readonly rows: number | null
}

/** What a table of ours has beside it, and did not always: a row tells that it is there. */
export interface LaterMade {
  readonly asked: Statement
  readonly definition: string
}

/** The statements on `perilune_refused`, the table of what was refused. */
export interface RefusedTable {
  /** Makes it in a schema, also where another is just doing that. */
  table(schema: string): string
  /** Rows of an id, as `idFrom` reads it, `delta` and `why` of so many, those first that were tried the longest time ago. */
  list(schema: string, counters: string, most: number): Statement
  /** Enters an id with nothing, unless it is there. */
  enter(schema: string, counters: string, id: string): Statement
  /** `delta` of an id, whose row is locked. */
  lock(schema: string, counters: string, id: string): Statement
  /** Enters one, in the place of what is there. */
  put(schema: string, counters: string, one: Refusal): Statement
  remove(schema: string, counters: string, id: string): Statement
}

/** What is left of a ledger: so many epochs without any batch, and so many others. */
export const KEPT_EPOCHS = { empty: 8, others: 100 } as const

export interface Dialect {
  readonly name: string
  /** Makes the ledger in a schema, also where another is just doing that. */
  ledger(schema: string): string
  readonly refused: RefusedTable
  /** Where a table is: a row of `schema`, `name` and `location`, as `FoundTable` has them; none: it is nowhere. */
  find(table: TableName): Statement
  /** The columns of a table; rows of `name`, `type`, `length`, `is_unique`, `inserted` and `is_generated`, some with `charset`, `makes_zero`, `is_numbered`, `is_stamped` and `flaw`. */
  columns(table: TableName): Statement
  /** A row of `flaw` for each reason why rows that are written there may not come to be. */
  flaws(table: TableName): Statement
  /** Rows of `name` and `role`: those of these tables of which a role does not see, or may not write, each row, the first one first. */
  hiding?(tables: readonly TableName[]): Statement
  /** What a transaction does first in which each row is tried by itself. */
  readonly carefully: readonly Statement[]
  /** `unmet`: how many rows of a target break a rule that is looked at with the COMMIT and can be looked at no sooner. */
  unmet?(target: TargetPlace): Statement
  /** Whether a count fits into a column of this type: all 64 bits of it. */
  isCount(type: string): boolean
  /** Whether a column of this type has integers. */
  isWhole(type: string): boolean
  /** Whether a column of this type has times, of which it can be told how long ago they are. */
  isTime(type: string): boolean
  /** Whether a column can have ids: one that had no place in it would stop what is written with it. */
  isId(column: Column): boolean
  /** Of which types these are, as people call them. */
  readonly ids: string
  /** Why an id cannot be in its column, as `must be …`; undefined when it can. */
  misfit(id: string, column: Column): string | undefined
  /** What an error of the client means; `sink-failed` when it cannot be told. */
  meaningOf(error: object): SinkErrorCode
  /** Whether it is of the rows that were written, and others might be: not of the disk, the memory or the server. */
  isOfRows(error: object): boolean
  /** Rows of an id, as `idFrom` reads it, and `value`, of one and `refused`, or of both, and of `seq`, at least one where the ledger knows the epoch. */
  read(target: TargetPlace, place: LedgerPlace, ids: readonly string[]): Statement
  /** The newest epoch of a partition, as `epoch`. */
  newest(schema: string, counters: string, partition: number): Statement
  /** `batched`, how many epochs of a partition have batches, `oldest`, the first of these, and `latest`, the last. */
  batches(schema: string, counters: string, partition: number): Statement
  /** Enters a new epoch; changes no row when it is there already. */
  enter(schema: string, place: LedgerPlace): Statement
  /** Leaves KEPT_EPOCHS of a partition. */
  prune(schema: string, counters: string, partition: number): Statement
  /** Moves the ledger on by one batch, if it stands before it. */
  advance(schema: string, batch: Batch): Statement
  /** Writes the line of an epoch as it is, which locks it. */
  hold(schema: string, place: LedgerPlace): Statement
  /** `seq` and `batch` of the ledger. */
  standing(schema: string, place: LedgerPlace): Statement
  /**
   * Rows of an id, as `idFrom` reads it: those of these that have a row; one that the column has in another spelling may be left out. Null: to
   * insert one that has a row takes nothing.
   */
  present(target: TargetPlace, ids: readonly string[]): Statement | null
  change(target: TargetPlace, changes: readonly Change[]): readonly ChangeStatement[]
  /** Rows of an id and, as `own`, that of its row, both as `idFrom` reads them: of those of these that have a row, in whatever spelling. */
  owners(target: TargetPlace, ids: readonly string[]): Statement
}

/** What a client made of a whole number, as text; null counts as `otherwise`. */
export function wholeOf(value: unknown, otherwise = '0'): string {
  const text = String(value)
  return value === null || value === undefined ? otherwise : text
}

/** A whole number that may leave the 64 bits of the database, which tells it in parts: `column`, and what is `_high` of it as 32 bits. */
export function wideOf(row: Row, column: string): bigint {
  return (BigInt(wholeOf(row[`${column}_high`])) << 32n) + BigInt(wholeOf(row[column]))
}

/** The id that a row has in a column: its text, or its bytes, as `id_hex`, where a connection may have fewer characters than the column. */
export function idFrom(row: Row, column: 'id' | 'own' = 'id'): string | null {
  const hex = row[`${column}_hex`] as string | null | undefined
  if (typeof hex === 'string') return Buffer.from(hex, 'hex').toString()
  const id = row[column] as string | number | bigint | null | undefined
  return id === null || id === undefined ? null : String(id)
}

/** Whether a number has the 64 bits of a count. */
export function fitsCount(number: bigint): boolean {
  return BigInt.asIntN(64, number) === number
}

/** `shop.items` as two names. */
export function namesOf(table: string): TableName {
  const [first = '', second] = table.split('.')
  return second === undefined ? [undefined, first] : [first, second]
}

/** A name that may be a word of SQL, or have any character, in the quotes that the database has for it. */
export function quote(name: string, mark: '"' | '`'): string {
  return mark + name.replaceAll(mark, mark + mark) + mark
}

export function quoteTable([schema, name]: TableName, mark: '"' | '`'): string {
  return schema === undefined ? quote(name, mark) : `${quote(schema, mark)}.${quote(name, mark)}`
}

const INTEGER = /^(0|-?[1-9][0-9]{0,19})$/

/** What `misfit` says of an id in a column of integers from `least` to `most`. */
export function integerMisfit(id: string, least: bigint, most: bigint): string | undefined {
  const fits = INTEGER.test(id) && BigInt(id) >= least && BigInt(id) <= most
  return fits ? undefined : `must be an integer from ${least} to ${most}`
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** What `misfit` says of an id in a column of uuids: as the database writes it, so that a counter has one spelling. */
export function uuidMisfit(id: string): string | undefined {
  return UUID.test(id) ? undefined : 'must be a uuid in lower case, in groups of 8-4-4-4-12'
}

/** What `misfit` says of an id in a column of text. */
export function textMisfit(id: string, { length }: Column): string | undefined {
  return length === null || Array.from(id).length <= length
    ? undefined
    : `must have at most ${length} characters`
}
