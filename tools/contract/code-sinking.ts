// A call of a script makes every function that it passes by, and each costs time. So a function, or a table that is
// always the same, moves to the innermost block that all its uses are in: a path that does not use it does not pay
// for it. Compilers call this code sinking. Nothing moves to where it could be made twice.

import {
  type CallExpression,
  type Chunk,
  type FunctionDeclaration,
  type Identifier,
  type IndexExpression,
  type Node,
  parse,
  type Statement,
} from 'luaparse'
import { type Block, BlockTree, type Place } from './block-tree.ts'
import { isOnlyRead } from './only-read.ts'
import { type Binding, isWithin, lineOf, type Names, resolve, spanOf } from './scope.ts'
import { signsBehind } from './statement-removal.ts'

/** The lines of a script in an order that does the same for less, each by its number from 0. */
export function sunkLines(text: readonly string[]): number[] {
  const chunk = parse(text.join('\n'), { luaVersion: '5.1', locations: true, ranges: true })
  return new Sinking(text, chunk).lines()
}

/** Lines of the script from 0. */
interface Lines {
  readonly first: number
  readonly last: number
}

/** A statement with the comments right above it. */
interface Movable extends Lines {
  readonly statement: Statement
  readonly binding: Binding
  /** Which statement of the script it is. */
  readonly at: number
}

interface Use {
  readonly name: Identifier
  readonly binding: Binding | null
}

/** Lua has room for sixty locals of functions around one. */
const MOST_CAPTURED = 55

/** More of them cost Redis memory for little. */
const MOST_COPIES = 4

class Sinking {
  readonly #text: readonly string[]
  readonly #chunk: Chunk
  readonly #names: Names
  readonly #tree: BlockTree
  readonly #uses: readonly Use[]
  /** The lists of a script's input that it does not change. */
  readonly #inputs: ReadonlySet<string>
  /** Functions without a name that `pcall` calls where they stand. */
  readonly #inPlace: ReadonlySet<Node>
  /** The lines that hold a comment and nothing else. */
  readonly #comments: ReadonlySet<number>
  readonly #captured = new Map<FunctionDeclaration, Set<Binding>>()
  readonly #runningOnce = new Map<FunctionDeclaration, boolean>()
  /** What goes before a line, in the order of the text. */
  readonly #before = new Map<number, Movable[]>()

  constructor(text: readonly string[], chunk: Chunk) {
    this.#text = text
    this.#chunk = chunk
    this.#names = resolve(chunk)
    this.#tree = new BlockTree(chunk)
    this.#uses = usesOf(this.#names)
    this.#inputs = new Set(['KEYS', 'ARGV'].filter((list) => isOnlyRead(this.#names, list)))
    this.#inPlace = new Set(this.#names.calls.flatMap((call) => this.#protectedBy(call)))
    const comments = (chunk.comments ?? []).flatMap(({ loc }) => {
      const [line, end] = [(loc?.start.line ?? 0) - 1, loc?.end.column]
      const isAlone = loc?.start.column === 0 && text[line]?.slice(end).trim() === ''
      return isAlone && loc.end.line === loc.start.line ? [line] : []
    })
    this.#comments = new Set(comments)
  }

