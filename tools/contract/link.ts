// Links an operation: the definitions of modules that it uses, directly or indirectly, are put before it, each once
// and after those that it needs. The place of a definition, and its module, make no difference to the text.

import type { Built } from './built.ts'
import type { LineRun } from './contract.ts'
import { readDeclarations } from './declarations.ts'
import { readHead } from './head.ts'
import type { KeyList } from './key-list.ts'
import { keysOf, withLocals, type WrittenLine } from './written-keys.ts'
import { linesOf } from './lines.ts'
import { locate } from './locate.ts'
import { type Definition, type Modules, needsOf } from './modules.ts'
import type { Problem } from './problem.ts'
import { withNumbers } from './named-numbers.ts'
import { withRefusals } from './refusals.ts'
import { type Table, withTables } from './tables.ts'

export function link(file: string, text: string, modules: Modules, list: KeyList | null): Built {
  const problems: Problem[] = []
  const refuse = (line: number, message: string): void => void problems.push({ file, line, message })
  const of = (name: string): Table | undefined => modules.get(name)?.table
  const named = withTables(withRefusals(text, refuse), of, refuse)
  const whole = linked(file, named.text, modules, [], [])
  const keys = list === null ? null : keysOf(file, whole, list)
  const built =
    keys === null
      ? whole
      : linked(file, withLocals(named.text, keys.direct), modules, keys.declarations, keys.table)
  const tables = { of, own: named.tables, file }
  const source = withNumbers(built.source, built.lines, tables, (line, message) =>
    problems.push({ ...locate(built.lines, line), message }),
  )
  problems.push(...built.problems, ...(keys?.problems ?? []))
  return { ...built, source, problems, keyList: list }
}

/** `keys`: their declarations, and the table of them, each line with the one of the list that it comes from. */
function linked(
  file: string,
  text: string,
  modules: Modules,
  declarations: readonly WrittenLine[],
  table: readonly WrittenLine[],
): Built {
  const linker = new Linker(modules)
  const lines = linesOf(text)
  const { head, after } = placesIn(text)
  linker.add(file, 1, lines.slice(0, head))
  for (const { of, line, text: declared } of declarations) linker.add(of, line, [declared])
  linker.add(file, head + 1, lines.slice(head, after))
  for (const { of, line, text: entry } of table) linker.add(of, line, [entry])
  for (const name of needsOf(text)) linker.define(name, [])
  linker.add(file, after + 1, lines.slice(after))
  return {
    source: `${linker.out.join('\n')}\n`,
    lines: linker.lines,
    modules,
    problems: linker.problems,
    keyList: null,
  }
}

/** How many lines the head takes, and with it the declarations. */
function placesIn(text: string): { head: number; after: number } {
  const silent = (): void => {}
  const head = readHead(text, silent)
  if (head === null) return { head: 0, after: 0 }
  return { head: head.after - 1, after: readDeclarations(text, head.after, silent).after - 1 }
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
    if (definition.table === undefined) this.add(file, line, [...text, ''])
  }

  #refuseCircle(definition: Definition, users: readonly Definition[]): void {
    const names = [...users.slice(users.indexOf(definition)), definition].map((each) => each.names[0])
    const message = `these definitions need each other, ${names.join(' → ')}: make one of them, for Lua knows a name only behind its definition`
    this.problems.push({ file: definition.file, line: definition.line, message })
    this.#defined.add(definition)
  }
}
