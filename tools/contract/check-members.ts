import type { Refuse } from './head.ts'
import { orNearest } from './nearest.ts'
import { MEMBERS, OTHER_MEMBERS } from './offered.ts'
import { lineOf } from './scope.ts'
import type { Script } from './script.ts'

/** What a script takes of the libraries of Lua is there. */
export function checkMembers({ names }: Script, refuse: Refuse): void {
  for (const node of names.nodes) {
    if (node.type !== 'MemberExpression' || node.base.type !== 'Identifier') continue
    const [library, { name }] = [node.base.name, node.identifier]
    const known = names.bindingOf(node.base) === null ? MEMBERS.get(library) : undefined
    if (known === undefined || known.includes(name)) continue
    const other = OTHER_MEMBERS.find((each) => each.names.split(' ').includes(`${library}.${name}`))
    refuse(
      lineOf(node),
      other
        ? `${library}.${name} may not be used: ${other.mend}`
        : `${library} has no ${name}: ${orNearest(name, known, `it has ${known.join(', ')}`)}`,
    )
  }
}
