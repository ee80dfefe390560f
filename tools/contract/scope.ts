// Resolves every name in a script by the scoping rules of Lua 5.1.

import type * as Lua from 'luaparse'
import { partsOf } from './parts.ts'

export interface Binding {
  readonly name: string
  /** Where it is declared. */
  readonly declared: Lua.Identifier
  /** The one that was declared last of all that are in scope where this one is declared, hidden ones too. */
  readonly before: Binding | null
  readonly line: number
  /** `implied`: no text declares it, and it keeps its name. */
  readonly kind: 'local' | 'parameter' | 'loop' | 'implied'
  /** What a local statement sets it to, when one value belongs to it alone. */
  readonly init: Lua.Expression | null
  /** The function that it names. */
  readonly fn: Lua.FunctionDeclaration | null
  /** The statement that makes it, and nothing else. */
  readonly statement: Lua.Statement | null
  /** Of a parameter: its function and its place there, from 0. */
  readonly place: { readonly fn: Lua.FunctionDeclaration; readonly index: number } | null
  readonly reads: Lua.Identifier[]
  readonly writes: Lua.Identifier[]
}

export type Call = Lua.CallExpression | Lua.StringCallExpression | Lua.TableCallExpression

/** Everything the rules ask about a script. */
export interface Names {
  readonly bindings: readonly Binding[]
  readonly globalReads: readonly Lua.Identifier[]
  readonly globalWrites: readonly Lua.Identifier[]
  /** Every node that stands for a value or a statement, in the order of the text. */
  readonly nodes: readonly Lua.Node[]
  readonly calls: readonly Call[]
  /** What is set: by an assignment, or by a function of this name. */
  readonly targets: ReadonlySet<Lua.Node>
  /** What a name stands for; null for a global. */
  bindingOf(node: Lua.Node | undefined): Binding | null
  /** The local that names a function; null for one without a name. */
  ownerOf(fn: Lua.FunctionDeclaration): Binding | null
}

export function lineOf(node: Lua.Node): number {
  return node.loc?.start.line ?? 1
}

/** The position of a node in the text. */
export interface Span {
  readonly from: number
  /** Behind its last character. */
  readonly to: number
}

/** The parser gives it, its types leave it out. */
export function spanOf(node: Lua.Node | Lua.Comment): Span {
  const { range } = node as { readonly range?: readonly [number, number] }
  if (range === undefined) throw new TypeError('the script was read without ranges')
  return { from: range[0], to: range[1] }
}

export function isWithin(node: Lua.Node, spans: readonly Span[]): boolean {
  const { from, to } = spanOf(node)
  return spans.some((span) => span.from <= from && to <= span.to)
}

/** The text of a string literal without its quotes; null for anything else. */
export function literal(node: Lua.Node | undefined): string | null {
  return node?.type === 'StringLiteral' ? node.raw.replace(/^(\[=*\[|.)|(\]=*\]|.)$/gs, '') : null
}

/** What a method is called on, and what Lua 5.1 adds to a function of any number of values: the list of these, or nil. */
export function impliedIn({ identifier, parameters }: Lua.FunctionDeclaration): ('self' | 'arg')[] {
  const isMethod = identifier?.type === 'MemberExpression' && identifier.indexer === ':'
  const isOpen = parameters.some(({ type }) => type === 'VarargLiteral')
  return [...(isMethod ? (['self'] as const) : []), ...(isOpen ? (['arg'] as const) : [])]
}

export function argumentsOf(call: Call): readonly Lua.Expression[] {
  if (call.type === 'CallExpression') return call.arguments
  return [call.type === 'StringCallExpression' ? call.argument : call.arguments]
}

export function resolve(chunk: Lua.Chunk): Names {
  const resolver = new Resolver()
  resolver.block(chunk.body)
  return resolver
}

type New = Partial<Pick<Binding, 'init' | 'fn' | 'statement' | 'place'>>

class Resolver implements Names {
  readonly bindings: Binding[] = []
  readonly globalReads: Lua.Identifier[] = []
  readonly globalWrites: Lua.Identifier[] = []
  readonly nodes: Lua.Node[] = []
  readonly calls: Call[] = []
  readonly targets = new Set<Lua.Node>()
  readonly #resolved = new Map<Lua.Node, Binding>()
  readonly #owners = new Map<Lua.FunctionDeclaration, Binding>()
  readonly #scopes: Map<string, Binding>[] = []
  #last: Binding | null = null

