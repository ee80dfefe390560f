// What Redis has no need of goes: comments, indentation and empty lines. Each line still leads to the one that it
// comes from.

import { type Node, parse } from 'luaparse'
import type { LineRun, SentText } from './contract.ts'
import { type Edit, withEdits } from './edit.ts'
import { locate } from './locate.ts'
import { spanOf } from './scope.ts'

export function stripped({ source, lines }: SentText): SentText {
  const texts: Node[] = []
  const onCreateNode = (node: Node): void => void (node.type === 'StringLiteral' && texts.push(node))
  const { comments = [] } = parse(source, { luaVersion: '5.1', locations: true, ranges: true, onCreateNode })
  const without = withEdits(
    source,
    comments.map((comment) => leavingLines(source, spanOf(comment))),
  )
  // A text over several lines stays as it is, but for what is before and behind it.
  const within = new Set(texts.flatMap(({ loc }) => linesFrom(loc?.start.line ?? 1, loc?.end.line ?? 1)))
  const kept = without.split('\n').flatMap((line, at) => {
    const isWithin = (number: number): boolean => within.has(number)
    const begun = isWithin(at + 1) ? line : line.trimStart()
    const text = isWithin(at + 2) ? begun : begun.trimEnd()
    return text === '' && !isWithin(at + 1) && !isWithin(at + 2)
      ? []
      : [{ text, from: locate(lines, at + 1) }]
  })
  return {
    source: kept.map(({ text }) => text).join('\n'),
    lines: runsOf(kept.map(({ from }) => from)),
  }
}

/** The lines that begin within something from one line to another. */
function linesFrom(first: number, last: number): number[] {
  return Array.from({ length: last - first }, (_, at) => first + at + 1)
}

/** Its neighbours stay separate tokens, on their lines. */
export function leavingLines(
  source: string,
  { from, to }: { readonly from: number; readonly to: number },
): Edit {
  const breaks = source.slice(from, to).match(/\n/g)?.length ?? 0
  return { from, to, text: breaks === 0 ? ' ' : '\n'.repeat(breaks) }
}

export function runsOf(places: readonly { readonly file: string; readonly line: number }[]): LineRun[] {
  return places.flatMap(({ file, line }, at): LineRun[] => {
    const before = places[at - 1]
    return before?.file === file && before.line === line - 1 ? [] : [[at + 1, file, line]]
  })
}
