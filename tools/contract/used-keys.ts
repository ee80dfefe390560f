// Which keys of its structure a script uses. It takes them of the table `keys`, which it may hand on to functions, under whatever name.

import type { Identifier, MemberExpression, Node } from 'luaparse'
import { orNearest } from './nearest.ts'
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

const KEPT = 'the table keys is kept here: pass it to a function, or write keys.name for one key'
const LOST =
  'what becomes of the table keys cannot be seen here: pass it to a function that is defined once, with a parameter for it'
const INDEXED = 'the key cannot be seen here: write its name, keys.name'

class Finder implements UsedKeys {
  readonly direct: MemberExpression[] = []
  readonly given = new Set<string>()
  readonly #names: Names
  readonly #known: readonly string[]
  readonly #refuse: Refuse
  readonly #members: ReadonlyMap<Node, MemberExpression>
  readonly #indexed: ReadonlySet<Node>
  readonly #followed = new Set<Binding>()

  constructor(names: Names, known: readonly string[], refuse: Refuse) {
    this.#names = names
    this.#known = known
    this.#refuse = refuse
    this.#indexed = new Set<Node>(
      names.nodes.flatMap((node) => (node.type === 'IndexExpression' ? [node.base] : [])),
    )
    const members = names.nodes.filter((node) => node.type === 'MemberExpression')
    this.#members = new Map(members.map((node) => [node.base, node]))
  }

  find(): void {
    for (const name of this.#names.globalReads) {
      if (name.name !== 'keys') continue
      const member = this.#members.get(name)
      if (member === undefined) this.#follow(name)
      else {
        if (this.#mayStand(member)) this.direct.push(member)
      }
    }
  }

  /** The table is handed on: to which parameter, and what is taken of it there. */
  #follow(name: Identifier): void {
    const call = this.#names.calls.find((each) => argumentsOf(each).includes(name))
    const owner = this.#names.bindingOf(call?.base)
    const fn = owner?.fn
    if (call === undefined || !owner || !fn)
      return this.#refuse(lineOf(name), this.#indexed.has(name) ? INDEXED : KEPT)
    const binding = this.#names.bindingOf(fn.parameters[argumentsOf(call).indexOf(name)])
    const isOpen = fn.parameters.some(({ type }) => type === 'VarargLiteral')
    if (owner.writes.length > 0 || (binding === null && isOpen)) return this.#refuse(lineOf(name), LOST)
    if (binding === null) return // refused as a value too many
    if (this.#followed.has(binding)) return
    this.#followed.add(binding)
    for (const read of binding.reads) {
      const member = this.#members.get(read)
      if (member === undefined) this.#follow(read)
      else {
        this.given.add(member.identifier.name)
        this.#mayStand(member)
      }
    }
  }

  /** False for what is refused. */
  #mayStand(member: MemberExpression): boolean {
    const { name } = member.identifier
    const isKnown = this.#known.includes(name)
    const isSet = this.#names.targets.has(member)
    if (!isKnown)
      this.#refuse(
        lineOf(member),
        `the structure has no key ${name}: ${orNearest(name, this.#known, `list it in its keys.lua, ${name} = 'hash', -- what it holds`)}`,
      )
    else if (isSet)
      this.#refuse(
        lineOf(member),
        `keys.${name} may not be set, for it is the name of a key: call a command to change what the key holds`,
      )
    return isKnown && !isSet
  }
}
