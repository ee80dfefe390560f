// Names of numbers that are known when a script is compiled: where the fields of a group are, and what the bits of a
// field are worth. Beside them arguments that many operations take one behind the other: declared once, and in an
// operation one local.
//
//   local SPECS = fields({ 'name:text', 'payload:bytes' })    -- specs[at + SPECS.payload] is specs[at + 1], and #SPECS is 2
//   local MARKS = bits({ 'prioritized', 'grouped' })          -- MARKS.grouped is 2
//   local CALL_ID = arguments({
//     caller = 'text', -- process and slot
//     call = 'text', -- number of the call in that slot
//   })
//   local call_id = ARGV[4] -- CALL_ID: of this call                      -- { caller = ARGV[4], call = ARGV[5] }

import type { Comment, Expression, Statement, TableConstructorExpression } from 'luaparse'
import { commentOn } from './comments.ts'
import type { Refuse } from './head.ts'
import { parseLua } from './parse-lua.ts'
import { lineOf, literal } from './scope.ts'

export interface Table {
  readonly kind: 'fields' | 'bits' | 'arguments'
  readonly names: readonly string[]
  /** As they are written, with their types where they have some. */
  readonly fields: readonly string[]
  /** What each argument means. */
  readonly abouts?: readonly string[]
}

/** The number of a name in a table; null if the table lacks it. */
export function valueIn({ kind, names }: Table, name: string): number | null {
  const at = names.indexOf(name)
  if (at < 0) return null
  return kind === 'fields' ? at : 2 ** at
}

export function tableOf(kind: Table['kind'], fields: readonly string[]): Table {
  return { kind, fields, names: fields.map((field) => field.replace(/:.*/s, '')) }
}

const FORM = "write local NAME = fields({ 'first:text', 'second:integer' }) or bits({ 'first', 'second' })"
const FORM_OF_ARGUMENTS =
  "write local NAME = arguments({ name = 'text', -- what it means }), one argument a line, each text, bytes, integer, number or flag"

/** The table that a statement of a module names; null where it is none. */
export function readTable(
  statement: Statement,
  comments: readonly Comment[],
  refuse: Refuse,
): { name: string; table: Table } | null {
  if (statement.type !== 'LocalStatement') return null
  const [init] = statement.init
  const kind = init === undefined ? null : kindOf(init)
  if (kind === null || init?.type !== 'CallExpression') return null
  const [name, more] = statement.variables
  const list = init.arguments[0]
  const table = list?.type === 'TableConstructorExpression' ? tableIn(kind, list, comments) : null
  if (name === undefined || more !== undefined || table === null) {
    refuse(lineOf(statement), kind === 'arguments' ? FORM_OF_ARGUMENTS : FORM)
    return { name: name?.name ?? '', table: { kind, fields: [], names: [] } }
  }
  const twice = table.names.find((each, at) => table.names.indexOf(each) < at)
  if (twice !== undefined)
    refuse(lineOf(statement), `${name.name} has two fields called ${twice}: rename one`)
  return { name: name.name, table }
}

function kindOf(init: Expression): Table['kind'] | null {
  if (init.type !== 'CallExpression' || init.base.type !== 'Identifier') return null
  const { name } = init.base
  return name === 'fields' || name === 'bits' || name === 'arguments' ? name : null
}

/** Null where it is written otherwise. */
function tableIn(
  kind: Table['kind'],
  list: TableConstructorExpression,
  comments: readonly Comment[],
): Table | null {
  if (kind === 'arguments') return argumentsIn(list, comments)
  const fields = list.fields.map((item) => (item.type === 'TableValue' ? literal(item.value) : null))
  return isWhole(fields) ? tableOf(kind, fields) : null
}

