// Links an operation: what it uses of modules, and what that uses, stands before it, each definition once and behind those that it needs.
// Where a definition stands in its module, and in which module, makes no difference to the text.

import type { LineRun } from './contract.ts'
import { readDeclarations } from './declarations.ts'
import { readHead } from './head.ts'
import { linesOf } from './lines.ts'
import { type Definition, type Modules, needsOf } from './modules.ts'
import type { Problem } from './problem.ts'

/** An operation with all that it uses. */
export interface Built {
  readonly source: string
  readonly lines: readonly LineRun[]
  /** What it may use, whether it does or not. */
  readonly modules: Modules
  readonly problems: readonly Problem[]
}

interface Place {
  readonly file: string
  readonly line: number
}

export function link(file: string, text: string, modules: Modules): Built {
  const linker = new Linker(modules)
  const lines = linesOf(text)
  const before = firstAfterDeclarations(text) - 1
  linker.add(file, 1, lines.slice(0, before))
  for (const name of needsOf(text)) linker.define(name, [])
  linker.add(file, before + 1, lines.slice(before))
  return {
    source: `${linker.out.join('\n')}\n`,
    lines: linker.lines,
    modules,
    problems: linker.problems,
  }
}

function firstAfterDeclarations(text: string): number {
  const silent = (): void => {}
  const head = readHead(text, silent)
  return head === null ? 1 : readDeclarations(text, head.after, silent).after
}

/** The source file and line that a line of the built script comes from. */
export function locate(lines: readonly LineRun[], built: number): Place {
  const run = lines.findLast(([first]) => first <= built) ?? lines[0]
  if (!run) throw new RangeError('a line map has at least one run')
  return { file: run[1], line: run[2] + built - run[0] }
}

class Linker {
  readonly out: string[] = []
  readonly lines: LineRun[] = []
  readonly problems: Problem[] = []
  readonly #modules: Modules
  readonly #defined = new Set<Definition>()

  constructor(modules: Modules) {
    this.#modules = modules
  }

  add(file: string, line: number, text: readonly string[]): void {
    this.lines.push([this.out.length + 1, file, line])
    this.out.push(...text)
  }

  define(name: string, users: readonly Definition[]): void {
    const definition = this.#modules.get(name)
    if (definition === undefined || this.#defined.has(definition)) return
    if (users.includes(definition)) return this.#refuseCircle(definition, users)
    for (const needed of definition.needs) this.define(needed, [...users, definition])
    if (this.#defined.has(definition)) return
    this.#defined.add(definition)
    const { file, line, text } = definition
    this.add(file, line, [...text, ''])
  }

  #refuseCircle(definition: Definition, users: readonly Definition[]): void {
    const names = [...users.slice(users.indexOf(definition)), definition].map((each) => each.names[0])
    const message = `these need each other, and Lua knows a name only behind its definition: ${names.join(' → ')}`
    this.problems.push({ file: definition.file, line: definition.line, message })
    this.#defined.add(definition)
  }
}
