// Constants are written where they are read: Lua then needs no local for them, and no function has to capture them.

import type { Expression, LocalStatement, Node } from 'luaparse'
import type { Edit } from './edit.ts'
import { type Binding, type Span, spanOf } from './scope.ts'
import type { Script } from './script.ts'
import { mayGo } from './statement-removal.ts'

export interface Constants {
  /** The statements that set them. */
  readonly statements: readonly Span[]
  /** Their values, in the places where they are read. */
  readonly values: readonly Edit[]
}

export function constantsOf(script: Script): Constants {
  const { source } = script.built
  const statements: Span[] = []
  const values: Edit[] = []
  const bases = new Set(script.names.nodes.flatMap((node) => ('base' in node ? [node.base] : [])))
  const operands = new Set(script.names.nodes.flatMap(operandsOf))
  for (const statement of script.names.nodes.filter(isLocal)) {
    const set = statement.variables.map((name) => script.names.bindingOf(name))
    const texts = set.map((binding) => binding && constantValue(binding, source, bases, operands))
    if (texts.includes(null) || statement.init.length > set.length || !mayGo(script, statement)) continue
    statements.push(spanOf(statement))
    for (const [at, binding] of set.entries()) {
      for (const read of binding?.reads ?? []) {
        const span = spanOf(read)
        // Dots next to a number would become part of it.
        values.push({ ...span, text: source[span.to] === '.' ? `${texts[at]} ` : (texts[at] ?? '') })
      }
    }
  }
  return { statements, values }
}

function isLocal(node: Node): node is LocalStatement {
  return node.type === 'LocalStatement'
}

/** One that is called or indexed would need parentheses, and those may begin another statement. */
function constantValue(
  { kind, init, reads, writes }: Binding,
  source: string,
  bases: ReadonlySet<Node>,
  operands: ReadonlySet<Node>,
): string | null {
  if (kind !== 'local' || init === null || writes.length > 0) return null
  if (reads.some((read) => bases.has(read))) return null
  // Lua would work out -0, and take it for 0 or 0 for it.
  if (isZero(init) && reads.some((read) => operands.has(read))) return null
  const text = literalText(init, source)
  // A dot or a bracket could join what is before it, and each line has to stay one.
  return text === null || /^[.[]|\n/.test(text) ? null : text
}

/** Of what may give -0. */
function operandsOf(node: Node): Node[] {
  if (node.type === 'UnaryExpression') return [node.argument]
  return node.type === 'BinaryExpression' && /^[*/%]$/.test(node.operator) ? [node.left, node.right] : []
}

function isZero(node: Expression): boolean {
  return node.type === 'NumericLiteral' && node.value === 0
}

function literalText(node: Expression, source: string): string | null {
  if (node.type === 'BooleanLiteral' || node.type === 'StringLiteral') return node.raw
  if (!isFolded(node)) return null
  const { from, to } = spanOf(node)
  return node.type === 'NumericLiteral' ? node.raw : `(${source.slice(from, to)})`
}

/** Numbers that Lua works out when it compiles. */
function isFolded(node: Expression): boolean {
  if (node.type === 'UnaryExpression') return node.operator === '-' && isFolded(node.argument)
  if (node.type === 'BinaryExpression')
    return /^[-+*]$/.test(node.operator) && isFolded(node.left) && isFolded(node.right)
  return node.type === 'NumericLiteral'
}
