// What Redis is sent: the built script without what it has no need of. Every line of it leads to one of the built
// script.

import type { Statement } from 'luaparse'
import { withPromotedArguments } from './argument-promotion.ts'
import { hasRoom } from './check-room.ts'
import { sunkLines } from './code-sinking.ts'
import { constantsOf } from './constants.ts'
import type { SentText } from './contract.ts'
import { type Edit, withEdits } from './edit.ts'
import { locate } from './locate.ts'
import { keysInTables } from './keys-in-tables.ts'
import { parseLua } from './parse-lua.ts'
import { lineOf, resolve, type Span } from './scope.ts'
import type { Script } from './script.ts'
import { shortNames } from './short-names.ts'
import { goingWith, outermost } from './statement-removal.ts'
import { leavingLines, runsOf, stripped } from './stripped.ts'
import { withoutBlanks } from './without-blanks.ts'
import { unusedFunctions } from './without-unused.ts'

/** `short` is what is shipped; `readable` has the names, the tables and the blanks of the source. */
export type TextForm = 'short' | 'readable'

export function sentText(script: Script, form: TextForm): SentText {
  if (form === 'readable') return textOf(script, form)
  const promoted = textOf(withPromotedArguments(script), form)
  return hasRoom(promoted) ? promoted : textOf(script, form)
}

function textOf(script: Script, form: TextForm): SentText {
  const { source, lines } = script.built
  const constants = constantsOf(script)
  const unneeded = [...unusedFunctions(script), ...constants.statements]
  const unused = outermost(unneeded).map((each) => goingWith(script, each))
  const removed = unused.flat()
  const moved = notWithin(removed, [...keysInTables(script), ...constants.values])
  const edits = [...removed.map((span) => leavingLines(source, span)), ...moved]
  const text = withEdits(source, edits).split('\n')
  const gone = new Set(unused.flatMap((spans) => emptied(text, source, spans)))
  const kept = [...text.keys()].filter((at) => !gone.has(at))
  const toSent = (from: readonly string[], order: readonly number[]): SentText => ({
    source: order.map((at) => from[at]).join('\n'),
    lines: runsOf(order.map((at) => locate(lines, at + 1))),
  })
  const sunk = sunkLines(kept.map((at) => text[at] ?? '')).map((at) => kept[at] ?? 0)
  const order = hasRoom(toSent(text, sunk)) ? sunk : kept
  if (form === 'readable') return stripped(toSent(text, order))
  const names = notWithin([...removed, ...moved], shortNamesIn(script, [...removed, ...moved]))
  const short = stripped(toSent(withEdits(source, [...edits, ...names]).split('\n'), order))
  return { ...short, source: withoutBlanks(short.source) }
}

/** A module of its own, in the form of a script that uses all of it. */
export function moduleText(text: string, form: TextForm): string {
  const readable = stripped({ source: text, lines: [[1, '', 1]] }).source
  if (form === 'readable') return readable
  const chunk = parseLua(readable, () => {})
  if (chunk === null) return readable
  const naming = { definitions: chunk.body, keyTable: null, gone: [], taken: new Set<string>() }
  return withoutBlanks(withEdits(readable, shortNames(resolve(chunk), naming)))
}

function notWithin(spans: readonly Span[], edits: readonly Edit[]): Edit[] {
  return edits.filter(({ from }) => !spans.some((span) => isIn(from, span)))
}

function shortNamesIn({ file, built, chunk, names }: Script, gone: readonly Span[]): Edit[] {
  const fileOf = (statement: Statement): string => locate(built.lines, lineOf(statement)).file
  return shortNames(names, {
    definitions: chunk.body.filter((statement) => ![file, built.keyList?.file].includes(fileOf(statement))),
    keyTable:
      chunk.body.find((statement) => fileOf(statement) === built.keyList?.file && isTable(statement)) ?? null,
    gone,
    taken: built.modules,
  })
}

function isTable(statement: Statement): boolean {
  return statement.type === 'LocalStatement' && statement.init[0]?.type === 'TableConstructorExpression'
}

function isIn(at: number, { from, to }: Span): boolean {
  return from <= at && at < to
}

/** The lines on which nothing else stood, and the empty one behind them; from 0. */
function emptied(text: readonly string[], source: string, spans: readonly Span[]): number[] {
  const found = spans.flatMap(({ from, to }) => {
    const [first, last] = [lineAt(source, from), lineAt(source, to)]
    return Array.from({ length: last - first + 1 }, (_, at) => first + at)
  })
  const empty = [...new Set(found)].filter((line) => text[line]?.trim() === '')
  const last = Math.max(...found)
  return empty.includes(last) && text[last + 1] === '' ? [...empty, last + 1] : empty
}

function lineAt(source: string, place: number): number {
  let line = 0
  for (let at = source.indexOf('\n'); at >= 0 && at < place; at = source.indexOf('\n', at + 1)) line += 1
  return line
}
