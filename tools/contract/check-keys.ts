// Every key that a script touches is declared: on a cluster a key that the client did not name may
// live on another node. What stands where a command takes a key is traced back to a declaration,
// through parameters to every call of the function, until nothing new is found.

import type { Expression, ForGenericStatement, Node } from 'luaparse'
import type { Refuse } from './head.ts'
import { keyPlaces } from './key-places.ts'
import { looped, namedFields, unpacked } from './key-tables.ts'
import { redisCalls } from './redis-calls.ts'
import { argumentsOf, type Binding, lineOf, literal } from './scope.ts'
import type { Script } from './script.ts'
import { safeUses } from './table-uses.ts'
import { shownValue } from './value-kinds.ts'

export function checkKeys(script: Script, refuse: Refuse): void {
  if (!script.declarations.sound) return
  const tracer = new Tracer(script, refuse)
  for (const call of redisCalls(script.names)) {
    const places = keyPlaces(call)
    if ('message' in places) refuse(lineOf(call.node), places.message)
    else for (const key of places.keys) tracer.demandKey(key, call.name, call.command.keys)
  }
  tracer.checkTables()
}

/** A key, a list of keys, or a table that holds one under a name. */
type Wanted = 'key' | 'keys' | `.${string}`

class Tracer {
  readonly #script: Script
  readonly #refuse: Refuse
  /** Bindings that were followed already, and as what. */
  readonly #followed = new Map<Wanted, Set<Binding>>()
  readonly #loops: Map<Node, ForGenericStatement>
  readonly #callees: ReadonlySet<Node>
  readonly #scalar: ReadonlySet<string>
  readonly #repeated: ReadonlySet<string>

