// The keys of a structure, declared once in `<structure>/keys.lua`, in the order in which its scripts are given those that they use.

import type { Comment, TableKeyString } from 'luaparse'
import { commentOn } from './comments.ts'
import { KINDS, noKind } from './declarations.ts'
import type { Refuse } from './head.ts'
import { parseLua } from './parse-lua.ts'
import type { Problem } from './problem.ts'
import { lineOf, literal, resolve } from './scope.ts'
import { notSnake } from './spelling.ts'

export interface ListedKey {
  readonly name: string
  /** As it is written: `sorted set`. */
  readonly kind: string
  readonly about: string
  readonly line: number
}

export interface KeyList {
  readonly file: string
  readonly keys: readonly ListedKey[]
  /** False when a line could not be read: what is said of the operations then misleads. */
  readonly sound: boolean
}

const FORM = "write return { name = 'hash', -- what it holds }, one key a line"

export function readKeyList(file: string, text: string, refuseLine: Refuse): KeyList {
  let sound = true
  const refuse: Refuse = (line, message) => {
    sound = false
    refuseLine(line, message)
  }
  const chunk = parseLua(text, refuse)
  const [statement, more] = chunk?.body ?? []
  const table = statement?.type === 'ReturnStatement' ? statement.arguments[0] : undefined
  if (chunk === null) return { file, keys: [], sound }
  if (table?.type !== 'TableConstructorExpression' || more !== undefined) {
    refuse(statement === undefined ? 1 : lineOf(statement), `this file is not a list of keys: ${FORM}`)
    return { file, keys: [], sound }
  }
  const keys = table.fields.flatMap((field) => {
    const key = field.type === 'TableKeyString' ? readKey(field, chunk.comments ?? [], refuse) : null
    if (field.type !== 'TableKeyString') refuse(lineOf(field), `this key has no name: ${FORM}`)
    return key === null ? [] : [key]
  })
  for (const [at, { name, line }] of keys.entries()) {
    if (keys.findIndex((each) => each.name === name) < at)
      refuse(line, `the key ${name} is listed twice: rename one`)
    else if (keys[at - 1]?.line === line) refuse(line, `this line lists two keys: ${FORM}`)
  }
  return { file, keys, sound }
}

/** Where an operation takes keys of a list that is not there. */
export function missingKeys(file: string, text: string): Problem[] {
  const chunk = parseLua(text, () => {})
  const first = chunk && resolve(chunk).globalReads.find(({ name }) => name === 'keys')
  if (!first) return []
  const list = file.replace(/[^/]+$/, 'keys.lua')
  return [{ file, line: lineOf(first), message: `${list} is missing: ${FORM}, in that file` }]
}

function readKey(
  { key, value, ...field }: TableKeyString,
  comments: readonly Comment[],
  refuse: Refuse,
): ListedKey | null {
  const line = field.loc?.start.line ?? 1
  const kind = literal(value)
  const about = commentOn(line, comments) ?? ''
  if (!/^[a-z][a-z0-9_]*$/.test(key.name)) refuse(line, notSnake(key.name))
  else if (kind === null) refuse(line, `the key ${key.name} has no kind: ${FORM}`)
  else if (!KINDS.has(kind)) refuse(line, noKind(kind))
  else if (about === '')
    refuse(line, `the key ${key.name} has no meaning: write it after the key, -- what it holds`)
  else return { name: key.name, kind, about, line }
  return null
}
