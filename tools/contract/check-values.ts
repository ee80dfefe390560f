// What fails when it runs, or is never true, whatever the data: kinds of values that do not go together.

import type { BinaryExpression, Expression } from 'luaparse'
import type { Refuse } from './head.ts'
import { redisCalls } from './redis-calls.ts'
import { lineOf } from './scope.ts'
import type { Script } from './script.ts'
import { type Kind, kindOf, shownValue } from './value-kinds.ts'

export function checkValues(script: Script, refuse: Refuse): void {
  for (const node of script.names.nodes)
    if (node.type === 'BinaryExpression') checkOperator(node, script, refuse)
  for (const { name, args } of redisCalls(script.names)) {
    for (const value of args) {
      const kind = kindOf(value, script)
      if (kind !== null && kind !== 'text' && kind !== 'number')
        refuse(
          lineOf(value),
          `${name} takes text and numbers, and ${shownValue(value)} is ${WORDS[kind]}: ${MENDS[kind]}`,
        )
    }
  }
}

const WORDS: Readonly<Record<Kind, string>> = {
  text: 'text',
  number: 'a number',
  truth: 'true or false',
  nil: 'nil',
  table: 'a table',
  function: 'a function',
}
const MENDS = {
  truth: "write condition and '1' or '0'",
  nil: "write '' for what is not there, or leave the argument out",
  table: 'write unpack(list), or one value of it',
  function: 'call it',
}

function checkOperator(node: BinaryExpression, script: Script, refuse: Refuse): void {
  const { operator, left, right } = node
  const kinds = [kindOf(left, script), kindOf(right, script)] as const
  if (operator === '..' || ARITHMETIC.has(operator)) {
    const odd = [left, right].find((_, at) => isNoOperand(kinds[at] ?? null))
    if (odd)
      refuse(
        lineOf(odd),
        `${shownValue(odd)} is ${WORDS[kindOf(odd, script) ?? 'nil']}, and ${operator} takes text and numbers: write a value for it, or tostring(…)`,
      )
  } else checkComparison(node, kinds, refuse)
}

const ARITHMETIC: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '^'])

function isNoOperand(kind: Kind | null): boolean {
  return kind !== null && kind !== 'text' && kind !== 'number'
}

function checkComparison(
  { operator, left, right, ...node }: BinaryExpression,
  [one, other]: readonly [Kind | null, Kind | null],
  refuse: Refuse,
): void {
  if (one === null || other === null || one === other || one === 'nil' || other === 'nil') return
  // What is not there is false: `== false` asks for that.
  if ([left, right].some(({ type }) => type === 'BooleanLiteral')) return
  const [first, second] = [described(left, one), described(right, other)]
  const line = node.loc?.start.line ?? 1
  refuse(
    line,
    `${first} and ${second} are compared by ${operator}, and Lua converts neither: ${mendOf(one, other)}`,
  )
}

function described(value: Expression, kind: Kind): string {
  return `${shownValue(value)} (${WORDS[kind]})`
}

function mendOf(one: Kind, other: Kind): string {
  const isOfNumber = [one, other].every((kind) => kind === 'text' || kind === 'number')
  return isOfNumber ? 'write tonumber(…) around the text' : 'compare values of one kind'
}
