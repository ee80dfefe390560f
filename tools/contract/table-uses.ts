import type { IndexExpression, MemberExpression, Node } from 'luaparse'
import { argumentsOf, type Binding, type Call, type Names } from './scope.ts'

/**
 * Where a table is only looked at: indexed, counted, looped over, unpacked, or passed to a parameter
 * that `isWatched` says is held to the same.
 */
export function safeUses(names: Names, isWatched: (parameter: Binding) => boolean): ReadonlySet<Node> {
  const safe = new Set<Node>()
  for (const node of names.nodes) {
    if (isLook(node)) safe.add(node.base)
    if (node.type === 'UnaryExpression' && node.operator === '#') safe.add(node.argument)
  }
  for (const call of names.calls) for (const use of lookedAt(call, names, isWatched)) safe.add(use)
  for (const target of names.targets) {
    if (isLook(target)) safe.delete(target.base)
  }
  return safe
}

function isLook(node: Node): node is IndexExpression | MemberExpression {
  return node.type === 'IndexExpression' || node.type === 'MemberExpression'
}

function lookedAt(call: Call, names: Names, isWatched: (parameter: Binding) => boolean): readonly Node[] {
  if (call.base.type === 'Identifier' && ['ipairs', 'unpack'].includes(call.base.name))
    return argumentsOf(call)
  const fn = names.bindingOf(call.base)?.fn
  return argumentsOf(call).filter((_, index) => {
    const parameter = names.bindingOf(fn?.parameters[index])
    return parameter !== null && isWatched(parameter)
  })
}
