// The part of the SQL that differs between databases; sql.ts has the order of the statements.

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
  /** Runs a statement that changes rows; returns how many it changed. */
  changes(statement: Statement): Promise<number>
}

export interface SqlStore {
  /** Commits when `work` resolves, and rolls back when it rejects. */
  transaction<Result>(work: (runner: SqlRunner) => Promise<Result>): Promise<Result>
  /** A statement outside of a transaction: it reads one snapshot of committed data. */
  rows(statement: Statement): Promise<readonly Row[]>
  /** Like `rows`, for the catalog of the database; also while a transaction of the user is open. */
  catalog?(statement: Statement): Promise<readonly Row[]>
}

/** The table of the counters: one row each, whose key is the id. */
export interface Target {
  /** The table: `items`, or `shop.items`, in the upper and lower case of its creation. */
  readonly table: string
  /** Its key column, which has a unique index of its own. Default: `id`. */
  readonly id?: string
  /** The column of the count, a signed integer of 64 bits. Default: `value`. */
  readonly value?: string
  /**
   * `create`: a counter without a row begins at 0, and its row is inserted. `refuse`: it is unknown; only existing rows
   * change. Default: `create`.
   */
  readonly missing?: 'create' | 'refuse'
  /**
   * Only for PostgreSQL. `refuse`: reject a table whose row-level security applies to the role. `allow`: accept it; its
   * policies must let the role see, insert and update every row that is counted or has a count. Default: `refuse`.
   */
  readonly rowLevelSecurity?: 'refuse' | 'allow'
}

export type FullTarget = Required<Target>

/** A table by its own name and that of its schema; undefined: the schema that the database resolves. */
export type TableName = readonly [schema: string | undefined, name: string]

/** A table as found in the database. */
export interface FoundTable {
  readonly schema: string
  readonly name: string
  /** The server-wide name of the schema: equal text means the same schema; '' if unknown. */
  readonly location: string
}

/** A target whose columns are known. */
export interface TargetPlace extends Omit<FullTarget, 'rowLevelSecurity'> {
  readonly found: FoundTable
  readonly idColumn: Column
  /** Whether an INSERT uses up a number of a column other than the id, even if no row results. */
  readonly isNumbered: boolean
}

/** A column, with its type as the database names it. */
export interface Column {
  readonly name: string
  readonly type: string
  /** The character set of a text column, in databases with one per column. */
  readonly charset: string | null
  /** The maximum number of characters; null: no limit. */
  readonly length: number | null
  /** Whether its values are unique. */
  readonly isUnique: boolean
  /** Whether an INSERT must name it: it may be left out only if the database supplies a value, or NULL is allowed. */
  readonly insert: 'must' | 'may' | 'never'
  /** Whether the database computes its values from other columns and accepts none. */
  readonly isGenerated: boolean
  /** Whether the database generates a value in the place of 0. */
  readonly makesZero: boolean
  /** Whether it has numbers of AUTO_INCREMENT, or of a sequence. */
  readonly isNumbered: boolean
  /**
   * Whether the database updates it with each change of its row (`ON UPDATE CURRENT_TIMESTAMP`), and Perilune may write
   * the old value back.
   */
  readonly isStamped: boolean
  /** Why the whole table is unsuitable, if it is. */
  readonly flaw: string | null
}

/**
 * A statement that changes rows, and how many rows it must change if it leaves none out; null: it leaves none out, or
 * fails.
 */
export interface ChangeStatement extends Statement {
  readonly rows: number | null
}

/** A later addition to a table of Perilune: a row shows that it exists. */
export interface LaterMade {
  readonly asked: Statement
  readonly definition: string
}

/** The statements on `perilune_refused`, the table of refused changes. */
export interface RefusedTable {
  /** Creates it in a schema; safe if another process does so at the same time. */
  table(schema: string): string
  /**
   * Up to `most` rows of an id, as `idFrom` reads it, `delta` and `why`; those first whose last attempt is the longest
   * time ago.
   */
  list(schema: string, counters: string, most: number): Statement
  /** Inserts an id with a delta of 0, unless it exists. */
  enter(schema: string, counters: string, id: string): Statement
  /** `delta` of an id; locks its row. */
  lock(schema: string, counters: string, id: string): Statement
  /** Writes one refusal in the place of the existing one. */
  put(schema: string, counters: string, one: Refusal): Statement
  remove(schema: string, counters: string, id: string): Statement
}

/** The epochs that a ledger keeps: so many without a batch, and so many others. */
export const KEPT_EPOCHS = { empty: 8, others: 100 } as const