  bindingOf(node: Lua.Node | undefined): Binding | null {
    return (node && this.#resolved.get(node)) ?? null
  }

  ownerOf(fn: Lua.FunctionDeclaration): Binding | null {
    return this.#owners.get(fn) ?? null
  }

  block(body: readonly Lua.Node[], before?: () => void, after?: () => void): void {
    const last = this.#last
    this.#scopes.push(new Map())
    before?.()
    this.#all(body)
    after?.()
    this.#scopes.pop()
    this.#last = last
  }

  #all(nodes: readonly Lua.Node[]): void {
    for (const node of nodes) this.#visit(node)
  }

  #visit(node: Lua.Node): void {
    this.nodes.push(node)
    if (isCall(node)) this.calls.push(node)
    switch (node.type) {
      case 'Identifier':
        return this.#read(node)
      case 'LocalStatement':
        return this.#local(node)
      case 'AssignmentStatement':
        this.#all(node.init)
        return node.variables.forEach((target) => this.#write(target))
      case 'FunctionDeclaration':
        return this.#function(node)
      case 'ForNumericStatement':
      case 'ForGenericStatement':
        return this.#loop(node)
      case 'RepeatStatement':
        return this.block(node.body, undefined, () => this.#visit(node.condition))
      default:
        return this.#inside(node)
    }
  }

  #inside(node: Lua.Node): void {
    if (node.type === 'MemberExpression') return this.#visit(node.base)
    if (node.type === 'TableKeyString') return this.#visit(node.value)
    for (const [part, nodes] of partsOf(node)) {
      if (part === 'body') this.block(nodes)
      else this.#all(nodes)
    }
  }

  #read(name: Lua.Identifier): void {
    const binding = this.#find(name.name)
    if (!binding) return void this.globalReads.push(name)
    binding.reads.push(name)
    this.#resolved.set(name, binding)
  }

  #write(target: Lua.Node): void {
    this.targets.add(target)
    if (target.type !== 'Identifier') return this.#visit(target)
    const binding = this.#find(target.name)
    if (!binding) return void this.globalWrites.push(target)
    binding.writes.push(target)
    this.#resolved.set(target, binding)
  }

  #local(local: Lua.LocalStatement): void {
    const { variables, init } = local
    const statement = variables.length === 1 && init.length <= 1 ? local : null
    this.#all(init)
    for (const [index, name] of variables.entries()) {
      const value = init[index] ?? null
      const shared = value !== null && index === init.length - 1 && variables.length > init.length
      const fn = value?.type === 'FunctionDeclaration' ? value : null
      this.#declare(name, 'local', { init: shared ? null : value, fn, statement })
    }
  }

  #function(fn: Lua.FunctionDeclaration): void {
    if (fn.identifier?.type === 'Identifier' && fn.isLocal)
      this.#declare(fn.identifier, 'local', { fn, statement: fn })
    else if (fn.identifier) this.#write(fn.identifier)
    const implied = impliedIn(fn)
    this.block(fn.body, () => {
      if (implied.includes('self')) this.#imply('self', fn)
      for (const [index, parameter] of fn.parameters.entries()) {
        if (parameter.type === 'Identifier') this.#declare(parameter, 'parameter', { place: { fn, index } })
      }
      if (implied.includes('arg')) this.#imply('arg', fn)
    })
  }

  #loop(loop: Lua.ForNumericStatement | Lua.ForGenericStatement): void {
    const numeric = loop.type === 'ForNumericStatement'
    const heads = numeric ? [loop.start, loop.end, loop.step] : loop.iterators
    this.#all(heads.filter((head) => head !== null))
    const variables = numeric ? [loop.variable] : loop.variables
    this.block(loop.body, () => variables.forEach((name) => this.#declare(name, 'loop', {})))
  }

  #imply(name: string, fn: Lua.FunctionDeclaration): void {
    const { from, to } = spanOf(fn)
    const place = { range: [from, to], ...(fn.loc && { loc: fn.loc }) }
    this.#declare({ type: 'Identifier', name, ...place }, 'implied', {})
  }

  #declare(name: Lua.Identifier, kind: Binding['kind'], of: New): void {
    const { init = null, fn = null, statement = null, place = null } = of
    const line = lineOf(name)
    const binding: Binding = {
      name: name.name,
      declared: name,
      before: this.#last,
      line,
      kind,
      init,
      fn,
      statement,
      place,
      reads: [],
      writes: [],
    }
    this.bindings.push(binding)
    this.#last = binding
    this.#resolved.set(name, binding)
    if (fn) this.#owners.set(fn, binding)
    this.#scopes.at(-1)?.set(name.name, binding)
  }

  #find(name: string): Binding | null {
    return this.#scopes.findLast((scope) => scope.has(name))?.get(name) ?? null
  }
}

function isCall(node: Lua.Node): node is Call {
  return ['CallExpression', 'StringCallExpression', 'TableCallExpression'].includes(node.type)
}
