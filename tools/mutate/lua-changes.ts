// What can be made wrong in a Lua file, behind its declarations. Texts of errors stay as they are.

import type * as Lua from 'luaparse'
import { parse } from 'luaparse'
import { blankOf, type Change, type Kind, otherNumber } from './mutant.ts'

const COMPARISONS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '==': ['~='],
  '~=': ['=='],
}
const ARITHMETIC: Readonly<Record<string, string>> = { '+': '-', '-': '+', '*': '/', '/': '*' }
const LONGEST_BRANCH = 4 // lines that are dropped as one

type Range = readonly [number, number]
type Within = (node: Lua.Node) => boolean

export function luaChanges(text: string): Change[] {
  const nodes: Lua.Node[] = []
  parse(text, {
    ranges: true,
    luaVersion: '5.1',
    comments: false,
    onCreateNode: (node) => nodes.push(node),
  })
  const spared = nodes.filter(isSpared).map(rangeOf)
  const isWithin: Within = (node) =>
    spared.some(([from, to]) => from <= rangeOf(node)[0] && rangeOf(node)[1] <= to)
  return nodes.filter((node) => !isWithin(node)).flatMap((node) => changesOf(node, text))
}

/** Declarations, functions' names and the texts of errors. */
function isSpared(node: Lua.Node): boolean {
  if (node.type === 'LocalStatement') return node.init.some(isArgument)
  return node.type === 'CallExpression' && nameOf(node.base) === 'redis.error_reply'
}

function isArgument(node: Lua.Node): boolean {
  if (node.type === 'Identifier') return node.name === 'KEYS' || node.name === 'ARGV'
  if (node.type === 'IndexExpression') return isArgument(node.base)
  if (node.type === 'CallExpression') return node.arguments.some(isArgument)
  return node.type === 'BinaryExpression' && isArgument(node.left)
}

function changesOf(node: Lua.Node, text: string): Change[] {
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      return operatorChanges(node, text)
    case 'UnaryExpression':
      return node.operator === 'not'
        ? [change('condition', [rangeOf(node)[0], rangeOf(node.argument)[0]], '')]
        : []
    case 'IfClause':
    case 'ElseifClause':
      return negated(node.condition, text)
    case 'NumericLiteral':
    case 'BooleanLiteral':
    case 'StringLiteral':
      return constantChanges(node)
    case 'MemberExpression':
      return extremeChanges(node)
    case 'CallStatement':
    case 'AssignmentStatement':
    case 'IfStatement':
      return dropped(node, text)
    default:
      return []
  }
}

function operatorChanges(node: Lua.BinaryExpression | Lua.LogicalExpression, text: string): Change[] {
  const { operator } = node
  const from = text.indexOf(operator, rangeOf(node.left)[1])
  const range: Range = [from, from + operator.length]
  if (node.type === 'LogicalExpression') {
    return [change('condition', range, operator === 'and' ? 'or' : 'and')]
  }
  const others = COMPARISONS[operator] ?? []
  const other = ARITHMETIC[operator]
  return [
    ...others.map((after) => change('comparison', range, after)),
    ...(other === undefined ? [] : [change('arithmetic', range, other)]),
  ]
}

/** A condition that compares, joins or denies is changed at its operator. */
function negated(condition: Lua.Expression, text: string): Change[] {
  const { type } = condition
  if (type === 'LogicalExpression' || type === 'BinaryExpression' || type === 'UnaryExpression') return []
  const range = rangeOf(condition)
  return [change('condition', range, `not ${text.slice(...range)}`)]
}

function constantChanges(node: Lua.NumericLiteral | Lua.BooleanLiteral | Lua.StringLiteral): Change[] {
  if (node.type === 'BooleanLiteral') return [change('constant', rangeOf(node), String(!node.value))]
  if (node.type === 'StringLiteral') {
    const digits = /^'(\d+)'$/.exec(node.raw)?.[1]
    return digits === undefined ? [] : [change('constant', rangeOf(node), `'${otherNumber(digits)}'`)]
  }
  const other = otherNumber(node.raw)
  return other === null ? [] : [change('constant', rangeOf(node), other)]
}

function extremeChanges(node: Lua.MemberExpression): Change[] {
  const name = nameOf(node)
  if (name === 'math.max') return [change('arithmetic', rangeOf(node), 'math.min')]
  return name === 'math.min' ? [change('arithmetic', rangeOf(node), 'math.max')] : []
}

function dropped(
  node: Lua.CallStatement | Lua.AssignmentStatement | Lua.IfStatement,
  text: string,
): Change[] {
  const range = rangeOf(node)
  const gone = text.slice(...range)
  if (node.type === 'IfStatement' && gone.split('\n').length > LONGEST_BRANCH) return []
  return [change('line', range, blankOf(gone))]
}

function nameOf(node: Lua.Expression): string | null {
  if (node.type !== 'MemberExpression' || node.base.type !== 'Identifier') return null
  return `${node.base.name}.${node.identifier.name}`
}

function change(kind: Kind, [from, to]: Range, after: string): Change {
  return { kind, from, to, after }
}

function rangeOf(node: Lua.Node): [number, number] {
  const { range } = node as Lua.Node & { readonly range: [number, number] }
  return range
}
