// The table of the counters: its options, and its requirements.

import { checkOptions } from '../../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { checkNames, columnOf, misconfigured, type SqlAccess } from './access.ts'
import type { Column, Dialect, FullTarget, TargetPlace, TableName, Target } from './dialect.ts'

export const TARGET_OPTIONS: readonly string[] = ['table', 'id', 'value', 'missing', 'rowLevelSecurity']

/** Throws InvalidArgumentError. */
export function checkTarget({ name, hiding }: Dialect, target: Target, prefix = ''): FullTarget {
  checkOptions('target', target, TARGET_OPTIONS)
  const { table, id = 'id', value = 'value', missing = 'create', rowLevelSecurity = 'refuse' } = target
  checkNames({ [`${prefix}table`]: table, [`${prefix}id`]: id, [`${prefix}value`]: value })
  if (missing !== 'create' && missing !== 'refuse') {
    throw new InvalidArgumentError(`${prefix}missing`, 'must be one of create, refuse')
  }
  if (target.rowLevelSecurity !== undefined && hiding === undefined) {
    throw new InvalidArgumentError(
      `${prefix}rowLevelSecurity`,
      `is only for PostgreSQL: ${name} has no row-level security`,
    )
  }
  if (rowLevelSecurity !== 'refuse' && rowLevelSecurity !== 'allow') {
    throw new InvalidArgumentError(`${prefix}rowLevelSecurity`, 'must be one of refuse, allow')
  }
  return { table, id, value, missing, rowLevelSecurity }
}

/** Looks at the table, and creates nothing. Throws SinkError. */
export async function findTarget(access: SqlAccess, target: FullTarget): Promise<TargetPlace> {
  const { table, id, value } = target
  const { found, columns } = await access.find(table)
  const [idColumn, valueColumn] = [columnOf(columns, table, id), columnOf(columns, table, value)]
  checkIdColumn(access, table, idColumn)
  if (!idColumn.isUnique) throw misconfigured(`the column ${id} of ${table} has no unique index of its own`)
  if (!access.dialect.isCount(valueColumn.type)) {
    throw misconfigured(
      `the column ${value} of ${table} is ${valueColumn.type}, not a signed integer of 64 bits`,
    )
  }
  const creates = target.missing === 'create'
  for (const { name, isGenerated } of creates ? [idColumn, valueColumn] : [valueColumn]) {
    if (isGenerated)
      throw misconfigured(`the column ${name} of ${table} is generated, so nothing can be written to it`)
  }
  if (creates) checkInserts(columns, target)
  await access.checkTakesRows(table, found)
  await checkShowsRows(access, target, [[found.schema, found.name]])
  const isNumbered = [...columns.values()].some((column) => column.isNumbered && column !== idColumn)
  return { ...target, found, idColumn: { ...idColumn, makesZero: creates && idColumn.makesZero }, isNumbered }
}

/** The table with its columns, as all processes name it: `items (id, votes)`. */
export function nameOfTarget({ found, id, value }: TargetPlace): string {
  return `${found.name} (${id}, ${value})`
}

/** Throws SinkError. */
export async function makeRefused(access: SqlAccess, { found: { schema } }: TargetPlace): Promise<void> {
  await access.make([schema, 'perilune_refused'], access.dialect.refused.table(schema))
}

/** Throws SinkError. */
export async function checkShowsRows(
  access: SqlAccess,
  { rowLevelSecurity }: FullTarget,
  tables: readonly TableName[],
): Promise<void> {
  if (rowLevelSecurity === 'refuse') await access.checkShowsRows(tables)
}

/** A row that cannot be inserted also fails if it exists: neither this batch nor any after it would ever be written. */
function checkInserts(columns: ReadonlyMap<string, Column>, { table, id, value }: FullTarget): void {
  for (const { name, insert } of columns.values()) {
    const isGiven = name === id || name === value
    const [problem, cure] = isGiven
      ? ['GENERATED ALWAYS', 'make it BY DEFAULT']
      : ['NOT NULL without a default', 'give it a default']
    if (insert !== (isGiven ? 'never' : 'must')) continue
    throw misconfigured(
      `the column ${name} of ${table} is ${problem}, so no row can be inserted: ${cure}, or set missing: 'refuse'`,
    )
  }
}

/** Throws SinkError. */
export function checkIdColumn({ dialect }: SqlAccess, table: string, column: Column): void {
  if (column.flaw !== null) throw misconfigured(`the table ${table} ${column.flaw}`)
  if (dialect.isId(column)) return
  const own = column.type === '' ? 'of no type' : column.type
  const type = column.charset === null ? own : `${own} in ${column.charset}`
  throw misconfigured(`the column ${column.name} of ${table} is ${type}, but ids must be ${dialect.ids}`)
}

/** Rejects an id that does not fit the column at its first use; otherwise its increments could never be written. */
export function checkFits(access: SqlAccess, table: string, column: Column, id: string): void {
  const problem = access.dialect.misfit(id, column)
  if (problem === undefined) return
  throw new InvalidArgumentError('id', `${problem} to be in ${table}: ${JSON.stringify(id)}`)
}
