// Which calls leave something else behind when their script runs a second time, or lose what the first time took out:
// a call whose answer was lost is sent again. What a script makes of what it has read, no list of commands can tell.

import type { Expression } from 'luaparse'
import type { RedisCall } from './redis-calls.ts'
import { literal } from './scope.ts'

const ALWAYS: ReadonlySet<string> = new Set(
  `INCR INCRBY INCRBYFLOAT DECR DECRBY APPEND GETSET GETDEL RENAME RENAMENX
   HINCRBY HINCRBYFLOAT ZINCRBY
   LPUSH RPUSH LPUSHX RPUSHX LINSERT LPOP RPOP RPOPLPUSH LMOVE LMPOP
   SPOP ZPOPMIN ZPOPMAX ZMPOP
   XADD XCLAIM XAUTOCLAIM XREADGROUP`.split(/\s+/),
)

/** By what stands behind the command. An argument that is not written out is taken for the worse. */
const SOMETIMES: Readonly<Record<string, (args: readonly Expression[]) => boolean>> = {
  SET: (args) => says(args, 'GET'),
  ZADD: (args) => says(args, 'INCR'),
  BITFIELD: (args) => says(args, 'INCRBY'),
  RESTORE: (args) => !says(args, 'REPLACE'),
  XGROUP: (args) => says(args.slice(0, 1), 'CREATE'),
  LREM: (args) => constant(args[1]) !== '0',
  // What is kept is counted from one end: the second time it is all there is.
  LTRIM: (args) => !keepsEnd(constant(args[1]), constant(args[2])),
  ZREMRANGEBYRANK: (args) => !leavesEnd(constant(args[1]), constant(args[2])),
  ZUNIONSTORE: intoSource,
  ZINTERSTORE: intoSource,
  BITOP: (args) => literal(args[0]) === 'XOR' && intoSource(args.slice(1)),
}

/** True where running the call twice is not the same as running it once. */
export function differsTwice({ name, args }: RedisCall): boolean {
  return ALWAYS.has(name) || (SOMETIMES[name]?.(args) ?? false)
}

function says(args: readonly Expression[], word: string): boolean {
  return args.some((argument) => literal(argument)?.toUpperCase() === word)
}

/** A number or a text that is written out; null for what is computed. */
function constant(node: Expression | undefined): string | null {
  if (node?.type === 'NumericLiteral') return node.raw
  if (node?.type !== 'UnaryExpression' || node.operator !== '-') return literal(node)
  const number = constant(node.argument)
  return number && `-${number}`
}

function keepsEnd(first: string | null, last: string | null): boolean {
  if (first === '0') return last !== null && (last === '-1' || !last.startsWith('-'))
  return first !== null && first.startsWith('-') && last === '-1'
}

/** Ranks from one end, up to a number that is counted from the other. */
function leavesEnd(first: string | null, last: string | null): boolean {
  if (first === '0') return last !== null && last.startsWith('-')
  return first !== null && !first.startsWith('-') && last === '-1'
}

function intoSource([target, ...args]: readonly Expression[]): boolean {
  if (target?.type !== 'Identifier') return true
  return args.some((argument) => argument.type === 'Identifier' && argument.name === target.name)
}
