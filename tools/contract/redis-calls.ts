import type { Expression, MemberExpression } from 'luaparse'
import { type Command, command } from './commands.ts'
import { argumentsOf, type Call, literal, type Names } from './scope.ts'

/** A call of a known command: `args` is what follows its name. */
export interface RedisCall {
  readonly node: Call
  readonly name: string
  readonly command: Command
  readonly args: readonly Expression[]
}

/** The name behind `redis.` when a node is such an access. */
export function redisMember(node: Expression, names: Names): string | null {
  return isRedisMember(node, names) ? node.identifier.name : null
}

export function redisCalls(names: Names): RedisCall[] {
  return names.calls.flatMap((node) => {
    if (!['call', 'pcall'].includes(redisMember(node.base, names) ?? '')) return []
    const [first, ...args] = argumentsOf(node)
    const name = literal(first)
    const known = name === null ? null : command(name)
    return name !== null && known ? [{ node, name, command: known, args }] : []
  })
}

function isRedisMember(node: Expression, names: Names): node is MemberExpression {
  return (
    node.type === 'MemberExpression' &&
    node.base.type === 'Identifier' &&
    node.base.name === 'redis' &&
    names.bindingOf(node.base) === null
  )
}
