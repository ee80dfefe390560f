// Modules: the files below `shared`, each of functions and constants that belong together. This file finds which file
// defines a name, so that scripts need no imports.

import type { Chunk, Statement } from 'luaparse'
import { OFFERED } from './offered.ts'
import type { Problem } from './problem.ts'
import { refuseOldGrammar } from './old-grammar.ts'
import { parseLua } from './parse-lua.ts'
import { lineOf, resolve, spanOf } from './scope.ts'
import { readTable, type Table } from './tables.ts'
import { linesOf } from './lines.ts'

/** A function or a constant of a module, with the comments right above it. */
export interface Definition {
  readonly names: readonly string[]
  readonly file: string
  /** Of its first comment. */
  readonly line: number
  readonly text: readonly string[]
  /** What it uses of this module and of others, in the order of its text. */
  readonly needs: readonly string[]
  /** Where it names numbers and nothing of it is sent. */
  readonly table?: Table
}

export interface ModuleFile {
  /** Its name in messages. */
  readonly file: string
  readonly text: string
}

/** What the operations of one structure may use, by name. */
export type Modules = ReadonlyMap<string, Definition>

/** The definitions of these modules, by name; what is defined twice is refused. */
export function modulesOf(modules: readonly ModuleFile[], problems: Problem[]): Modules {
  const found = new Map<string, Definition>()
  for (const each of modules.flatMap((module) => definitionsOf(module, problems))) {
    for (const name of each.names) {
      const other = found.get(name)
      if (other !== undefined) problems.push(definedTwice(name, each, other))
      found.set(name, each)
    }
  }
  return found
}

function definedTwice(name: string, { file, line, text }: Definition, other: Definition): Problem {
  const at = text.findIndex((each) => new RegExp(`\\b${name}\\b`).test(each) && !/^\s*--/.test(each))
  return {
    file,
    line: line + Math.max(at, 0),
    message: `${name} is also defined in ${other.file}: rename one`,
  }
}

const read = new WeakMap<ModuleFile, { readonly definitions: Definition[]; readonly problems: Problem[] }>()

/**
 * Of a module that is read for each structure; its problems are reported each time, and deduplicated where they are
 * shown.
 */
function definitionsOf(module: ModuleFile, problems: Problem[]): Definition[] {
  const known = read.get(module) ?? readModule(module)
  read.set(module, known)
  problems.push(...known.problems)
  return known.definitions
}

function readModule({ file, text }: ModuleFile): { definitions: Definition[]; problems: Problem[] } {
  const problems: Problem[] = []
  const refuse = (line: number, message: string): void => void problems.push({ file, line, message })
  const chunk = parseLua(text, refuse)
  if (chunk === null) return { definitions: [], problems }
  refuseOldGrammar(chunk, refuse)
  for (const statement of chunk.body) {
    if (namesOf(statement) === null) refuse(lineOf(statement), ONLY_DEFINITIONS)
  }
  const lines = linesOf(text)
  const parts = sections(chunk)
  for (const { value, loc } of chunk.comments ?? []) {
    const line = loc?.start.line ?? 1
    const isOfFunction = parts.some(({ first, last }) => first <= line && line <= last)
    if (/^\s*@optional\b/.test(value) && !isOfFunction) refuse(line, OPTIONAL_ELSEWHERE)
  }
  const definitions = parts.map(({ first, last, statements }): Definition => {
    const table =
      statements.length === 1 && statements[0] ? readTable(statements[0], chunk.comments ?? [], refuse) : null
    if (table !== null)
      return { names: [table.name], file, line: first, text: [], needs: [], table: table.table }
    const own = lines.slice(first - 1, last)
    // It is sent without what is around it.
    if (parseLua(own.join('\n'), () => {}) === null) refuse(first, NOT_ALONE)
    const names = statements.flatMap((statement) => namesOf(statement) ?? [])
    return { names, file, line: first, text: own, needs: needsOf(own.join('\n')) }
  })
  return { definitions, problems }
}

/** Lines that belong together. */
interface Section {
  readonly first: number
  last: number
  readonly statements: Statement[]
}

/** Statements that share lines, and comments next to them or right above, are one. */
function sections({ body, comments = [] }: Chunk): Section[] {
  const parts = [...body, ...comments].toSorted((one, next) => spanOf(one).from - spanOf(next).from)
  const found: Section[] = []
  for (const part of parts) {
    const [first, last] = [part.loc?.start.line ?? 1, part.loc?.end.line ?? 1]
    const before = found.at(-1)
    const isComment = part.type === 'Comment'
    const isAbove = before?.statements.length === 0 && before.last === first - 1
    if (before !== undefined && (before.last >= first || isAbove)) {
      before.last = Math.max(before.last, last)
      if (!isComment) before.statements.push(part)
    } else found.push({ first, last, statements: isComment ? [] : [part] })
  }
  return found.filter(({ statements }) => statements.length > 0)
}

const OPTIONAL_ELSEWHERE =
  '@optional is not above a function: move it right above the one that calls the command'
const NOT_ALONE =
  'a definition of a module is sent alone, and this line begins with the end of another one: put its ; on the line above'
const ONLY_DEFINITIONS =
  'a module has local functions and constants only: write local function name(…), or move this into an operation'

function namesOf(statement: Statement): string[] | null {
  if (statement.type === 'LocalStatement') return statement.variables.map(({ name }) => name)
  const { type } = statement
  const isLocal = type === 'FunctionDeclaration' && statement.isLocal
  return isLocal && statement.identifier?.type === 'Identifier' ? [statement.identifier.name] : null
}

/** The names that a piece of Lua uses and does not define, in the order of its text, each once. */
export function needsOf(source: string): string[] {
  const chunk = parseLua(source, () => {})
  if (chunk === null) return []
  const { globalReads, globalWrites } = resolve(chunk)
  const used = [...globalReads, ...globalWrites].toSorted((one, next) => spanOf(one).from - spanOf(next).from)
  return [...new Set(used.map(({ name }) => name))].filter((name) => !OFFERED.has(name))
}
