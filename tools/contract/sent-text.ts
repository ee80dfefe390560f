// What Redis is sent: the built script without what it has no need of. Every line of it leads to one of the built script.

import { hasRoom } from './check-room.ts'
import { sunkLines } from './code-sinking.ts'
import { constantsOf } from './constants.ts'
import type { LineRun, SentText } from './contract.ts'
import { type Edit, withEdits } from './edit.ts'
import { locate } from './link.ts'
import { keysInTables } from './keys-in-tables.ts'
import type { Span } from './scope.ts'
import type { Script } from './script.ts'
import { goingWith, outermost } from './statement-removal.ts'
import { unusedFunctions } from './without-unused.ts'

export function sentText(script: Script): SentText {
  const { source, lines } = script.built
  const constants = constantsOf(script)
  const unneeded = [...unusedFunctions(script), ...constants.statements]
  const unused = outermost(unneeded).map((each) => goingWith(script, each))
  const removed = unused.flat()
  const moved = [...keysInTables(script), ...constants.values].filter(
    ({ from }) => !removed.some((span) => isIn(from, span)),
  )
  const text = withEdits(source, [...removed.map((span) => leavingLines(source, span)), ...moved]).split('\n')
  const gone = new Set(unused.flatMap((spans) => emptied(text, source, spans)))
  const kept = [...text.keys()].filter((at) => !gone.has(at))
  const told = (order: readonly number[]): SentText => ({
    source: order.map((at) => text[at]).join('\n'),
    lines: runsOf(order.map((at) => locate(lines, at + 1))),
  })
  const sunk = told(sunkLines(kept.map((at) => text[at] ?? '')).map((at) => kept[at] ?? 0))
  return hasRoom(sunk) ? sunk : told(kept)
}

function isIn(at: number, { from, to }: Span): boolean {
  return from <= at && at < to
}

/** What is beside it stays two things, on the lines where it was. */
function leavingLines(source: string, { from, to }: Span): Edit {
  const breaks = source.slice(from, to).match(/\n/g)?.length ?? 0
  return { from, to, text: breaks === 0 ? ' ' : '\n'.repeat(breaks) }
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
  return source.slice(0, place).split('\n').length - 1
}

function runsOf(places: readonly { readonly file: string; readonly line: number }[]): LineRun[] {
  return places.flatMap(({ file, line }, at): LineRun[] => {
    const before = places[at - 1]
    return before?.file === file && before.line === line - 1 ? [] : [[at + 1, file, line]]
  })
}