  constructor(script: Script, refuse: Refuse) {
    this.#script = script
    this.#refuse = refuse
    const { keys } = script.declarations
    this.#scalar = new Set(
      keys.flatMap(({ name, line, start }) => (start === undefined ? `${line} ${name}` : [])),
    )
    this.#repeated = new Set(
      keys.flatMap(({ name, line, start }) => (start === undefined ? [] : `${line} ${name}`)),
    )
    this.#callees = new Set(script.names.calls.map(({ base }) => base))
    this.#loops = new Map(
      script.names.nodes.flatMap((node) =>
        node.type === 'ForGenericStatement' ? node.variables.map((name) => [name, node] as const) : [],
      ),
    )
  }

  /** `taker` is the command or the function that takes the key. */
  demandKey(key: Expression, taker: string, places?: unknown): void {
    const many = unpacked(key, places)
    if (many) return this.#demandKeys(many, taker)
    if (key.type === 'IndexExpression') return this.#demandKeys(key.base, taker)
    if (key.type === 'MemberExpression') return this.#demandNamed(key.base, `.${key.identifier.name}`, taker)
    const binding = this.#script.names.bindingOf(key)
    if (!binding || !this.#isKey(binding, taker)) this.#refuseValue(key, taker)
  }

  /** Tables of keys may not change under way, or what was proven of them would not hold. */
  checkTables(): void {
    const tables = new Set<Binding>()
    for (const [wanted, bindings] of this.#followed) {
      if (wanted !== 'key') for (const binding of bindings) tables.add(binding)
    }
    const safe = safeUses(this.#script.names, (parameter) => tables.has(parameter))
    for (const binding of tables) {
      const odd = binding.reads.find((use) => !safe.has(use))
      if (odd)
        this.#refuse(
          lineOf(odd),
          `${binding.name} holds keys, which may only be read, counted and looped over: make another table for other values`,
        )
      this.#checkNamed(binding)
    }
  }

  #checkNamed(binding: Binding): void {
    for (const { key } of namedFields(binding)) {
      if (!this.#followed.get(`.${key.name}`)?.has(binding))
        this.#refuse(lineOf(key), `the key ${binding.name}.${key.name} is never used: remove it`)
    }
  }

  #isKey(binding: Binding, taker: string): boolean {
    if (binding.writes.length > 0) return false
    if (this.#scalar.has(`${binding.line} ${binding.name}`)) return true
    if (binding.kind === 'parameter') return this.#followParameter(binding, 'key')
    const { init } = binding
    if (init?.type === 'IndexExpression' && !isGlobal(init.base, 'ARGV', this.#script)) {
      this.#follow(binding, 'key', () => this.demandKey(init, taker))
      return true
    }
    return binding.kind === 'loop' && this.#followLoop(binding, taker)
  }

  #demandKeys(table: Expression, taker: string): void {
    if (table.type === 'TableConstructorExpression') return this.#demandItems(table, taker)
    const binding = this.#script.names.bindingOf(table)
    if (isTableOfKeys(table, this.#script)) return // refused where it stands
    if (!binding || !this.#isTable(binding, taker)) this.#refuseValue(table, taker)
  }

  #isTable(binding: Binding, taker: string): boolean {
    if (binding.writes.length > 0) return false
    if (this.#repeated.has(`${binding.line} ${binding.name}`)) {
      this.#follow(binding, 'keys', () => {})
      return true
    }
    if (binding.kind === 'parameter') return this.#followParameter(binding, 'keys')
    const { init } = binding
    if (init?.type !== 'TableConstructorExpression') return false
    this.#follow(binding, 'keys', () => this.#demandItems(init, taker))
    return true
  }

  #demandItems(table: Expression, taker: string): void {
    if (table.type !== 'TableConstructorExpression') return
    for (const field of table.fields) {
      if (field.type === 'TableValue') this.demandKey(field.value, taker)
      else
        this.#refuse(
          lineOf(field),
          `${taker} takes a key here: write the keys as a plain list, { keys.one, keys.other }`,
        )
    }
  }

  #demandNamed(table: Expression, name: `.${string}`, taker: string): void {
    const binding = this.#script.names.bindingOf(table)
    if (!binding || !this.#hasNamed(binding, name, taker)) this.#refuseValue(table, taker)
  }

  #hasNamed(binding: Binding, name: `.${string}`, taker: string): boolean {
    if (binding.writes.length > 0) return false
    if (binding.kind === 'parameter') return this.#followParameter(binding, name)
    const field = namedFields(binding).find(({ key }) => `.${key.name}` === name)
    if (field) this.#follow(binding, name, () => this.demandKey(field.value, taker))
    return field !== undefined
  }

  #followParameter(binding: Binding, wanted: Wanted): boolean {
    const { place } = binding
    const owner = place && this.#script.names.ownerOf(place.fn)
    if (!place || !owner || owner.writes.length > 0) return false
    this.#follow(binding, wanted, () => {
      for (const use of owner.reads) this.#demandFromCaller(use, owner, place.index, wanted)
    })
    return true
  }

  #demandFromCaller(use: Node, owner: Binding, index: number, wanted: Wanted): void {
    const call = this.#callees.has(use)
      ? this.#script.names.calls.find(({ base }) => base === use)
      : undefined
    if (!call)
      return this.#refuse(
        lineOf(use),
        `${owner.name} takes keys, and may not be passed on: call it here, so that its keys can be seen`,
      )
    const value = argumentsOf(call)[index]
    if (!value)
      this.#refuse(
        lineOf(call),
        `${owner.name} takes a key as argument ${index + 1}, which is missing here: write keys.name`,
      )
    else if (wanted === 'key') this.demandKey(value, owner.name)
    else if (wanted === 'keys') this.#demandKeys(value, owner.name)
    else this.#demandNamed(value, wanted, owner.name)
  }

  #followLoop(binding: Binding, taker: string): boolean {
    const loop = [...this.#loops].find(([name]) => this.#script.names.bindingOf(name) === binding)?.[1]
    const table = loop && loop.variables[1]?.name === binding.name ? looped(loop) : null
    if (!table) return false
    this.#follow(binding, 'key', () => this.#demandKeys(table, taker))
    return true
  }

  #follow(binding: Binding, wanted: Wanted, onward: () => void): void {
    const followed = this.#followed.get(wanted) ?? new Set()
    if (followed.has(binding)) return
    this.#followed.set(wanted, followed.add(binding))
    onward()
  }

  #refuseValue(value: Expression, taker: string): void {
    if (isTableOfKeys(value, this.#script)) return // refused where it stands
    this.#refuse(
      lineOf(value),
      `${taker} takes a key here, and ${shownValue(value)} is none: ${this.#mendOf(value)}`,
    )
  }

  #mendOf(value: Expression): string {
    const binding = this.#script.names.bindingOf(value)
    if (binding !== null && binding.writes.length > 0)
      return 'its value changes, so take another name for the other value'
    const name = value.type === 'Identifier' ? value.name : literal(value)
    if (
      name !== null &&
      binding === null &&
      this.#script.built.keyList?.keys.some((key) => key.name === name)
    )
      return `write keys.${name}`
    if (value.type === 'BinaryExpression')
      return 'a key cannot be put together, so store the parts as fields of a hash, or open a unit for each name'
    return 'list it in keys.lua, and write keys.name'
  }
}

function isTableOfKeys(value: Expression, script: Script): boolean {
  return isGlobal(value, 'KEYS', script) || isGlobal(value, 'keys', script)
}

function isGlobal(value: Expression, name: string, { names }: Script): boolean {
  return value.type === 'Identifier' && value.name === name && names.bindingOf(value) === null
}
