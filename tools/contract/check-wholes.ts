// Commands that read all that a key holds: how much that is, `@cost` says.

import type { Refuse } from './head.ts'
import { type RedisCall, redisCalls } from './redis-calls.ts'
import { lineOf, literal } from './scope.ts'
import type { Script } from './script.ts'

const WHOLE: ReadonlySet<string> = new Set(['HGETALL', 'HKEYS', 'HVALS', 'SMEMBERS'])
const RANGES: ReadonlySet<string> = new Set(['LRANGE', 'ZRANGE', 'ZREVRANGE'])

export function checkWholes({ head, names }: Script, refuse: Refuse): void {
  if (!/^O\(1\)\.?$/.test(head.cost)) return
  for (const call of redisCalls(names)) {
    if (readsAll(call))
      refuse(
        lineOf(call.node),
        `${call.name} reads all that the key holds, and @cost says O(1): write what bounds it, such as @cost O(seats), or read less`,
      )
  }
}

function readsAll({ name, args }: RedisCall): boolean {
  if (WHOLE.has(name)) return true
  if (!RANGES.has(name) || args.length > 4) return false
  return textOf(args[1]) === '0' && textOf(args[2]) === '-1'
}

function textOf(node: RedisCall['args'][number] | undefined): string | null {
  if (node?.type === 'NumericLiteral') return node.raw
  if (node?.type !== 'UnaryExpression') return literal(node)
  return `${node.operator}${textOf(node.argument)}`
}
