// Loops that never end: while a script runs, Redis serves no other client.

import type { Expression, Statement } from 'luaparse'
import type { Refuse } from './head.ts'
import { lineOf } from './scope.ts'
import type { Script } from './script.ts'

export function checkLoops({ names }: Script, refuse: Refuse): void {
  for (const node of names.nodes) {
    const isEndless =
      (node.type === 'WhileStatement' && isTrue(node.condition)) ||
      (node.type === 'RepeatStatement' && isFalse(node.condition)) ||
      (node.type === 'ForNumericStatement' && isHuge(node.end))
    if (isEndless && !canEnd(node.body))
      refuse(
        lineOf(node),
        'this loop never ends: count its turns, for i = 1, limit do, or leave it with break or return',
      )
  }
}

function isTrue(condition: Expression): boolean {
  if (condition.type === 'BooleanLiteral') return condition.value
  return ['NumericLiteral', 'StringLiteral', 'TableConstructorExpression'].includes(condition.type)
}

function isFalse(condition: Expression): boolean {
  return condition.type === 'NilLiteral' || (condition.type === 'BooleanLiteral' && !condition.value)
}

function isHuge(end: Expression): boolean {
  return end.type === 'MemberExpression' && end.identifier.name === 'huge'
}

/** Whether something in it leaves the loop: break for this loop, return for all. */
function canEnd(body: readonly Statement[], isInner = false): boolean {
  return body.some((statement) => {
    if (statement.type === 'ReturnStatement') return true
    if (statement.type === 'BreakStatement') return !isInner
    if (statement.type === 'IfStatement')
      return statement.clauses.some((clause) => canEnd(clause.body, isInner))
    // What raises an error ends the script.
    if (statement.type === 'CallStatement') return isError(statement.expression)
    if (statement.type === 'FunctionDeclaration' || !('body' in statement)) return false
    return canEnd(statement.body, isInner || statement.type !== 'DoStatement')
  })
}

function isError(call: Expression): boolean {
  return call.type === 'CallExpression' && call.base.type === 'Identifier' && call.base.name === 'error'
}
