// Whether a script changes the list that a global has, by whatever name it knows that list.

import type { Node } from 'luaparse'
import { argumentsOf, type Binding, type Call, type Names } from './scope.ts'

/** What reads a list that it is given, and does nothing else with it. */
const READERS: ReadonlySet<string> = new Set(['ipairs', 'unpack'])

/** True where each use of the list reads it, and no other code gets it. */
export function isOnlyRead(names: Names, list: string): boolean {
  const looks = new Set(looksIn(names))
  const others = new Map(namings(names))
  const seen = new Set<Binding>()
  const areReads = (uses: readonly Node[]): boolean =>
    uses.every((use) => {
      if (looks.has(use)) return true
      const binding = others.get(use)
      if (binding === undefined || binding.writes.length > 0) return false
      if (seen.has(binding)) return true
      seen.add(binding)
      return areReads(binding.reads)
    })
  return areReads(names.globalReads.filter(({ name }) => name === list))
}

/** Where the items or the number of items of a list are read. */
function looksIn(names: Names): Node[] {
  const looks = names.nodes.flatMap((node) => {
    if (node.type === 'IndexExpression') return names.targets.has(node) ? [] : [node.base]
    return node.type === 'UnaryExpression' && node.operator === '#' ? [node.argument] : []
  })
  return [...looks, ...names.calls.filter((call) => isReader(call, names)).flatMap(argumentsOf)]
}

function isReader({ base }: Call, names: Names): boolean {
  return base.type === 'Identifier' && READERS.has(base.name) && names.bindingOf(base) === null
}

/** Values that get another name: that of a local, or of a parameter. */
function namings(names: Names): [Node, Binding][] {
  const pairs = names.nodes.flatMap((node): [Node, Node | undefined][] =>
    node.type === 'LocalStatement' ? node.init.map((value, at) => [value, node.variables[at]]) : [],
  )
  const passed = names.calls.flatMap((call): [Node, Node | undefined][] => {
    const owner = names.bindingOf(call.base)
    const parameters = owner?.writes.length === 0 ? owner.fn?.parameters : undefined
    return argumentsOf(call).map((argument, at) => [argument, parameters?.[at]])
  })
  return [...pairs, ...passed].flatMap(([value, name]): [Node, Binding][] => {
    const binding = names.bindingOf(name)
    return binding === null ? [] : [[value, binding]]
  })
}
