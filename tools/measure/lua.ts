// The same of Lua files.
import { parse } from 'luaparse'
import type { Measured } from './lines.ts'

interface Comment {
  readonly range: readonly [from: number, to: number]
}

/** Every function with a name in a file. */
export function measureLuaFunctions(file: string, text: string): Measured[] {
  const found: Measured[] = []
  parse(text, {
    luaVersion: '5.1',
    locations: true,
    onCreateNode(node) {
      if (node.type !== 'FunctionDeclaration' || node.identifier === null || !node.loc) return
      const { start, end } = node.loc
      found.push({ file, line: start.line, lines: end.line - start.line + 1 })
    },
  })
  return found
}

export interface Parameters {
  readonly line: number
  /** Null of one without a name. */
  readonly name: string | null
  readonly count: number
}

/** How many parameters every function in a file has, those without a name too. */
export function parametersOf(text: string): Parameters[] {
  const found: Parameters[] = []
  parse(text, {
    luaVersion: '5.1',
    locations: true,
    onCreateNode(node) {
      if (node.type !== 'FunctionDeclaration' || !node.loc) return
      const name = node.identifier?.type === 'Identifier' ? node.identifier.name : null
      found.push({ line: node.loc.start.line, name, count: node.parameters.length })
    },
  })
  return found
}

/** The text with its comments blanked out. */
export function withoutComments(text: string): string {
  const { comments } = parse(text, { luaVersion: '5.1', comments: true, ranges: true })
  let code = text
  for (const { range } of (comments ?? []) as unknown as Comment[]) {
    const [from, to] = range
    code = code.slice(0, from) + code.slice(from, to).replace(/[^\n]/g, ' ') + code.slice(to)
  }
  return code
}

/** The lines of an operation behind its head, its declarations and its includes, from the first to the last. */
export function linesOfOperation(text: string): number {
  // A table that only names keys declares nothing new.
  const body = text
    .replace(/^--\[\[[^]*?\]\]\n/, '')
    .replace(/^local keys =\s*\{[^}]*\}\n/m, '')
    .split('\n')
  const first = body.findIndex((line) => line.trim() !== '' && !isDeclaration(line))
  return body.slice(first).join('\n').trimEnd().split('\n').length
}

export function isDeclaration(line: string): boolean {
  return /^local .*\b(?:KEYS|ARGV)\b/.test(line) || line.startsWith('-- @')
}
