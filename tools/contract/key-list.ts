// The keys of a structure, declared once in `<structure>/keys.lua`, in the order in which its scripts are given those that they use.

import type { Comment, TableKeyString } from 'luaparse'
import { commentOn } from './comments.ts'
import { KINDS } from './declarations.ts'
import type { Refuse } from './head.ts'
import { literal } from './scope.ts'
import { lineOf } from './scope.ts'
import { parseLua } from './parse-lua.ts'

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
}

const FORM = "write return { name = 'hash', -- what it holds }, one key a line"

export function readKeyList(file: string, text: string, refuse: Refuse): KeyList {
  const chunk = parseLua(text, refuse)
  const [statement, more] = chunk?.body ?? []
  const table = statement?.type === 'ReturnStatement' ? statement.arguments[0] : undefined
  if (chunk === null) return { file, keys: [] }
  if (table?.type !== 'TableConstructorExpression' || more !== undefined) {
    refuse(
      statement === undefined ? 1 : lineOf(statement),
      `this file lists the keys of a structure: ${FORM}`,
    )
    return { file, keys: [] }
  }
  const keys = table.fields.flatMap((field) => {
    const key = field.type === 'TableKeyString' ? readKey(field, chunk.comments ?? [], refuse) : null
    if (field.type !== 'TableKeyString') refuse(lineOf(field), `a key has a name: ${FORM}`)
    return key === null ? [] : [key]
  })
  for (const [at, { name, line }] of keys.entries()) {
    if (keys.findIndex((each) => each.name === name) < at) refuse(line, `the key ${name} is listed twice`)
  }
  return { file, keys }
}

function readKey(
  { key, value, ...field }: TableKeyString,
  comments: readonly Comment[],
  refuse: Refuse,
): ListedKey | null {
  const line = field.loc?.start.line ?? 1
  const kind = literal(value)
  const about = commentOn(line, comments) ?? ''
  if (!/^[a-z][a-z0-9_]*$/.test(key.name))
    refuse(line, `${key.name} is not a name in lower case with underscores`)
  else if (kind === null || !KINDS.has(kind))
    refuse(line, `${key.name}: "${kind ?? 'this'}" is no kind of key: use ${[...KINDS.keys()].join(', ')}`)
  else if (about === '') refuse(line, `${key.name}: say behind it, in a comment, what it holds`)
  else return { name: key.name, kind, about, line }
  return null
}
