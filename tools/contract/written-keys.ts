// The declarations of the keys that a script uses, written for it: `KEYS[1]`, `KEYS[2]` … in the order of the list,
// and where functions take keys of the table, the table.

import type { Built } from './built.ts'
import { withEdits } from './edit.ts'
import { locate } from './locate.ts'
import type { KeyList, ListedKey } from './key-list.ts'
import { parseLua } from './parse-lua.ts'
import type { Problem } from './problem.ts'
import { lineOf, resolve, spanOf } from './scope.ts'
import { usedKeys } from './used-keys.ts'

export interface WrittenLine {
  /** The list. */
  readonly of: string
  readonly line: number
  readonly text: string
}

/** `keys.ready` in the text of a script, and the local that replaces it, with the line breaks between. */
interface Direct {
  readonly line: number
  readonly column: number
  readonly length: number
  readonly name: string
  readonly local: string
}

export interface WrittenKeys {
  readonly direct: readonly Direct[]
  readonly declarations: readonly WrittenLine[]
  readonly table: readonly WrittenLine[]
  readonly problems: readonly Problem[]
}

export function keysOf(file: string, { source, lines, modules }: Built, list: KeyList): WrittenKeys {
  const problems: Problem[] = []
  const chunk = parseLua(source, () => {})
  if (chunk === null) return { direct: [], declarations: [], table: [], problems }
  const names = resolve(chunk)
  const refuse = (line: number, message: string): void =>
    void problems.push({ ...locate(lines, line), message })
  const known = list.keys.map(({ name }) => name)
  const { direct, given } = usedKeys(names, known, refuse)
  const own = direct.flatMap((member) => {
    const at = locate(lines, lineOf(member))
    if (at.file !== file) {
      refuse(
        lineOf(member),
        `a module does not see the table keys: pass it as the first parameter, or the key keys.${member.identifier.name}`,
      )
      return []
    }
    const { name } = member.identifier
    const { from, to } = spanOf(member)
    const breaks = source.slice(from, to).replaceAll(/[^\n]/g, '')
    const column = member.loc?.start.column ?? 0
    return [{ line: at.line, column, length: to - from, name, local: `${localFor(name)}${breaks}` }]
  })
  function localFor(name: string): string {
    let local = name
    while (isTaken(local) || (local !== name && known.includes(local))) local += local === name ? '_key' : '_'
    return local
  }
  function isTaken(name: string): boolean {
    // A global of that name is refused, and must not become the key.
    const isHidden =
      names.bindings.some((each) => each.name === name && locate(lines, each.line).file === file) ||
      [...names.globalReads, ...names.globalWrites].some((each) => each.name === name)
    return isHidden || modules.has(name) || name === 'keys'
  }
  const byItself = new Set(own.map(({ name }) => name))
  const used = list.keys.filter(({ name }) => byItself.has(name) || given.has(name))
  return {
    direct: own,
    declarations: used.map((key, at) => declarationOf(list, key, at + 1, localFor(key.name))),
    table:
      given.size === 0
        ? []
        : tableOf(
            list,
            used.filter(({ name }) => given.has(name)),
            localFor,
          ),
    problems,
  }
}

function declarationOf(
  list: KeyList,
  { kind, about, line }: ListedKey,
  number: number,
  local: string,
): WrittenLine {
  return { of: list.file, line, text: `local ${local} = KEYS[${number}] -- ${kind}: ${about}` }
}

function tableOf(
  list: KeyList,
  given: readonly ListedKey[],
  localFor: (name: string) => string,
): WrittenLine[] {
  const last = given.at(-1)?.line ?? 1
  const entries = given.map(({ name, line }) => ({
    of: list.file,
    line,
    text: `  ${name} = ${localFor(name)},`,
  }))
  const [first] = given
  return [
    { of: list.file, line: first?.line ?? 1, text: 'local keys = {' },
    ...entries,
    { of: list.file, line: last, text: '}' },
  ]
}

/** The text of the script with locals in the place of keys that it takes of the table. */
export function withLocals(text: string, direct: readonly Direct[]): string {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)]
  const edits = direct.map(({ line, column, length, local }) => {
    const from = (starts[line - 1] ?? 0) + column
    return { from, to: from + length, text: local }
  })
  return withEdits(text, edits)
}
