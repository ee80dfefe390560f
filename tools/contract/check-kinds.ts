// A command of hashes takes a hash: what `keys.lua` says of a key, and what a script does with it, agree.

import type { Expression } from 'luaparse'
import type { DeclaredKey } from './declarations.ts'
import { KINDS } from './declarations.ts'
import type { Refuse } from './head.ts'
import { keyPlaces } from './key-places.ts'
import { redisCalls } from './redis-calls.ts'
import { lineOf } from './scope.ts'
import type { Script } from './script.ts'

export function checkKinds(script: Script, refuse: Refuse): void {
  for (const call of redisCalls(script.names)) {
    const { kind } = call.command
    const places = keyPlaces(call)
    if (kind === null || 'unclear' in places) continue
    for (const key of places.keys) {
      const declared = declaredAs(key, script)
      if (declared === null || declared.type === 'any' || declared.type === kind) continue
      const [wanted, found] = [wordFor(kind), wordFor(declared.type)]
      refuse(lineOf(key), `${call.name} works on a ${wanted}, and ${declared.name} is a ${found}`)
    }
  }
}

/** The declaration of a key that is taken by its name; null for one that was handed on under another. */
function declaredAs(
  key: Expression,
  { names, declarations }: Script,
): Pick<DeclaredKey, 'name' | 'type'> | null {
  if (key.type === 'MemberExpression') {
    const { name } = key.identifier
    const found = declarations.keys.find((each) => each.name === name || each.name === `${name}_key`)
    return found ? { name, type: found.type } : null
  }
  const binding = names.bindingOf(key)
  return declarations.keys.find(({ name, line }) => name === binding?.name && line === binding.line) ?? null
}

function wordFor(type: string): string {
  return [...KINDS].find(([, each]) => each === type)?.[0] ?? type
}
