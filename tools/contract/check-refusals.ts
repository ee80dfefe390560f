// What a function gives back first may refuse the call: such a function is called with `try`, or its caller looks at what it gives.

import type { FunctionDeclaration, Node } from 'luaparse'
import type { Refuse } from './head.ts'
import { redisMember } from './redis-calls.ts'
import { returnsOf } from './returns.ts'
import { type Call, lineOf, type Names } from './scope.ts'
import type { Script } from './script.ts'

export function checkRefusals({ names }: Script, refuse: Refuse): void {
  const looked = callsLookedAt(names)
  for (const call of names.calls) {
    const fn = names.bindingOf(call.base)?.fn
    const name = names.bindingOf(call.base)?.name
    if (!fn || !mayRefuse(fn, names) || looked.has(call)) continue
    refuse(lineOf(call), `${name} may refuse the call: write local name = try(${name}(…))`)
  }
}

/** Whether it gives back an error first, of its own or of another function. */
function mayRefuse(fn: FunctionDeclaration, names: Names): boolean {
  return returnsOf(fn.body).some(({ arguments: [first] }) => {
    const call = first?.type === 'Identifier' ? callOfFirst(first, names) : first
    if (call?.type !== 'CallExpression') return false
    if (redisMember(call.base, names) === 'error_reply') return true
    const called = names.bindingOf(call.base)?.fn
    return called != null && called !== fn && mayRefuse(called, names)
  })
}

/** Calls whose first value is given back, or has a name of which only that, or whether there is one, is asked. */
function callsLookedAt(names: Names): ReadonlySet<Node> {
  const asked = new Set<Node>(
    names.nodes.flatMap((node): Node[] => {
      if (node.type === 'ReturnStatement') return node.arguments.slice(0, 1)
      return node.type === 'IfClause' || node.type === 'ElseifClause' ? [node.condition] : []
    }),
  )
  const named = names.nodes.flatMap((node) => {
    if (node.type !== 'LocalStatement' && node.type !== 'AssignmentStatement') return []
    const reads = names.bindingOf(node.variables[0])?.reads ?? []
    return reads.length > 0 && reads.every((read) => asked.has(read)) ? node.init.slice(0, 1) : []
  })
  return new Set<Node>([...asked, ...named])
}

/** The call whose first value a local holds; null for any other. */
export function callOfFirst(node: Node, names: Names): Call | null {
  const binding = names.bindingOf(node)
  if (binding === null) return null
  for (const each of names.nodes) {
    if (each.type !== 'LocalStatement' && each.type !== 'AssignmentStatement') continue
    const [init] = each.init
    if (names.bindingOf(each.variables[0]) === binding && init?.type === 'CallExpression') return init
  }
  return null
}
