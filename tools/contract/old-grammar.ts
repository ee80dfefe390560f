// What the grammar had before, and what to write now.

import type { Chunk, IndexExpression, Node } from 'luaparse'
import type { Refuse } from './head.ts'
import type { KeyList } from './key-list.ts'
import { linesOf } from './lines.ts'
import { parseLua } from './parse-lua.ts'
import type { Problem } from './problem.ts'
import { lineOf, resolve } from './scope.ts'

const INCLUDE = /^\s*@include\b/

export function refuseOldGrammar(chunk: Chunk, refuse: Refuse): void {
  for (const { value, loc } of chunk.comments ?? []) {
    if (INCLUDE.test(value))
      refuse(loc?.start.line ?? 1, 'remove this line: names of modules below shared are known without it')
  }
}

/** The keys that an operation takes by number, `KEYS[1]`; empty where its syntax is wrong. */
export function numberedKeys(file: string, text: string, list: KeyList | null): Problem[] {
  const chunk = parseLua(text, () => {})
  if (chunk === null) return []
  const listFile = list?.file ?? file.replace(/[^/]+$/, 'keys.lua')
  const lines = linesOf(text)
  const numbered = resolve(chunk).nodes.filter(isNumbered)
  const found = [...new Set(numbered.map(lineOf))].map((line) => ({ line, text: lines[line - 1] ?? '' }))
  return found.map(({ line, text: old }) => ({ file, line, message: insteadOf(old, listFile, list) }))
}

function isNumbered(node: Node): node is IndexExpression {
  return node.type === 'IndexExpression' && node.base.type === 'Identifier' && node.base.name === 'KEYS'
}

const DECLARED = /^local\s+(?<name>\w+)\s*=\s*KEYS\[\d+\](?:\s*--\s*(?<kind>[^:]+):\s*(?<about>.+))?/

function insteadOf(old: string, listFile: string, list: KeyList | null): string {
  const { name, kind = 'hash', about = 'what it holds' } = DECLARED.exec(old)?.groups ?? {}
  if (name === undefined)
    return `keys have names: write keys.name, and in ${listFile} the line name = 'hash', -- what it holds`
  if (list?.keys.some((key) => key.name === name))
    return `remove this line and write keys.${name}, for ${listFile} lists the key`
  return `remove this line and write keys.${name}, and in ${listFile} the line ${name} = '${kind.trim()}', -- ${about.trim()}`
}
