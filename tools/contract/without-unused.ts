// Every call of a script creates all its functions: those without a caller are left out of it. So a fragment may
// contain more than one operation needs. Statements are left out, wherever they are on their lines.

import { isWithin, type Span, spanOf } from './scope.ts'
import type { Script } from './script.ts'
import { mayGo } from './statement-removal.ts'

/** The statements that make functions without a caller, or with such callers only; nested ones, too. */
export function unusedFunctions(script: Script): Span[] {
  const made = script.names.bindings.flatMap(({ fn, statement, reads, writes }) => {
    if (fn === null || statement === null || writes.length > 0) return []
    return mayGo(script, statement) ? [{ span: spanOf(statement), reads }] : []
  })
  const unused = new Set<Span>()
  for (let before = -1; before < unused.size; ) {
    before = unused.size
    for (const { span, reads } of made) {
      if (reads.every((read) => isWithin(read, [...unused, span]))) unused.add(span)
    }
  }
  return [...unused]
}
