// The numbers in the place of the names that tables give them.

import type { Expression, Node } from 'luaparse'
import type { LineRun } from './contract.ts'
import { type Edit, withEdits } from './edit.ts'
import type { Refuse } from './head.ts'
import { locate } from './locate.ts'
import { orNearest } from './nearest.ts'
import { parseLua } from './parse-lua.ts'
import { lineOf, literal, type Names, resolve, spanOf } from './scope.ts'
import { type Table, valueIn } from './tables.ts'

export interface Tables {
  /** Those of modules. */
  of(name: string): Table | undefined
  /** Those of what the script in this file declares. */
  readonly own: ReadonlyMap<string, Table>
  readonly file: string
}

/** The linked text with numbers; `refuse` gets lines of that text. */
export function withNumbers(
  source: string,
  lines: readonly LineRun[],
  tables: Tables,
  refuse: Refuse,
): string {
  const chunk = parseLua(source, () => {})
  if (chunk === null) return source
  const names = resolve(chunk)
  const tableAt = (node: Node): Table | undefined => {
    if (node.type !== 'Identifier' || names.bindingOf(node) !== null) return undefined
    const isOwn = locate(lines, lineOf(node)).file === tables.file
    return (isOwn ? tables.own.get(node.name) : undefined) ?? tables.of(node.name)
  }
  const numbers = new Map<Node, number>()
  const read = new Set<Node>()
  for (const node of names.nodes) {
    const found = numberOf(node, tableAt, refuse)
    if (found === null) continue
    numbers.set(node, found.value)
    read.add(found.name)
  }
  for (const name of names.globalReads)
    if (tableAt(name) !== undefined && !read.has(name))
      refuse(lineOf(name), otherUse(name.name, tableAt(name)))
  return withEdits(source, editsOf(names, numbers))
}

function numberOf(
  node: Node,
  tableAt: (node: Node) => Table | undefined,
  refuse: Refuse,
): { value: number; name: Node } | null {
  if (node.type === 'UnaryExpression' && node.operator === '#') {
    const table = tableAt(node.argument)
    return isOfNumbers(table) ? { value: table.names.length, name: node.argument } : null
  }
  const name = fieldOf(node)
  if (name === null || !('base' in node)) return null
  const table = tableAt(node.base)
  if (!isOfNumbers(table)) return null
  const value = valueIn(table, name)
  if (value === null) refuse(lineOf(node), unknownName(node.base, name, table))
  return { value: value ?? 0, name: node.base }
}

function isOfNumbers(table: Table | undefined): table is Table {
  return table !== undefined && table.kind !== 'arguments'
}

function otherUse(name: string, table: Table | undefined): string {
  return table?.kind === 'arguments'
    ? `${name} names arguments: declare local name = ARGV[1] -- ${name}: meaning behind the head, and pass that`
    : `${name} names numbers: write ${name}.name, or #${name}`
}

/** Of `SPECS.name`, and of `SPECS['until']`, for a name that is a word of Lua. */
function fieldOf(node: Node): string | null {
  if (node.type === 'MemberExpression') return node.identifier.name
  return node.type === 'IndexExpression' ? literal(node.index) : null
}

function unknownName(base: Node, name: string, { names }: Table): string {
  const table = base.type === 'Identifier' ? base.name : ''
  return `${table} has no ${name}: ${orNearest(name, names, `it has ${names.join(', ')}`)}`
}

/** `at + SPECS.name` of the first field is `at`: a sum costs as much as what it is for. */
function editsOf(names: Names, numbers: ReadonlyMap<Node, number>): Edit[] {
  const sums = names.nodes.flatMap((node) => {
    const isNothing =
      node.type === 'BinaryExpression' && node.operator === '+' && isFirst(node.right, numbers)
    return isNothing ? [node] : []
  })
  const gone = new Set<Node>(sums.map(({ right }) => right))
  return [
    ...sums.map(({ left, right }) => ({ from: spanOf(left).to, to: spanOf(right).to, text: '' })),
    ...[...numbers]
      .filter(([node]) => !gone.has(node))
      .map(([node, value]) => ({ ...spanOf(node), text: String(value) })),
  ]
}

function isFirst(node: Expression, numbers: ReadonlyMap<Node, number>): boolean {
  return fieldOf(node) !== null && numbers.get(node) === 0
}
