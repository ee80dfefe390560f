// Every call of a script makes all its functions anew: those that nobody calls are left out of it. A fragment may so hold
// more than one operation needs. What is left out are statements, wherever they stand on their lines.

import type { Comment } from 'luaparse'
import { isWithin, type Span, spanOf } from './scope.ts'
import type { Script } from './script.ts'

/** The statements that make functions which nobody calls, or which only such functions call; those in others of them are left out. */
export function unusedFunctions({ names, chunk, built }: Script): Span[] {
  const made = names.bindings.flatMap(({ fn, statement, reads, writes }) => {
    if (fn === null || statement === null || writes.length > 0) return []
    const span = spanOf(statement)
    const next = behind(built.source, chunk.comments ?? [], span.to)
    const after = built.source[next] === ';' ? behind(built.source, chunk.comments ?? [], next + 1) : next
    // What is before it and this would become one call.
    return built.source[after] === '(' ? [] : [{ span, reads }]
  })
  const unused = new Set<Span>()
  for (let before = -1; before < unused.size; ) {
    before = unused.size
    for (const { span, reads } of made) {
      if (reads.every((read) => isWithin(read, [...unused, span]))) unused.add(span)
    }
  }
  return [...unused].filter((one) => ![...unused].some((other) => other !== one && encloses(other, one)))
}

function encloses(outer: Span, { from, to }: Span): boolean {
  return outer.from <= from && to <= outer.to
}

/** What goes with such a statement: its semicolon, and the comments that stand by themselves above it. */
export function goingWith({ chunk, built, declarations }: Script, unused: Span): Span[] {
  const { comments = [] } = chunk
  const next = behind(built.source, comments, unused.to)
  const semicolon = built.source[next] === ';' ? [{ from: next, to: next + 1 }] : []
  const above: Span[] = []
  let first = unused.from
  for (const comment of comments.toReversed()) {
    const { from, to } = spanOf(comment)
    if (to > first) continue
    const isAbove = /^\n[^\S\n]*$/.test(built.source.slice(to, first)) && startsLine(built.source, from)
    if (!isAbove || (comment.loc?.start.line ?? 0) < declarations.after) break
    above.push({ from, to })
    first = from
  }
  return [...above, unused, ...semicolon]
}

/** Where the next thing begins that is no comment. */
function behind(source: string, comments: readonly Comment[], from: number): number {
  const next = from + source.slice(from).search(/\S|$/)
  const comment = comments.map(spanOf).find((span) => span.from === next)
  return comment === undefined ? next : behind(source, comments, comment.to)
}

function startsLine(source: string, at: number): boolean {
  return source.slice(source.lastIndexOf('\n', at - 1) + 1, at).trim() === ''
}