  #protectedBy(call: Names['calls'][number]): FunctionDeclaration[] {
    if (call.type !== 'CallExpression') return []
    const {
      base,
      arguments: [fn],
    } = call
    const isPcall =
      base.type === 'Identifier' && base.name === 'pcall' && this.#names.bindingOf(base) === null
    return isPcall && fn?.type === 'FunctionDeclaration' ? [fn] : []
  }

  lines(): number[] {
    const movable = this.#chunk.body.flatMap((statement, at) => this.#movable(statement, at))
    // From the last to the first: what uses something has moved before it does.
    const moved = movable.toReversed().filter((each) => this.#sink(each))
    return this.#inOrder(
      { first: 0, last: this.#text.length - 1 },
      new Map(moved.map((each) => [each.first, each])),
    )
  }

  #movable(statement: Statement, at: number): Movable[] {
    const binding = this.#names.bindings.find((each) => each.statement === statement)
    if (binding === undefined || binding.writes.length > 0) return []
    if (binding.fn !== statement && !this.#isFixedTable(binding.init)) return []
    const [first, last] = [lineOf(statement) - 1, (statement.loc?.end.line ?? 0) - 1]
    const behind = this.#text[last]?.slice(statement.loc?.end.column) ?? ''
    // What is before it and behind it would become one call, or a semicolon would be left.
    const isBound = /^[;(]/.test(signsBehind(this.#chunk, this.#text.join('\n'), statement))
    const isAlone = !isBound && this.#startsLine(statement) && /^\s*(?:--(?!\[).*)?$/.test(behind)
    return isAlone ? [{ statement, binding, at, first: this.#commentsAbove(first), last }] : []
  }

  #isFixedTable(node: Node | null): boolean {
    return (
      node?.type === 'TableConstructorExpression' &&
      node.fields.every(
        (field) => (field.type !== 'TableKey' || this.#isFixed(field.key)) && this.#isFixed(field.value),
      )
    )
  }

  /** Whether it is the same wherever it is read. */
  #isFixed(node: Node): boolean {
    switch (node.type) {
      case 'NumericLiteral':
      case 'StringLiteral':
      case 'BooleanLiteral':
        return true
      case 'UnaryExpression':
        return node.operator === '-' && node.argument.type === 'NumericLiteral'
      case 'BinaryExpression':
        // Of a table `==` may be a function.
        return node.operator === '==' && [node.left, node.right].every((side) => this.#isText(side))
      case 'CallExpression':
        return this.#isNumber(node)
      case 'Identifier':
        return this.#names.bindingOf(node)?.writes.length === 0
      case 'IndexExpression':
        return this.#isInput(node)
      default:
        return this.#isFixedTable(node)
    }
  }

  #isText(node: Node): boolean {
    return node.type === 'StringLiteral' || (node.type === 'IndexExpression' && this.#isInput(node))
  }

  /** `tonumber(ARGV[1])` */
  #isNumber({ base, arguments: [text, ...others] }: CallExpression): boolean {
    if (base.type !== 'Identifier' || base.name !== 'tonumber' || this.#names.bindingOf(base) !== null)
      return false
    return others.length === 0 && text?.type === 'IndexExpression' && this.#isInput(text)
  }

  /** Whether it is an item of KEYS or ARGV, and stays what it is. */
  #isInput({ base, index }: IndexExpression): boolean {
    if (base.type !== 'Identifier' || !this.#inputs.has(base.name)) return false
    return index.type === 'NumericLiteral' && this.#names.bindingOf(base) === null
  }

  #startsLine(node: Node): boolean {
    return this.#text[lineOf(node) - 1]?.slice(0, node.loc?.start.column).trim() === ''
  }

  #commentsAbove(line: number): number {
    let first = line
    while (this.#comments.has(first - 1)) first -= 1
    return first
  }

  #sink(movable: Movable): boolean {
    const targets = this.#targets(movable)
    const places = placesOf(targets)
    if (places.length === 0) return false
    this.#tree.move(movable.statement, places)
    for (const fn of new Set(targets.flatMap(functionsOf))) this.#capture(fn, movable)
    for (const { block, at } of places) {
      const line = this.#commentsAbove(lineOf(block.body[at] as Node) - 1)
      this.#before.set(line, [movable, ...(this.#before.get(line) ?? [])])
    }
    return true
  }

  /** The places down to the innermost that its uses are in or behind; none where it stays. */
  #targets(movable: Movable): Place[][] {
    const own = [spanOf(movable.statement)]
    const paths = movable.binding.reads
      .filter((read) => !isWithin(read, own))
      .flatMap((read) => this.#tree.paths(read))
    return this.#below([], paths, movable) ?? []
  }

  /** Of uses that all are in one block: where it goes, in that block or deeper; null where it may not go there. */
  #below(outer: readonly Place[], paths: readonly Place[][], movable: Movable): Place[][] | null {
    const block = paths[0]?.[outer.length]?.block
    if (block === undefined || !this.#mayEnter(block, movable)) return null
    const deeper = this.#deeper(outer, paths, movable)
    if (deeper !== null) return deeper
    const at = Math.min(...paths.map((path) => path[outer.length]?.at ?? 0))
    const here = [...outer, { block, at }]
    return this.#mayStand(here, movable) && this.#isNeededSeldom(here) ? [here] : null
  }

  /** Into the blocks that the uses are in within this one, where none is directly in it. */
  #deeper(outer: readonly Place[], paths: readonly Place[][], movable: Movable): Place[][] | null {
    const depth = outer.length
    const groups = new Map<Block | undefined, Place[][]>()
    for (const path of paths) {
      const inner = path[depth + 1]?.block
      groups.set(inner, [...(groups.get(inner) ?? []), path])
    }
    if (groups.has(undefined)) return null
    const found = [...groups.values()].map((group) => {
      const [place] = group.map((path) => path[depth] as Place)
      return place === undefined ? null : this.#below([...outer, place], group, movable)
    })
    const targets = found.flatMap((each) => each ?? [])
    if (found.includes(null)) return null
    if (groups.size === 1) return targets
    return this.#mayBeCopied(movable, targets, depth) && !isOnEachWay([...groups.keys()]) ? targets : null
  }

  /**
   * A function that is only called may stand in several places, where each is one that few calls pass. Of one that is
   * handed on, a copy would be another value.
   */
  #mayBeCopied({ statement, binding: { fn } }: Movable, targets: readonly Place[][], depth: number): boolean {
    return (
      fn !== null &&
      fn === statement &&
      this.#callsOf(fn) !== null &&
      targets.length <= MOST_COPIES &&
      targets.every((path) => hasCondition(path.slice(depth + 1)))
    )
  }

  /** Whether what is in the block runs once at most, or few times, and has room for it. */
  #mayEnter({ kind, fn }: Block, movable: Movable): boolean {
    if (kind !== 'function' || fn === null) return kind === 'branch'
    const isFunction = movable.binding.fn === movable.statement
    if (!this.#runsOnce(fn) && !(isFunction && this.#runsOutsideLoops(fn))) return false
    const captured = new Set([...this.#capturedBy(fn), ...this.#neededBy(movable)])
    return captured.size <= MOST_CAPTURED
  }

  /** A function that runs several times makes its locals as often: there they must be inside a condition. */
  #isNeededSeldom(path: readonly Place[]): boolean {
    const often = path.findLastIndex(({ block }) => block.fn !== null && !this.#runsOnce(block.fn))
    return often < 0 || hasCondition(path.slice(often + 1))
  }

  /** Nothing that moves changes it. */
  #runsOnce(fn: FunctionDeclaration): boolean {
    const known =
      this.#runningOnce.get(fn) ?? (this.#callsOf(fn)?.length === 1 && this.#runsOutsideLoops(fn, true))
    this.#runningOnce.set(fn, known)
    return known
  }

  /** Whether each of its calls is outside of all loops, up to the script itself. */
  #runsOutsideLoops(fn: FunctionDeclaration, once = false): boolean {
    const calls = this.#callsOf(fn) ?? []
    const callers = calls.flatMap((call) => this.#tree.paths(call)).flat()
    return (
      calls.length > 0 &&
      callers.every(({ block }) => {
        if (block.kind === 'branch') return true
        if (block.fn === null) return false
        return once ? this.#runsOnce(block.fn) : this.#runsOutsideLoops(block.fn)
      })
    )
  }

  /** Null where it is more than called, or calls itself. */
  #callsOf(fn: FunctionDeclaration): Node[] | null {
    if (this.#inPlace.has(fn)) return [fn]
    const binding = this.#names.ownerOf(fn)
    if (binding === null || binding.writes.length > 0) return null
    const isCalled = (read: Node): boolean => this.#names.calls.some(({ base }) => base === read)
    const isFine = binding.reads.every((read) => isCalled(read) && !isWithin(read, [spanOf(fn)]))
    return isFine ? binding.reads : null
  }

  /** Whether everything that it reads is the same there. */
  #mayStand(target: readonly Place[], movable: Movable): boolean {
    const last = target.at(-1)
    const statement = last?.block.body[last.at]
    if (statement === undefined || !this.#startsLine(statement)) return false
    const names = this.#namesAround(movable)
    return target.every(({ block, at }) =>
      block.locals.every((local) => {
        const isBehind = block.owner === null && local.at <= movable.at
        return isBehind || local.at >= at || !names.has(local.name)
      }),
    )
  }

  /** Its own, and those of what is around it that it uses. */
  #namesAround({ statement, binding: own, first, last }: Movable): ReadonlySet<string> {
    const around = this.#usesIn(statement).filter(
      ({ binding }) => binding === null || binding.line <= first || binding.line > last + 1,
    )
    return new Set([own.name, ...around.map(({ name }) => name.name)])
  }

  #capture(fn: FunctionDeclaration, movable: Movable): void {
    const captured = this.#capturedBy(fn)
    captured.delete(movable.binding)
    for (const each of this.#neededBy(movable)) if (!isDeclaredIn(fn, each)) captured.add(each)
  }

  /** The locals of what is around a function that it reads or writes. */
  #capturedBy(fn: FunctionDeclaration): Set<Binding> {
    const known = this.#captured.get(fn)
    if (known !== undefined) return known
    const bindings = this.#usesIn(fn).flatMap(({ binding }) => binding ?? [])
    const captured = new Set(bindings.filter((each) => !isDeclaredIn(fn, each)))
    this.#captured.set(fn, captured)
    return captured
  }

  #neededBy({ statement, binding: { fn } }: Movable): Iterable<Binding> {
    return fn === null
      ? this.#usesIn(statement).flatMap(({ binding }) => binding ?? [])
      : this.#capturedBy(fn)
  }

  #usesIn(node: Node): Use[] {
    return this.#uses.filter(({ name }) => isWithin(name, [spanOf(node)]))
  }

  #inOrder(part: Lines, moved: ReadonlyMap<number, Movable>): number[] {
    const order: number[] = []
    for (let line = part.first; line <= part.last; line++) {
      for (const each of this.#before.get(line) ?? []) order.push(...this.#inOrder(each, moved))
      const away = moved.get(line)
      if (away === undefined || away === part) order.push(line)
      else line = this.#text[away.last + 1] === '' ? away.last + 1 : away.last
    }
    return order
  }
}

