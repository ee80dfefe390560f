// Finds the block of each statement and name of a script.

import type { Chunk, FunctionDeclaration, Identifier, Node, Statement } from 'luaparse'
import { partsOf } from './parts.ts'
import { impliedIn } from './scope.ts'

export interface Block {
  /** What of the block around it it is in; null for the script itself. */
  readonly owner: Node | null
  readonly kind: 'branch' | 'loop' | 'function'
  /** Whose body it is. */
  readonly fn: FunctionDeclaration | null
  readonly body: readonly Node[]
  /** The names of its locals, each with the statement that makes it; -1: parameters, and variables of loops. */
  readonly locals: readonly { readonly name: string; readonly at: number }[]
}

/** In which statement of a block something is. */
export interface Place {
  readonly block: Block
  readonly at: number
}

export class BlockTree {
  readonly #places = new Map<Node, readonly Place[]>()

  constructor({ body }: Chunk) {
    this.#enter(body, { owner: null, kind: 'branch', fn: null, locals: [] })
  }

  /** The places that a node is in, the outermost first; several where an enclosing node is in several. */
  paths(node: Node): Place[][] {
    const places = this.#places.get(node)
    if (places === undefined) throw new TypeError(`${node.type} stands in no block`)
    return places.flatMap((place) => {
      const { owner } = place.block
      return owner === null ? [[place]] : this.paths(owner).map((path) => [...path, place])
    })
  }

  /** From now on it comes before the statements that are there. */
  move(statement: Statement, before: readonly Place[]): void {
    this.#places.set(statement, before)
  }

  #enter(body: readonly Node[], block: Omit<Block, 'body'>): void {
    const locals = [
      ...block.locals,
      ...body.flatMap((statement, at) => localsOf(statement).map((name) => ({ name, at }))),
    ]
    const entered = { ...block, body, locals }
    for (const [at, statement] of body.entries()) this.#visit(statement, { block: entered, at })
  }

  #visit(node: Node, place: Place): void {
    this.#places.set(node, [place])
    const owner = place.block.body[place.at] ?? null
    for (const [part, nodes] of partsOf(node)) {
      const head = headOf(node)
      // What a loop asks before or behind each round runs as often as its body does.
      const isBlock = part === 'body' || (part === 'condition' && head.kind === 'loop')
      if (isBlock) this.#enter(nodes, { owner, ...head })
      else for (const each of nodes) this.#visit(each, place)
    }
  }
}

function headOf(node: Node): Pick<Block, 'kind' | 'fn' | 'locals'> {
  switch (node.type) {
    case 'FunctionDeclaration':
      // A local function knows its own name; that of a function that is assigned means another one inside.
      return {
        kind: 'function',
        fn: node,
        locals: [
          ...beforeAll([...namesOf(node), ...node.parameters]),
          ...impliedIn(node).map((name) => ({ name, at: -1 })),
        ],
      }
    case 'ForNumericStatement':
      return { kind: 'loop', fn: null, locals: beforeAll([node.variable]) }
    case 'ForGenericStatement':
      return { kind: 'loop', fn: null, locals: beforeAll(node.variables) }
    case 'WhileStatement':
    case 'RepeatStatement':
      return { kind: 'loop', fn: null, locals: [] }
    default:
      return { kind: 'branch', fn: null, locals: [] }
  }
}

function beforeAll(variables: readonly Node[]): Block['locals'] {
  return variables.flatMap((each) => (each.type === 'Identifier' ? [{ name: each.name, at: -1 }] : []))
}

function localsOf(statement: Node): string[] {
  if (statement.type === 'LocalStatement') return statement.variables.map(({ name }) => name)
  return statement.type === 'FunctionDeclaration' ? namesOf(statement).map(({ name }) => name) : []
}

function namesOf({ identifier, isLocal }: FunctionDeclaration): Identifier[] {
  return isLocal && identifier?.type === 'Identifier' ? [identifier] : []
}
