// How much of what Lua 5.1 has little of a function takes: locals, those of functions around it, registers, and levels of nesting.
// Lua says so when it compiles, which is when Redis is sent the script: too late.

import type {
  Chunk,
  Expression,
  FunctionDeclaration,
  Identifier,
  Node,
  Statement,
  TableConstructorExpression,
} from 'luaparse'
import { partsOf } from './parts.ts'
import { argumentsOf, impliedIn, lineOf } from './scope.ts'

/** What one function takes at most; the script itself is one. */
export interface Taken {
  readonly line: number
  locals: number
  /** Locals of functions around it. */
  outer: number
  registers: number
  levels: number
}

interface Frame extends Taken {
  /** The locals in scope, each with how many hidden ones come with it. */
  readonly scopes: { readonly names: Map<string, symbol>; hidden: number }[]
  readonly outers: Set<symbol>
}

/** Of all functions of a script, itself first. */
export function roomTaken(chunk: Chunk): Taken[] {
  const measure = new Measure()
  measure.fn(1, [], chunk.body, 1)
  return measure.all
}

const SAME_LEVEL = new Set(['base', 'fields', 'clauses'])

class Measure {
  readonly all: Frame[] = []
  readonly #frames: Frame[] = []

  fn(
    line: number,
    parameters: FunctionDeclaration['parameters'],
    body: readonly Statement[],
    level: number,
  ): void {
    const frame: Frame = { line, locals: 0, outer: 0, registers: 0, levels: 0, scopes: [], outers: new Set() }
    this.all.push(frame)
    this.#frames.push(frame)
    this.#block(body, level, () => {
      for (const each of parameters) {
        // The rest of the parameters is in a local, too.
        if (each.type === 'Identifier') this.#declare(each)
        else this.#hide(1)
      }
    })
    this.#frames.pop()
    frame.outer = frame.outers.size
  }

  get #frame(): Frame {
    return this.#frames.at(-1) as Frame
  }

  get #active(): number {
    return this.#frame.scopes.reduce((sum, { names, hidden }) => sum + names.size + hidden, 0)
  }

  #block(body: readonly Node[], level: number, before?: () => void, after?: () => void): void {
    this.#frame.scopes.push({ names: new Map(), hidden: 0 })
    before?.()
    for (const node of body) this.#visit(node, level + 1)
    after?.()
    this.#frame.scopes.pop()
  }

  #visit(node: Node, level: number): void {
    const frame = this.#frame
    frame.levels = Math.max(frame.levels, level)
    switch (node.type) {
      case 'Identifier':
        return this.#read(node)
      case 'LocalStatement':
        this.#list(node.init, level)
        return node.variables.forEach((name) => this.#declare(name))
      case 'AssignmentStatement':
        this.#list([...node.variables, ...node.init], level)
        // Each target waits in a call of the compiler's own.
        frame.levels = Math.max(frame.levels, level + node.variables.length)
        return
      case 'FunctionDeclaration':
        if (node.identifier?.type === 'Identifier' && node.isLocal) this.#declare(node.identifier)
        return this.fn(lineOf(node), [...implied(node), ...node.parameters], node.body, level)
      case 'ForNumericStatement':
        this.#list([node.start, node.end, ...(node.step === null ? [] : [node.step])], level)
        return this.#loop(node.body, [node.variable], level)
      case 'ForGenericStatement':
        this.#list(node.iterators, level)
        return this.#loop(node.body, node.variables, level)
      case 'RepeatStatement':
        return this.#block(node.body, level, undefined, () => this.#visit(node.condition, level + 1))
      default:
        return this.#inside(node, level)
    }
  }

  #inside(node: Node, level: number): void {
    if (isExpression(node)) this.#needs(registersOf(node))
    if (node.type === 'MemberExpression') return this.#visit(node.base, level)
    if (node.type === 'BinaryExpression' || node.type === 'LogicalExpression') {
      this.#visit(node.left, level)
      return this.#visit(node.right, level + 1)
    }
    for (const [part, nodes] of partsOf(node)) {
      if (part === 'body') this.#block(nodes, level)
      else for (const each of nodes) this.#visit(each, SAME_LEVEL.has(part) ? level : level + 1)
    }
  }

  #list(nodes: readonly Expression[], level: number): void {
    this.#needs(inTurn(nodes))
    for (const node of nodes) this.#visit(node, level + 1)
  }

  #loop(body: readonly Statement[], variables: readonly Identifier[], level: number): void {
    this.#block(body, level, () => {
      this.#hide(3)
      for (const name of variables) this.#declare(name)
    })
  }

  #needs(registers: number): void {
    this.#frame.registers = Math.max(this.#frame.registers, this.#active + registers)
  }

  #declare({ name }: Identifier): void {
    const scope = this.#frame.scopes.at(-1)
    // Of two with one name the first is still there.
    if (scope?.names.has(name)) scope.hidden += 1
    scope?.names.set(name, Symbol(name))
    this.#frame.locals = Math.max(this.#frame.locals, this.#active)
  }

  #hide(count: number): void {
    const scope = this.#frame.scopes.at(-1)
    if (scope !== undefined) scope.hidden += count
    this.#frame.locals = Math.max(this.#frame.locals, this.#active)
  }

  #read({ name }: Identifier): void {
    const owner = this.#frames.findLastIndex(({ scopes }) => scopes.some(({ names }) => names.has(name)))
    const local = this.#frames[owner]?.scopes.findLast(({ names }) => names.has(name))?.names.get(name)
    if (local !== undefined) for (const frame of this.#frames.slice(owner + 1)) frame.outers.add(local)
  }
}

/** What a method is called on; the rest of the parameters is among these. */
function implied(fn: FunctionDeclaration): Identifier[] {
  return impliedIn(fn).includes('self') ? [{ type: 'Identifier', name: 'self' }] : []
}

const PENDING = 50

/** At the most, while it is worked out. */
function registersOf(node: Expression): number {
  switch (node.type) {
    case 'CallExpression':
    case 'StringCallExpression':
    case 'TableCallExpression':
      return 2 + Math.max(registersOf(node.base), inTurn(argumentsOf(node)))
    case 'BinaryExpression':
    case 'LogicalExpression':
      return Math.max(registersOf(node.left), 1 + registersOf(node.right))
    case 'UnaryExpression':
      return registersOf(node.argument)
    case 'MemberExpression':
      return registersOf(node.base)
    case 'IndexExpression':
      return Math.max(registersOf(node.base), 1 + registersOf(node.index))
    case 'TableConstructorExpression':
      return 1 + Math.max(0, ...node.fields.map(registersOfField))
    default:
      return 1
  }
}

function registersOfField(field: TableConstructorExpression['fields'][number], at: number): number {
  if (field.type === 'TableValue') return (at % PENDING) + registersOf(field.value)
  const key = field.type === 'TableKey' ? registersOf(field.key) : 1
  return Math.max(key, 1 + registersOf(field.value))
}

/** Values that wait for those behind them. */
function inTurn(nodes: readonly Expression[]): number {
  return Math.max(0, ...nodes.map((node, at) => at + registersOf(node)))
}

function isExpression(node: Node): node is Expression {
  return /Expression$|Literal$/.test(node.type)
}