/** Whether these are all the branches of one statement, of which one always runs. */
function isOnEachWay([first, ...others]: readonly (Block | undefined)[]): boolean {
  const statement = first?.owner
  if (statement?.type !== 'IfStatement' || others.some((block) => block?.owner !== statement)) return false
  return statement.clauses.length === others.length + 1 && statement.clauses.at(-1)?.type === 'ElseClause'
}

/** The target of a move: a function with copies in several places gets it once. */
function placesOf(targets: readonly Place[][]): Place[] {
  const places = targets.flatMap((target) => target.at(-1) ?? [])
  return places.filter(({ block, at }, place) => {
    const first = places.findIndex((each) => each.block === block && each.at === at)
    return first === place
  })
}

function hasCondition(path: readonly Place[]): boolean {
  return path.some(({ block }) => block.owner?.type === 'IfStatement' && block.kind === 'branch')
}

function usesOf({ bindings, globalReads, globalWrites }: Names): Use[] {
  const locals = bindings.flatMap((binding) =>
    [...binding.reads, ...binding.writes].map((name) => ({ name, binding })),
  )
  return [...locals, ...[...globalReads, ...globalWrites].map((name) => ({ name, binding: null }))]
}

function functionsOf(path: readonly Place[]): FunctionDeclaration[] {
  return path.flatMap(({ block }) => block.fn ?? [])
}

/** A function that moves has its lines for itself. */
function isDeclaredIn({ loc }: FunctionDeclaration, { line }: Binding): boolean {
  return (loc?.start.line ?? 0) <= line && line <= (loc?.end.line ?? 0)
}
