// What kind of value an expression gives, where that can be seen.

import type { CallExpression, Expression } from 'luaparse'
import { redisMember } from './redis-calls.ts'
import { literal } from './scope.ts'
import type { Script } from './script.ts'

/** `truth` is true or false. */
export type Kind = 'text' | 'number' | 'truth' | 'nil' | 'table' | 'function'

const OF_ARGUMENTS: Readonly<Record<string, Kind>> = {
  text: 'text',
  bytes: 'text',
  integer: 'number',
  number: 'number',
  flag: 'truth',
}
const OF_OPERATORS: ReadonlyMap<string, Kind> = new Map([
  ...['+', '-', '*', '/', '%', '^', '#'].map((sign) => [sign, 'number'] as const),
  ...['==', '~=', '<', '<=', '>', '>=', 'not'].map((sign) => [sign, 'truth'] as const),
  ['..', 'text'],
])
const OF_NODES: Readonly<Partial<Record<Expression['type'], Kind>>> = {
  NumericLiteral: 'number',
  StringLiteral: 'text',
  BooleanLiteral: 'truth',
  NilLiteral: 'nil',
  TableConstructorExpression: 'table',
  FunctionDeclaration: 'function',
}
/** Of commands whose answer is of one kind whatever follows them; false for what is not there counts as text. */
const OF_COMMANDS: ReadonlyMap<string, Kind> = new Map([
  ...'GET HGET LINDEX GETDEL GETRANGE ZSCORE INCRBYFLOAT HINCRBYFLOAT ZINCRBY'
    .split(' ')
    .map((name) => [name, 'text'] as const),
  ...`DECR DECRBY DEL EXISTS HDEL HEXISTS HINCRBY HLEN HSET HSETNX INCR INCRBY LLEN LPUSH PTTL PUBLISH RPUSH SADD SCARD
   SISMEMBER SREM STRLEN TTL UNLINK XLEN ZCARD ZCOUNT ZREM`
    .split(/\s+/)
    .map((name) => [name, 'number'] as const),
])
const DEEPEST = 10

/** Null where it cannot be seen. */
export function kindOf(value: Expression, script: Script, depth = 0): Kind | null {
  if ('operator' in value && value.type !== 'LogicalExpression')
    return OF_OPERATORS.get(value.operator) ?? null
  if (value.type === 'Identifier') return depth < DEEPEST ? kindOfName(value, script, depth) : null
  if (value.type === 'CallExpression') return kindOfCall(value, script)
  return OF_NODES[value.type] ?? null
}

function kindOfName(name: Expression, script: Script, depth: number): Kind | null {
  const binding = script.names.bindingOf(name)
  if (binding === null || binding.writes.length > 0) return null
  const declared = script.declarations.arguments.find(
    (each) => each.name === binding.name && each.line === binding.line,
  )
  if (declared) return OF_ARGUMENTS[declared.type] ?? null
  return binding.init === null ? null : kindOf(binding.init, script, depth + 1)
}

function kindOfCall({ base, arguments: [first] }: CallExpression, { names }: Script): Kind | null {
  const member = redisMember(base, names)
  if (member === 'call' || member === 'pcall') return OF_COMMANDS.get(literal(first) ?? '') ?? null
  if (base.type === 'Identifier') return base.name === 'tostring' ? 'text' : null
  if (base.type !== 'MemberExpression' || base.base.type !== 'Identifier') return null
  const [library, { name }] = [base.base.name, base.identifier]
  if (library === 'math') return name === 'modf' || name === 'frexp' ? null : 'number'
  return library === 'string' && name === 'format' ? 'text' : null
}

/** As a message shows it. */
export function shownValue(value: Expression): string {
  if (value.type === 'Identifier') return value.name
  if (value.type === 'NumericLiteral') return value.raw
  return literal(value) === null ? 'this value' : `'${literal(value)}'`
}
