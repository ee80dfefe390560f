// Whether two arguments of a command may be one key, whatever they are called where it is: keys go by the names of parameters,
// and of fields of tables.

import type { Expression, FunctionDeclaration } from 'luaparse'
import { argumentsOf, type Binding, type Call, type Names } from './scope.ts'

/** A value, or what a table has under a name. */
interface Ref {
  readonly node: Expression
  readonly field: string | null
}

type Parameter = NonNullable<Binding['place']>

const DEEPEST = 10

/** What cannot be followed may be any key. */
export function mayBeSameKey(one: Expression, other: Expression, names: Names): boolean {
  return new Follower(names).areSame(refTo(one), refTo(other), 0)
}

class Follower {
  readonly #names: Names

  constructor(names: Names) {
    this.#names = names
  }

  areSame(first: Ref, second: Ref, depth: number): boolean {
    const [one, other] = [this.#resolved(first), this.#resolved(second)]
    const [binding, another] = [this.#names.bindingOf(one.node), this.#names.bindingOf(other.node)]
    if (binding === null || another === null || depth > DEEPEST) return true
    if (binding === another && one.field === other.field) return true
    const fn = (binding.place ?? another.place)?.fn
    if (fn === undefined) return one.field !== null || other.field !== null
    const calls = this.#callsOf(fn)
    if (calls === null) return true
    return calls.some((call) =>
      this.areSame(this.#given(one, fn, call), this.#given(other, fn, call), depth + 1),
    )
  }

  /** Of a field of a table that is written out, its value. */
  #resolved(ref: Ref): Ref {
    const { node, field } = ref
    const table = this.#names.bindingOf(node)?.init ?? node
    if (field === null || table.type !== 'TableConstructorExpression') return ref
    const found = table.fields.find((each) => each.type === 'TableKeyString' && each.key.name === field)
    return found === undefined ? ref : refTo(found.value)
  }

  /** What a caller gives for a parameter. */
  #given(ref: Ref, fn: FunctionDeclaration, call: Call): Ref {
    const place: Parameter | null = this.#names.bindingOf(ref.node)?.place ?? null
    const value = place?.fn === fn ? argumentsOf(call)[place.index] : undefined
    if (value === undefined) return ref
    return ref.field === null ? refTo(value) : { node: value, field: ref.field }
  }

  /** Null where not all are known. */
  #callsOf(fn: FunctionDeclaration): Call[] | null {
    const owner = this.#names.ownerOf(fn)
    if (owner === null || owner.writes.length > 0) return null
    return this.#names.calls.filter(({ base }) => this.#names.bindingOf(base) === owner)
  }
}

function refTo(node: Expression): Ref {
  if (node.type !== 'MemberExpression') return { node, field: null }
  return { node: node.base, field: node.identifier.name }
}
