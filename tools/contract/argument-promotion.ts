// Functions take what they read of a table of keys or arguments, and not the table: where nothing needs the whole
// table any more, no call makes it. Compilers call this argument promotion. Each line stays the line it was.

import type { CallExpression, Expression, MemberExpression, Node } from 'luaparse'
import { type Edit, withEdits } from './edit.ts'
import { namedFields } from './key-tables.ts'
import { locate } from './locate.ts'
import { parseLua } from './parse-lua.ts'
import { type Binding, lineOf, type Names, resolve, spanOf } from './scope.ts'
import type { Script } from './script.ts'

/** A function that reads more of a table takes it whole: each of them would be passed in every call. */
const MOST_FIELDS = 3

/** The same script with such functions. */
export function withPromotedArguments(script: Script): Script {
  const source = withEdits(script.built.source, new Promotion(script).edits())
  const chunk = parseLua(source, () => {})
  if (chunk === null) return script
  return { ...script, built: { ...script.built, source }, chunk, names: resolve(chunk) }
}

/** A table that the compiler writes: `local call_id = { caller = ARGV[1], call = ARGV[2] }`. */
interface Source {
  readonly isOfKeys: boolean
  /** What each field is set to. */
  readonly values: ReadonlyMap<string, Expression>
}

/** The whole table as an argument. */
interface Passing {
  readonly call: CallExpression
  readonly index: number
}

class Promotion {
  readonly #script: Script
  readonly #names: Names
  readonly #sources: ReadonlyMap<Binding, Source>
  /** The parameters that are such a table wherever their functions are called. */
  readonly #tables: ReadonlySet<Binding>
  /** Those of them in whose place the function takes what it reads. */
  readonly #promoted: ReadonlySet<Binding>
  readonly #members: ReadonlyMap<Node, MemberExpression>
  readonly #passings: ReadonlyMap<Node, Passing>
  readonly #calls: ReadonlyMap<Node, CallExpression>
  /** Between the names of a table and its field: with so many underscores the script has no name. */
  readonly #between: string

