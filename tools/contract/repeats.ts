// Which calls leave something else behind when their script runs a second time, or lose what the first time took out:
// a call whose answer was lost is sent again. A list of commands cannot show what a script makes of its reads.

import type { Expression } from 'luaparse'
import type { RedisCall } from './redis-calls.ts'
import { mayBeSameKey } from './same-key.ts'
import { literal, type Names } from './scope.ts'

const ALWAYS: ReadonlySet<string> = new Set(
  `INCR INCRBY INCRBYFLOAT DECR DECRBY APPEND GETSET GETDEL RENAME RENAMENX
   HINCRBY HINCRBYFLOAT ZINCRBY
   LPUSH RPUSH LPUSHX RPUSHX LINSERT LPOP RPOP RPOPLPUSH LMOVE LMPOP
   SPOP ZPOPMIN ZPOPMAX ZMPOP
   XADD XCLAIM XAUTOCLAIM XREADGROUP`.split(/\s+/),
)

/** By the arguments of the command. For an argument that is not a literal the worse case is assumed. */
const SOMETIMES: Readonly<Record<string, (args: readonly Expression[], names: Names) => boolean>> = {
  SET: (args) => mayReadBack(args.slice(2)),
  ZADD: (args) => mayAdd(args.slice(1)),
  BITFIELD: (args) => mayIncrease(args.slice(1)),
  RESTORE: (args) => !says(args, 'REPLACE'),
  XGROUP: (args) => !['SETID', 'DESTROY', 'CREATECONSUMER', 'DELCONSUMER'].includes(word(args[0]) ?? ''),
  LREM: (args) => constant(args[1]) !== '0',
  // What is kept is counted from one end: the second time it is all there is.
  LTRIM: (args) => !keepsEnd(constant(args[1]), constant(args[2])),
  ZREMRANGEBYRANK: (args) => !leavesEnd(constant(args[1]), constant(args[2])),
  ZUNIONSTORE: ([into, , ...from], names) => isAmong(into, from, names),
  ZINTERSTORE: ([into, , ...from], names) => isAmong(into, from, names),
  ZRANGESTORE: ([into, from], names) => isAmong(into, [from], names),
  // Less the others of what is there already: the second time nothing of them is left.
  SDIFFSTORE: ([into, , ...less], names) => isAmong(into, less, names),
  ZDIFFSTORE: ([into, , , ...less], names) => isAmong(into, less, names),
  BITOP: ([how, into, ...from], names) =>
    !['AND', 'OR'].includes(word(how) ?? '') && isAmong(into, from, names),
}

/** True where running the call twice is not the same as running it once. */
export function differsTwice({ name, args }: RedisCall, names: Names): boolean {
  return ALWAYS.has(name) || (SOMETIMES[name]?.(args, names) ?? false)
}

function word(node: Expression | undefined): string | null {
  return literal(node)?.toUpperCase() ?? null
}

/** Options of SET, some with a value behind them. */
function mayReadBack(options: readonly Expression[]): boolean {
  for (let at = 0; at < options.length; at++) {
    const option = word(options[at])
    if (option === null || option === 'GET') return true
    if (['EX', 'PX', 'EXAT', 'PXAT'].includes(option)) at += 1
  }
  return false
}

const PARTS_OF_BITFIELD: ReadonlyMap<string, number> = new Map([
  ['GET', 3],
  ['SET', 4],
  ['OVERFLOW', 2],
])

function mayIncrease(parts: readonly Expression[]): boolean {
  for (let at = 0; at < parts.length; ) {
    const size = PARTS_OF_BITFIELD.get(word(parts[at]) ?? '')
    if (size === undefined) return true
    at += size
  }
  return false
}

/** Behind the options stand pairs: one argument more is an option that is not written out. */
function mayAdd(args: readonly Expression[]): boolean {
  const options = optionsOf(args)
  const isMany = ['CallExpression', 'VarargLiteral'].includes(args.at(-1)?.type ?? '')
  return options.includes('INCR') || (!isMany && (args.length - options.length) % 2 === 1)
}

/** The words before the first score. */
function optionsOf(args: readonly Expression[]): (string | null)[] {
  const words = args.map(word)
  const end = words.findIndex((each) => !['NX', 'XX', 'GT', 'LT', 'CH', 'INCR'].includes(each ?? ''))
  return end < 0 ? words : words.slice(0, end)
}

function says(args: readonly Expression[], option: string): boolean {
  return args.some((argument) => word(argument) === option)
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

/** Weights and similar options are there too, and are no keys. */
function isAmong(
  into: Expression | undefined,
  from: readonly (Expression | undefined)[],
  names: Names,
): boolean {
  const keys = from.filter((each) => each !== undefined && !isPlain(each)) as Expression[]
  return into === undefined || keys.some((key) => mayBeSameKey(into, key, names))
}

function isPlain(node: Expression): boolean {
  return constant(node) !== null
}
