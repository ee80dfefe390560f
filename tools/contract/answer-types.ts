// Values of answers that can be seen not to be of their type: Redis would cut them, or the caller could not read them.

import type { Expression } from 'luaparse'
import type { AnswerField } from './contract.ts'
import type { Script } from './script.ts'
import { type Kind, kindOf } from './value-kinds.ts'

/** What kind of value Redis has to be given, so that the caller can read it. */
const WANTED: Readonly<Record<AnswerField['type'], Kind>> = {
  integer: 'number',
  flag: 'number',
  number: 'text',
  big: 'text',
  text: 'text',
  bytes: 'text',
  list: 'table',
}

/** What is wrong with a value of an answer; null where nothing can be seen. */
export function mismatch(
  { name, type, optional }: AnswerField,
  value: Expression,
  script: Script,
): string | null {
  const kind = kindOf(value, script)
  if (kind === null || kind === 'nil' || (optional && isFalse(value))) return null
  if (type === 'integer' && isFraction(value))
    return `${name} is an integer, and Redis cuts fractions off: write math.floor(…) around the value`
  if (kind === WANTED[type]) return null
  if (kind === 'truth')
    return `${name} is true or false here, and Redis sends nothing for false: write condition and 1 or 0, and ${name}:flag in @returns`
  if (type === 'number' || type === 'big')
    return `${name} is declared as ${type}, which travels as text: write string.format('${type === 'big' ? '%.0f' : '%.17g'}', …) around the value`
  if (type === 'list') return `${name} is declared as a list, and this value is none: write { … } around it`
  if (kind === 'text')
    return `${name} is declared as ${type}, and this value is text: write tonumber(…) around it`
  if (kind === 'number')
    return `${name} is declared as ${type}, and this value is a number: write tostring(…) around it`
  return `${name} is declared as ${type}, and this value is a list: declare ${name}:[field:type]`
}

function isFalse(value: Expression): boolean {
  return value.type === 'BooleanLiteral' && !value.value
}

/** Not what divides the length of a list: that has groups of one size. */
function isFraction(value: Expression): boolean {
  if (value.type === 'BinaryExpression') return value.operator === '/' && !hasLength(value.left)
  return value.type === 'NumericLiteral' && !Number.isInteger(value.value)
}

function hasLength(value: Expression): boolean {
  if (value.type === 'BinaryExpression') return hasLength(value.left) || hasLength(value.right)
  return value.type === 'UnaryExpression' && value.operator === '#'
}