  constructor(script: Script) {
    const { nodes, calls } = script.names
    this.#script = script
    this.#names = script.names
    this.#members = new Map(nodes.filter(isMember).map((node) => [node.base, node]))
    const plain = calls.filter((call) => call.type === 'CallExpression')
    this.#calls = new Map(plain.map((call) => [call.base, call]))
    this.#passings = new Map(
      plain.flatMap((call) => call.arguments.map((argument, index) => [argument, { call, index }])),
    )
    const underscores = script.built.source.match(/_+/g) ?? []
    this.#between = '_'.repeat(Math.max(1, ...underscores.map(({ length }) => length)) + 1)
    this.#sources = this.#findSources()
    this.#tables = this.#allOf(this.#parameters(), (each, tables) => this.#isTable(each, tables))
    this.#promoted = this.#allOf(this.#tables, (each, promoted) => this.#isPromoted(each, promoted))
  }

  edits(): Edit[] {
    const whole = new Set([...this.#sources.keys()].filter((source) => this.#isNeededWhole(source)))
    const inParameters = [...this.#tables].flatMap((parameter) => {
      if (!this.#promoted.has(parameter)) return this.#passingsOf(parameter, memberOf(parameter))
      const names = this.#fieldsOf(parameter).map(this.#nameIn(parameter))
      const declared = { ...spanOf(parameter.declared), text: names.join(', ') }
      return [declared, ...this.#readsOf(parameter, this.#nameIn(parameter))]
    })
    const inSources = [...this.#sources].flatMap(([source, { isOfKeys, values }]) => {
      if (whole.has(source)) return this.#passingsOf(source, memberOf(source))
      const textOf = (field: string): string => this.#textOf(values.get(field) as Expression)
      const name = isOfKeys ? textOf : this.#nameIn(source)
      return [...this.#dissolve(source, textOf, isOfKeys), ...this.#readsOf(source, name)]
    })
    return [...inParameters, ...inSources]
  }

  #findSources(): Map<Binding, Source> {
    const { chunk, built, declarations } = this.#script
    const found = new Map<Binding, Source>()
    for (const statement of chunk.body) {
      const binding = this.#names.bindings.find((each) => each.statement === statement)
      const fields = binding === undefined || binding.fn !== null ? [] : namedFields(binding)
      if (binding === undefined || fields.length === 0 || binding.writes.length > 0) continue
      const isOfKeys = locate(built.lines, binding.line).file === built.keyList?.file
      const values = new Map(fields.map(({ key, value }) => [key.name, value]))
      if (isOfKeys || (binding.line < declarations.after && this.#isOnlyRead(binding)))
        found.set(binding, { isOfKeys, values })
    }
    return found
  }

  /** Whether nothing can set a field of it: it is read, or handed to functions of which the same is true. */
  #isOnlyRead(table: Binding, seen = new Set<Binding>()): boolean {
    if (seen.has(table)) return true
    seen.add(table)
    return table.reads.every((read) => {
      if (this.#memberOf(read) !== null) return true
      const parameter = this.#passedTo(read)
      return parameter !== null && parameter.writes.length === 0 && this.#isOnlyRead(parameter, seen)
    })
  }

  /** Of functions that are called and nothing else. */
  #parameters(): Binding[] {
    const called = new Set<Node>(this.#names.calls.map(({ base }) => base))
    return this.#names.bindings.filter(({ place, writes }) => {
      const owner = place === null ? null : this.#names.ownerOf(place.fn)
      if (owner === null || writes.length > 0 || owner.writes.length > 0) return false
      return owner.reads.every((read) => called.has(read))
    })
  }

  /** The rest after every candidate that fails together with the others is removed. */
  #allOf(
    all: Iterable<Binding>,
    holds: (each: Binding, left: ReadonlySet<Binding>) => boolean,
  ): ReadonlySet<Binding> {
    const left = new Set(all)
    for (let before = -1; before !== left.size; ) {
      before = left.size
      for (const each of left) if (!holds(each, left)) left.delete(each)
    }
    return left
  }

  /** Whether each call of its function passes a table. */
  #isTable(parameter: Binding, tables: ReadonlySet<Binding>): boolean {
    return this.#givenTo(parameter).every(
      (given) => given !== null && (this.#sources.has(given) || tables.has(given)),
    )
  }

  /** What its function is called with; null for anything but a local. */
  #givenTo({ place }: Binding): (Binding | null)[] {
    const calls = (place && this.#names.ownerOf(place.fn)?.reads) ?? []
    return calls.map((read) => this.#names.bindingOf(this.#calls.get(read)?.arguments[place?.index ?? 0]))
  }

  /** The tables that it may be. */
  #sourcesOf(parameter: Binding, seen = new Set<Binding>()): Source[] {
    if (seen.has(parameter)) return []
    seen.add(parameter)
    return this.#givenTo(parameter).flatMap((given) => {
      if (given === null) return []
      const source = this.#sources.get(given)
      return source === undefined ? this.#sourcesOf(given, seen) : [source]
    })
  }

  /** Whether its function reads few fields of it, or hands it on to others that do. */
  #isPromoted(parameter: Binding, promoted: ReadonlySet<Binding>): boolean {
    const fields = this.#fieldsIn(parameter, promoted)
    if (fields.length === 0 || fields.length > MOST_FIELDS) return false
    // A field that is not among the values is set elsewhere.
    if (this.#sourcesOf(parameter).some(({ values }) => !fields.every((field) => values.has(field))))
      return false
    return parameter.reads.every(
      (read) => this.#memberOf(read) !== null || this.#promotedAt(read, promoted) !== null,
    )
  }

  #fieldsOf(parameter: Binding): readonly string[] {
    return this.#fieldsIn(parameter, this.#promoted)
  }

  /** What its function reads of it, and the functions that it is handed on to; by name. */
  #fieldsIn(
    parameter: Binding,
    promoted: ReadonlySet<Binding>,
    above: readonly Binding[] = [],
  ): readonly string[] {
    if (above.includes(parameter)) return []
    const fields = parameter.reads.flatMap((read) => {
      const member = this.#memberOf(read)
      if (member !== null) return [member.identifier.name]
      const passed = this.#promotedAt(read, promoted)
      return passed === null ? [] : this.#fieldsIn(passed, promoted, [...above, parameter])
    })
    return [...new Set(fields)].toSorted()
  }

  /** `table.field`, where it is read. */
  #memberOf(read: Node): MemberExpression | null {
    const member = this.#members.get(read)
    if (member === undefined || this.#names.targets.has(member) || lineOf(member) !== member.loc?.end.line)
      return null
    return member
  }

  /** The promoted parameter in whose place the table is passed; null where it has to stay whole. */
  #promotedAt(read: Node, promoted = this.#promoted): Binding | null {
    const parameter = this.#passedTo(read)
    return parameter !== null && promoted.has(parameter) ? parameter : null
  }

  /** The parameter that it is an argument for; null where it is none, or the function is unknown. */
  #passedTo(read: Node): Binding | null {
    const { call, index } = this.#passings.get(read) ?? {}
    const owner = this.#names.bindingOf(call?.base)
    return owner?.writes.length === 0 ? this.#names.bindingOf(owner.fn?.parameters[index ?? 0]) : null
  }

  #isNeededWhole(source: Binding): boolean {
    const fields = this.#sources.get(source)?.values
    return source.reads.some((read) => {
      const member = this.#memberOf(read)
      return member === null ? this.#promotedAt(read) === null : !fields?.has(member.identifier.name)
    })
  }

  #readsOf(table: Binding, name: (field: string) => string): Edit[] {
    const members = table.reads.flatMap((read) => {
      const member = this.#memberOf(read)
      return member === null ? [] : [{ ...spanOf(member), text: name(member.identifier.name) }]
    })
    return [...members, ...this.#passingsOf(table, name)]
  }

  #passingsOf(table: Binding, name: (field: string) => string): Edit[] {
    return table.reads.flatMap((read) => {
      const parameter = this.#promotedAt(read)
      return parameter === null
        ? []
        : [{ ...spanOf(read), text: this.#fieldsOf(parameter).map(name).join(', ') }]
    })
  }

  /** Keys have locals already. */
  #dissolve(source: Binding, textOf: (field: string) => string, isOfKeys: boolean): Edit[] {
    const { statement } = source
    if (statement === null) return []
    const span = spanOf(statement)
    const breaks = this.#script.built.source.slice(span.from, span.to).replaceAll(/[^\n]/g, '')
    if (isOfKeys) return [{ ...span, text: breaks }]
    const fields = [...(this.#sources.get(source)?.values.keys() ?? [])]
    const used = fields.filter((field) => this.#isRead(source, field))
    if (used.length === 0) return [{ ...span, text: breaks }]
    return [
      {
        ...span,
        text: `local ${used.map(this.#nameIn(source)).join(', ')} = ${used.map(textOf).join(', ')}${breaks}`,
      },
    ]
  }

  #isRead(source: Binding, field: string): boolean {
    return source.reads.some((read) => {
      const parameter = this.#promotedAt(read)
      return parameter === null
        ? this.#memberOf(read)?.identifier.name === field
        : this.#fieldsOf(parameter).includes(field)
    })
  }

  #nameIn({ name }: Binding): (field: string) => string {
    return (field) => `${name}${this.#between}${field}`
  }

  #textOf(value: Expression): string {
    const { from, to } = spanOf(value)
    return this.#script.built.source.slice(from, to)
  }
}

function isMember(node: Node): node is MemberExpression {
  return node.type === 'MemberExpression' && node.indexer === '.'
}

function memberOf({ name }: Binding): (field: string) => string {
  return (field) => `${name}.${field}`
}