export interface Dialect {
  readonly name: string
  /** Creates the ledger in a schema; safe if another process does so at the same time. */
  ledger(schema: string): string
  readonly refused: RefusedTable
  /**
   * The location of a table: a row of `schema`, `name` and `location`, as in `FoundTable`; no row if it does not exist.
   */
  find(table: TableName): Statement
  /**
   * The columns of a table: rows of `name`, `type`, `length`, `is_unique`, `inserted` and `is_generated`, some with
   * `charset`, `makes_zero`, `is_numbered`, `is_stamped` and `flaw`.
   */
  columns(table: TableName): Statement
  /** A row of `flaw` for each reason why rows written to the table may be dropped. */
  flaws(table: TableName): Statement
  /**
   * Rows of `name` and `role`: those of these tables in which the role cannot see or write each row, in their order.
   */
  hiding?(tables: readonly TableName[]): Statement
  /** The first statements of a transaction that tries each row by itself. */
  readonly carefully: readonly Statement[]
  /** `unmet`: how many rows of a target break a rule that is only checked at the COMMIT. */
  unmet?(target: TargetPlace): Statement
  /** Whether a column of this type holds every count of 64 bits. */
  isCount(type: string): boolean
  /** Whether a column of this type has integers. */
  isWhole(type: string): boolean
  /** Whether a column of this type has times whose age can be computed. */
  isTime(type: string): boolean
  /** Whether a column can hold ids: an id that does not fit would stop the changes that are written with it. */
  isId(column: Column): boolean
  /** The accepted types of ids, for error messages. */
  readonly ids: string
  /** Why an id does not fit its column, as `must be …`; undefined if it fits. */
  misfit(id: string, column: Column): string | undefined
  /** The meaning of an error of the client; `sink-failed` if unknown. */
  meaningOf(error: object): SinkErrorCode
  /**
   * Whether the error is about the written rows, and others may succeed: not about the disk, the memory or the server.
   */
  isOfRows(error: object): boolean
  /**
   * Rows of an id, as `idFrom` reads it, and `value`, of an id and `refused`, or of both, and of `seq`; at least one
   * row if the ledger knows the epoch.
   */
  read(target: TargetPlace, place: LedgerPlace, ids: readonly string[]): Statement
  /** The newest epoch of a partition, as `epoch`. */
  newest(schema: string, counters: string, partition: number): Statement
  /** `batched`: how many epochs of a partition have batches, closed ones too; `oldest` and `latest`: the first and the last of these. */
  batches(schema: string, counters: string, partition: number): Statement
  /** Inserts a new epoch; changes no row if it exists. */
  enter(schema: string, place: LedgerPlace): Statement
  /** Deletes all but KEPT_EPOCHS of a partition. */
  prune(schema: string, counters: string, partition: number): Statement
  /** Moves the ledger forward by one batch, if it has the batch before. */
  advance(schema: string, batch: Batch): Statement
  /** Closes an epoch and all earlier ones of its partition, see `ledgerEnd`. */
  close(schema: string, place: LedgerPlace): Statement
  /** Writes the line of an epoch without a change, which locks it. */
  hold(schema: string, place: LedgerPlace): Statement
  /** `seq` and `batch` of the ledger. */
  standing(schema: string, place: LedgerPlace): Statement
  /**
   * Rows of an id, as `idFrom` reads it: those of `ids` that have a row; an id that the column has in another spelling
   * may be left out. Null: an INSERT of an existing row uses up no number.
   */
  present(target: TargetPlace, ids: readonly string[]): Statement | null
  change(target: TargetPlace, changes: readonly Change[]): readonly ChangeStatement[]
  /**
   * Rows of an id and, as `own`, the id of its row, both as `idFrom` reads them: those of `ids` that have a row, in
   * whatever spelling.
   */
  owners(target: TargetPlace, ids: readonly string[]): Statement
}

/** A whole number in the client's representation, as text; null becomes `otherwise`. */
export function wholeOf(value: unknown, otherwise = '0'): string {
  const text = String(value)
  return value === null || value === undefined ? otherwise : text
}

/**
 * A whole number that may exceed 64 bits and therefore arrives in two parts: `column`, and the part above 32 bits in
 * its `_high`.
 */
export function wideOf(row: Row, column: string): bigint {
  return (BigInt(wholeOf(row[`${column}_high`])) << 32n) + BigInt(wholeOf(row[column]))
}

/**
 * The id of a row: its text, or its bytes as `id_hex`, because a connection may have fewer characters than the column.
 */
export function idFrom(row: Row, column: 'id' | 'own' = 'id'): string | null {
  const hex = row[`${column}_hex`] as string | null | undefined
  if (typeof hex === 'string') return Buffer.from(hex, 'hex').toString()
  const id = row[column] as string | number | bigint | null | undefined
  return id === null || id === undefined ? null : String(id)
}

/** Whether a number fits into the 64 bits of a count. */
export function fitsCount(number: bigint): boolean {
  return BigInt.asIntN(64, number) === number
}

/** `shop.items` as two names. */
export function namesOf(table: string): TableName {
  const [first = '', second] = table.split('.')
  return second === undefined ? [undefined, first] : [first, second]
}

/** A name in the quotes of the database: it may be a keyword, or have any character. */
export function quote(name: string, mark: '"' | '`'): string {
  return mark + name.replaceAll(mark, mark + mark) + mark
}

export function quoteTable([schema, name]: TableName, mark: '"' | '`'): string {
  return schema === undefined ? quote(name, mark) : `${quote(schema, mark)}.${quote(name, mark)}`
}

const INTEGER = /^(0|-?[1-9][0-9]{0,19})$/

/** The `misfit` of an id in a column of integers from `least` to `most`. */
export function integerMisfit(id: string, least: bigint, most: bigint): string | undefined {
  const fits = INTEGER.test(id) && BigInt(id) >= least && BigInt(id) <= most
  return fits ? undefined : `must be an integer from ${least} to ${most}`
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * The `misfit` of an id in a column of uuids. It must be spelled as the database writes it, so that a counter has one
 * spelling.
 */
export function uuidMisfit(id: string): string | undefined {
  return UUID.test(id) ? undefined : 'must be a uuid in lower case, in groups of 8-4-4-4-12'
}

/** The `misfit` of an id in a column of text. */
export function textMisfit(id: string, { length }: Column): string | undefined {
  return length === null || Array.from(id).length <= length
    ? undefined
    : `must have at most ${length} characters`
}
