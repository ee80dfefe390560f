// What goes with a statement that is left out of a script, and which may not go.

import type { Chunk, Comment, Statement } from 'luaparse'
import { type Span, spanOf } from './scope.ts'
import type { Script } from './script.ts'

/** False where what is before it and what is behind it would become one call. */
export function mayGo({ chunk, built: { source } }: Script, statement: Statement): boolean {
  return !/^;?\($/.test(signsBehind(chunk, source, statement))
}

/** The first sign that follows a statement, comments aside, and the one that follows a semicolon. */
export function signsBehind({ comments = [] }: Chunk, source: string, statement: Statement): string {
  const next = behind(source, comments, spanOf(statement).to)
  return source[next] === ';' ? `;${source.charAt(behind(source, comments, next + 1))}` : source.charAt(next)
}

/** Those that are in no other. */
export function outermost(spans: readonly Span[]): Span[] {
  return spans.filter((one) => !spans.some((other) => other !== one && encloses(other, one)))
}

function encloses(outer: Span, { from, to }: Span): boolean {
  return outer.from <= from && to <= outer.to
}

/** What goes with a statement: its semicolon, the comment behind it, and those that stand by themselves above it. */
export function goingWith({ chunk, built: { source }, declarations }: Script, statement: Span): Span[] {
  const comments = (chunk.comments ?? []).filter(({ loc }) => (loc?.start.line ?? 0) >= declarations.after)
  const next = behind(source, comments, statement.to)
  const semicolon = source[next] === ';' ? [{ from: next, to: next + 1 }] : []
  const end = semicolon[0]?.to ?? statement.to
  const after = comments
    .map(spanOf)
    .filter(
      ({ from, to }) => from >= end && /^[^\S\n]*$/.test(source.slice(end, from)) && source[to] === '\n',
    )
  return [
    ...commentsAbove(source, comments, statement),
    statement,
    ...semicolon,
    ...(startsLine(source, statement.from) ? after : []),
  ]
}

function commentsAbove(source: string, comments: readonly Comment[], statement: Span): Span[] {
  const above: Span[] = []
  let first = statement.from
  for (const { from, to } of comments.map(spanOf).toReversed()) {
    if (to > first) continue
    if (!/^\n[^\S\n]*$/.test(source.slice(to, first)) || !startsLine(source, from)) break
    above.push({ from, to })
    first = from
  }
  return above
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
