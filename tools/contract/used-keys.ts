// Which keys of its structure a script uses. It takes them of the table `keys`, which it may hand on to functions, under whatever name.

import type { Identifier, MemberExpression, Node } from 'luaparse'
import { nearest } from './nearest.ts'
import { argumentsOf, type Binding, lineOf, type Names } from './scope.ts'
import type { Refuse } from './head.ts'

export interface UsedKeys {
  /** Where the script itself takes a key: `keys.ready`. */
  readonly direct: readonly MemberExpression[]
  /** The names that functions take of the table that they are given. */
  readonly given: ReadonlySet<string>
}

export function usedKeys(names: Names, known: readonly string[], refuse: Refuse): UsedKeys {
  const finder = new Finder(names, known, refuse)
  finder.find()
  return finder
}

class Finder implements UsedKeys {
  readonly direct: MemberExpression[] = []
  readonly given = new Set<string>()
  readonly #names: Names
  readonly #known: readonly string[]
  readonly #refuse: Refuse
  readonly #members: ReadonlyMap<Node, MemberExpression>
  readonly #followed = new Set<Binding>()

  constructor(names: Names, known: readonly string[], refuse: Refuse) {
    this.#names = names
    this.#known = known
    this.#refuse = refuse
    const members = names.nodes.filter((node) => node.type === 'MemberExpression')
    this.#members = new Map(members.map((node) => [node.base, node]))
  }

  find(): void {
    for (const name of this.#names.globalReads) {
      if (name.name !== 'keys') continue
      const member = this.#members.get(name)
      if (member === undefined) this.#follow(name)
      else {
        this.direct.push(member)
        this.#check(member)
      }
    }
  }

  /** The table is handed on: to which parameter, and what is taken of it there. */
  #follow(name: Identifier): void {
    const call = this.#names.calls.find((each) => argumentsOf(each).includes(name))
    const fn = call && this.#names.bindingOf(call.base)?.fn
    if (call === undefined || !fn)
      return this.#refuse(lineOf(name), 'keys may be given to a function, or asked for a key, no more')
    const parameter = fn.parameters[argumentsOf(call).indexOf(name)]
    const binding = this.#names.bindingOf(parameter)
    if (!binding || this.#followed.has(binding)) return
    this.#followed.add(binding)
    for (const read of binding.reads) {
      const member = this.#members.get(read)
      if (member === undefined) this.#follow(read)
      else {
        this.given.add(member.identifier.name)
        this.#check(member)
      }
    }
  }

  #check(member: MemberExpression): void {
    const { name } = member.identifier
    if (this.#known.includes(name)) return
    const like = nearest(name, this.#known)
    this.#refuse(
      lineOf(member),
      `the structure has no key ${name}: ${like === null ? `list it in its keys.lua, ${name} = 'hash', -- what it holds` : `did you mean ${like}?`}`,
    )
  }
}
