// A key that only goes into a table of keys needs no local of its own in the built script: Lua has two hundred for a script
// at most, and the names of all that it includes are among them.

import type { Identifier, Node, TableKeyString } from 'luaparse'
import type { Binding } from './scope.ts'
import type { Script } from './script.ts'

/** The built script with such keys written into their tables; line by line as before. */
export function withKeysInTables({ built, names, declarations }: Script): string {
  const lines = built.source.split('\n')
  const values = new Set<Node>(names.nodes.filter(isNamed).map(({ value }) => value))
  const uses: { use: Identifier; key: string }[] = []
  for (const { name, line, start } of declarations.keys) {
    const binding = names.bindings.find((each) => each.name === name && each.line === line)
    const use = binding && start === undefined ? onlyUse(binding) : null
    if (use === null || !values.has(use)) continue
    const [, key = '', about = ''] = /^local \w+ = (KEYS\[\d+\]) -- (.*)$/.exec(lines[line - 1] ?? '') ?? []
    if (key === '') continue
    lines[line - 1] = `-- ${key} ${name}: ${about}`
    uses.push({ use, key })
  }
  // From the last to the first: each moves what is behind it on its line.
  for (const { use, key } of uses.toSorted((one, other) => columnOf(other.use) - columnOf(one.use))) {
    replaceAt(lines, use, key)
  }
  return lines.join('\n')
}

function isNamed(node: Node): node is TableKeyString {
  return node.type === 'TableKeyString'
}

function onlyUse({ reads, writes }: Binding): Identifier | null {
  return reads.length === 1 && writes.length === 0 ? (reads[0] ?? null) : null
}

function columnOf({ loc }: Identifier): number {
  return loc?.start.column ?? 0
}

function replaceAt(lines: string[], { loc, name }: Identifier, text: string): void {
  if (loc === undefined) return
  const { line, column } = loc.start
  const before = lines[line - 1] ?? ''
  lines[line - 1] = before.slice(0, column) + text + before.slice(column + name.length)
}
