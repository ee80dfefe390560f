// Every call of a script makes all its functions anew: those that nobody calls are left out of it. A fragment may so hold
// more than one operation needs.

import type { FunctionDeclaration } from 'luaparse'
import type { LineRun } from './contract.ts'
import { locate } from './include.ts'
import { type Binding, lineOf } from './scope.ts'
import type { Script } from './script.ts'

interface Text {
  readonly source: string
  readonly lines: readonly LineRun[]
}

interface Range {
  readonly first: number
  readonly last: number
}

/** The text without the functions of the script that nobody calls, and the comments above them. */
export function withoutUnused({ names }: Script, { source, lines }: Text): Text {
  const text = source.split('\n')
  const left = new Set(text.keys())
  for (const { first, last } of unusedFunctions(names.bindings)) {
    for (let at = withComments(text, first); at <= last; at++) left.delete(at - 1)
    // The empty line behind it.
    if (text[last] === '') left.delete(last)
  }
  const kept = [...left]
  return {
    source: kept.map((at) => text[at]).join('\n'),
    lines: runsOf(kept.map((at) => locate(lines, at + 1))),
  }
}

/** The lines of functions that nobody calls, and of those that are called by them only. */
export function unusedFunctions(bindings: readonly Binding[]): Range[] {
  const named = bindings.flatMap(({ fn, reads, writes }) => {
    return fn === null || writes.length > 0 ? [] : [{ range: rangeOf(fn), reads: reads.map(lineOf) }]
  })
  const unused = new Set<Range>()
  for (let before = -1; before < unused.size; ) {
    before = unused.size
    for (const { range, reads } of named) {
      const gone = [...unused, range]
      if (reads.every((line) => gone.some(({ first, last }) => first <= line && line <= last)))
        unused.add(range)
    }
  }
  return [...unused]
}

function rangeOf({ loc }: FunctionDeclaration): Range {
  return { first: loc?.start.line ?? 0, last: loc?.end.line ?? -1 }
}

function withComments(text: readonly string[], line: number): number {
  let first = line
  while (text[first - 2]?.trimStart().startsWith('--') === true) first -= 1
  return first
}

function runsOf(places: readonly { readonly file: string; readonly line: number }[]): LineRun[] {
  return places.flatMap(({ file, line }, at): LineRun[] => {
    const before = places[at - 1]
    return before?.file === file && before.line === line - 1 ? [] : [[at + 1, file, line]]
  })
}
