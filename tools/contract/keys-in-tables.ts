// A key that only goes into a table of keys needs no local of its own in the built script: Lua has two hundred for a script
// at most, and the names of all that it includes are among them.

import type { Identifier, Node, TableKeyString } from 'luaparse'
import type { Edit } from './edit.ts'
import { type Binding, spanOf } from './scope.ts'
import type { Script } from './script.ts'

/** What writes such keys into their tables; line by line as before. */
export function keysInTables({ names, built, declarations }: Script): Edit[] {
  const values = new Set<Node>(names.nodes.filter(isNamed).map(({ value }) => value))
  return declarations.keys.flatMap(({ name, line, start }) => {
    const binding = names.bindings.find((each) => each.name === name && each.line === line)
    const use = binding && start === undefined ? onlyUse(binding) : null
    if (!binding?.statement || use === null || !values.has(use)) return []
    const { from } = spanOf(binding.statement)
    const end = built.source.indexOf('\n', from)
    const [, key = ''] = /^local \w+ = (KEYS\[\d+\]) -- /.exec(built.source.slice(from, end)) ?? []
    if (key === '') return []
    return [
      { from, to: end, text: '' },
      { ...spanOf(use), text: key },
    ]
  })
}

function isNamed(node: Node): node is TableKeyString {
  return node.type === 'TableKeyString'
}

function onlyUse({ reads, writes }: Binding): Identifier | null {
  return reads.length === 1 && writes.length === 0 ? (reads[0] ?? null) : null
}
