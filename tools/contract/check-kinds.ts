// A command of hashes takes a hash: what `keys.lua` says of a key, and what a script does with it, agree.

import type { Expression } from 'luaparse'
import { KINDS } from './declarations.ts'
import type { Refuse } from './head.ts'
import { keyPlaces } from './key-places.ts'
import { redisCalls } from './redis-calls.ts'
import { argumentsOf, type Binding, lineOf } from './scope.ts'
import type { Script } from './script.ts'

export function checkKinds(script: Script, refuse: Refuse): void {
  for (const call of redisCalls(script.names)) {
    const { kind } = call.command
    const places = keyPlaces(call)
    if (kind === null || 'message' in places) continue
    for (const { node, name, type } of places.keys.flatMap((key) => keysAt(key, script, new Set()))) {
      if (type === 'any' || type === kind) continue
      const [wanted, found] = [wordFor(kind), wordFor(type)]
      refuse(
        lineOf(node),
        `${call.name} works on a ${wanted}, and ${name} is a ${found}: take a command of a ${found}, or list the key as '${wanted}'`,
      )
    }
  }
}

/** A declared key, and where a script takes it. */
interface Taken {
  readonly node: Expression
  readonly name: string
  readonly type: string
}

/** The declared keys that an expression may be: by its name, or through the parameter of a function. */
function keysAt(node: Expression, script: Script, followed: Set<Binding>): Taken[] {
  const { names, declarations } = script
  if (node.type === 'MemberExpression') {
    const { name } = node.identifier
    const found = declarations.keys.find(({ part }) => part.replaceAll('-', '_') === name)
    return found ? [{ node, name, type: found.type }] : []
  }
  const binding = names.bindingOf(node)
  if (binding === null) return []
  if (binding.place !== null) return keysOfCallers(binding, script, followed)
  const found = declarations.keys.find(({ name, line }) => name === binding.name && line === binding.line)
  return found ? [{ node, name: found.part.replaceAll('-', '_'), type: found.type }] : []
}

function keysOfCallers(parameter: Binding, script: Script, followed: Set<Binding>): Taken[] {
  const { place } = parameter
  const owner = place && script.names.ownerOf(place.fn)
  if (!place || !owner || followed.has(parameter)) return []
  followed.add(parameter)
  return script.names.calls.flatMap((call) => {
    const given = script.names.bindingOf(call.base) === owner ? argumentsOf(call)[place.index] : undefined
    return given === undefined ? [] : keysAt(given, script, followed)
  })
}

function wordFor(type: string): string {
  return [...KINDS].find(([, each]) => each === type)?.[0] ?? type
}
