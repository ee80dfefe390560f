// What each database words and runs for itself; sql.ts has the order of the statements.

import type { SinkErrorCode } from '../counters/errors.ts'
import type { Batch, Change, LedgerPlace } from '../counters/sink.ts'

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
  /** A statement alone, which sees one moment of the database. */
  rows(statement: Statement): Promise<readonly Row[]>
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
}

export type FullTarget = Required<Target>

/** A target whose columns are known. */
export interface Place extends FullTarget {
  readonly idColumn: Column
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
  /** Why the whole table will not do, if it will not. */
  readonly flaw: string | null
}

export interface Dialect {
  readonly name: string
  /** Makes the ledger, also where another is just doing that. */
  readonly ledger: string
  /** The columns of a table; rows of `name`, `type`, `length`, `is_unique` and `inserted`, some with `charset` and `flaw`. */
  columns(table: string): Statement
  /** Whether a count fits into a column of this type: all 64 bits of it. */
  isCount(type: string): boolean
  /** Whether a column can have ids: one that had no place in it would stop what is written with it. */
  isId(column: Column): boolean
  /** Of which types these are, as people call them. */
  readonly ids: string
  /** Why an id cannot be in its column, as `must be …`; undefined when it can. */
  misfit(id: string, column: Column): string | undefined
  /** What an error of the client means; `sink-failed` when it cannot be told. */
  meaningOf(error: object): SinkErrorCode
  /** One row a counter, with `id`, `value` and `seq`, at least one with `seq` where the ledger knows the epoch. */
  read(target: Place, place: LedgerPlace, ids: readonly string[]): Statement
  /** The newest epoch of a partition, as `epoch`. */
  newest(counters: string, partition: number): Statement
  /** Enters a new epoch; changes no row when it is there already. */
  enter(place: LedgerPlace): Statement
  /** Moves the ledger on by one batch, if it stands before it. */
  advance(batch: Batch): Statement
  /** `seq` and `batch` of the ledger. */
  standing(place: LedgerPlace): Statement
  change(target: Place, changes: readonly Change[]): readonly Statement[]
}

/** What a client made of a whole number, as text; null counts as `otherwise`. */
export function wholeOf(value: unknown, otherwise = '0'): string {
  const text = String(value)
  return value === null || value === undefined ? otherwise : text
}

/** `shop.items` as two names; the first is undefined where the database chooses. */
export function namesOf(table: string): [schema: string | undefined, name: string] {
  const [first = '', second] = table.split('.')
  return second === undefined ? [undefined, first] : [first, second]
}

/** A name that may be a word of SQL, in the quotes that the database has for it. */
export function quote(name: string, mark: '"' | '`'): string {
  return name
    .split('.')
    .map((part) => mark + part + mark)
    .join('.')
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
