// What Redis is sent: the built script without what it has no need of. Every line of it leads to one of the built script.

import { hasRoom } from './check-room.ts'
import { sunkLines } from './code-sinking.ts'
import { constantsOf } from './constants.ts'
import type { SentText } from './contract.ts'
import { withEdits } from './edit.ts'
import { locate } from './locate.ts'
import { keysInTables } from './keys-in-tables.ts'
import type { Span } from './scope.ts'
import type { Script } from './script.ts'
import { goingWith, outermost } from './statement-removal.ts'
import { leavingLines, runsOf, stripped } from './stripped.ts'
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
  return stripped(hasRoom(sunk) ? sunk : told(kept))
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
  return source.slice(0, place).split('\n').length - 1
}
