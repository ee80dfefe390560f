// Names of numbers that are known when a script is compiled: where the fields of a group are, and what the bits of a field are worth.
//
//   local SPECS = fields({ 'name:text', 'payload:bytes' })    -- specs[at + SPECS.payload] is specs[at + 1], and #SPECS is 2
//   local MARKS = bits({ 'prioritized', 'grouped' })          -- MARKS.grouped is 2

import type { Expression, Statement } from 'luaparse'
import type { Refuse } from './head.ts'
import { lineOf, literal } from './scope.ts'

export interface Table {
  readonly kind: 'fields' | 'bits'
  readonly names: readonly string[]
  /** As they are written, with their types where they have some. */
  readonly fields: readonly string[]
}

/** What a name of a table stands for; null for one that it has not. */
export function valueIn({ kind, names }: Table, name: string): number | null {
  const at = names.indexOf(name)
  if (at < 0) return null
  return kind === 'fields' ? at : 2 ** at
}

export function tableOf(kind: Table['kind'], fields: readonly string[]): Table {
  return { kind, fields, names: fields.map((field) => field.replace(/:.*/s, '')) }
}

const FORM = "write local NAME = fields({ 'first:text', 'second:integer' }) or bits({ 'first', 'second' })"

/** The table that a statement of a module names; null where it is none. */
export function readTable(statement: Statement, refuse: Refuse): { name: string; table: Table } | null {
  if (statement.type !== 'LocalStatement') return null
  const [init] = statement.init
  const kind = init === undefined ? null : kindOf(init)
  if (kind === null || init?.type !== 'CallExpression') return null
  const [name, more] = statement.variables
  const list = init.arguments[0]
  const items = list?.type === 'TableConstructorExpression' ? list.fields : []
  const fields = items.map((item) => (item.type === 'TableValue' ? literal(item.value) : null))
  if (name === undefined || more !== undefined || fields.length === 0 || fields.includes(null)) {
    refuse(lineOf(statement), FORM)
    return { name: name?.name ?? '', table: tableOf(kind, []) }
  }
  const table = tableOf(kind, fields as string[])
  const twice = table.names.find((each, at) => table.names.indexOf(each) < at)
  if (twice !== undefined)
    refuse(lineOf(statement), `${name.name} has two fields called ${twice}: rename one`)
  return { name: name.name, table }
}

function kindOf(init: Expression): Table['kind'] | null {
  if (init.type !== 'CallExpression' || init.base.type !== 'Identifier') return null
  const { name } = init.base
  return name === 'fields' || name === 'bits' ? name : null
}

const REPEATED = /^(local\s+(\w+)\s*,.*--\s*repeated\s*)(?:\(([^)]*)\)|([A-Z][A-Z0-9_]*))(\s*:.*)$/

export interface Named {
  readonly text: string
  /** The tables of what the script itself declares, by name. */
  readonly tables: ReadonlyMap<string, Table>
}

/** The declarations of repeated arguments with all their fields, and the tables that those of this script have. */
export function withFields(text: string, known: (name: string) => Table | undefined, refuse: Refuse): Named {
  const tables = new Map<string, Table>()
  const lines = text.split('\n').map((line, at) => {
    const [, before, name = '', written, named, behind] = REPEATED.exec(line) ?? []
    if (before === undefined) return line
    const words = named === undefined ? (written ?? '').split(/\s+/).filter((word) => word !== '') : [named]
    const fields = words.flatMap((word) => {
      if (!/^[A-Z][A-Z0-9_]*$/.test(word)) return [word]
      const table = known(word)
      if (table === undefined) refuse(at + 1, `${word} is defined in no module: ${FORM}`)
      return table?.fields ?? []
    })
    if (named === undefined) tables.set(name.toUpperCase(), tableOf('fields', fields))
    return `${before}(${fields.join(' ')})${behind}`
  })
  return { text: lines.join('\n'), tables }
}