function argumentsIn(list: TableConstructorExpression, comments: readonly Comment[]): Table | null {
  const fields = list.fields.map((item) => {
    const type = item.type === 'TableKeyString' ? literal(item.value) : null
    const isArgument = item.type === 'TableKeyString' && /^[a-z][a-z0-9_]*$/.test(item.key.name)
    return isArgument && type !== null && WRITTEN.has(type) ? `${item.key.name}:${type}` : null
  })
  const abouts = list.fields.map((item) => commentOn(lineOf(item), comments))
  return isWhole(fields) && isWhole(abouts) ? { ...tableOf('arguments', fields), abouts } : null
}

function isWhole(texts: readonly (string | null)[]): texts is readonly string[] {
  return texts.length > 0 && !texts.includes(null)
}

/** How an argument of each type is read. */
export const WRITTEN: ReadonlyMap<string, (place: number) => string> = new Map([
  ['text', (place) => `ARGV[${place}]`],
  ['bytes', (place) => `ARGV[${place}]`],
  ['integer', (place) => `tonumber(ARGV[${place}])`],
  ['number', (place) => `tonumber(ARGV[${place}])`],
  ['flag', (place) => `ARGV[${place}] == '1'`],
])

/** Not one that was refused at its place. */
export function isOfArguments(table: Table | undefined): table is Table & { readonly kind: 'arguments' } {
  return table?.kind === 'arguments' && table.fields.length > 0
}

/** The value of a local that holds arguments from this place on. */
export function writtenArguments({ fields }: Table, from: number): string {
  const entries = fields.map((field, at) => {
    const [name = '', type = ''] = field.split(':')
    return `${name} = ${WRITTEN.get(type)?.(from + at)}`
  })
  return `{ ${entries.join(', ')} }`
}

const TAKEN = /^(local\s+\w+\s*=\s*)ARGV\[(\d+)\](\s*--\s*([A-Z][A-Z0-9_]*)\s*:.*)$/
const REPEATED = /^(local\s+(\w+)\s*,.*--\s*repeated\s*)(?:\(([^)]*)\)|([A-Z][A-Z0-9_]*))(\s*:.*)$/

export interface Named {
  readonly text: string
  /** The tables of what the script itself declares, by name. */
  readonly tables: ReadonlyMap<string, Table>
}

/** Finds a table of a module. */
export type Known = (name: string) => Table | undefined

/**
 * The declarations of arguments that tables name, with all that these name, and the tables of fields that the
 * repeated arguments of this script have.
 */
export function withTables(text: string, known: Known, refuse: Refuse): Named {
  const tables = new Map<string, Table>()
  if (!text.split('\n').some((line) => TAKEN.test(line) || REPEATED.test(line))) return { text, tables }
  // A text or a comment over lines may hold what looks like a declaration.
  const statements = parseLua(text, () => {})?.body ?? []
  const declared = new Set(statements.filter(({ type }) => type === 'LocalStatement').map(lineOf))
  const lines = text.split('\n').map((line, at) => {
    if (!declared.has(at + 1)) return line
    const [, local, place, about, group] = TAKEN.exec(line) ?? []
    if (group !== undefined) return `${local}${taken(group, Number(place), known, at + 1, refuse)}${about}`
    const [, before, name = '', written, named, behind] = REPEATED.exec(line) ?? []
    if (before === undefined) return line
    const words = named === undefined ? (written ?? '').split(/\s+/).filter((word) => word !== '') : [named]
    const fields = words.flatMap((word) => {
      if (!/^[A-Z][A-Z0-9_]*$/.test(word)) return [word]
      const table = known(word)
      if (table?.kind !== 'fields') refuse(at + 1, `${word} names no fields in any module: ${FORM}`)
      return table?.fields ?? []
    })
    if (named === undefined) tables.set(name.toUpperCase(), tableOf('fields', fields))
    return `${before}(${fields.join(' ')})${behind}`
  })
  return { text: lines.join('\n'), tables }
}

function taken(name: string, from: number, known: Known, line: number, refuse: Refuse): string {
  const table = known(name)
  if (isOfArguments(table)) return writtenArguments(table, from)
  if (table?.kind !== 'arguments')
    refuse(line, `${name} names no arguments in any module: ${FORM_OF_ARGUMENTS}`)
  return `{ ARGV[${from}] }`
}
