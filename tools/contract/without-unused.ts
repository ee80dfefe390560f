// Every call of a script makes all its functions anew: those that nobody calls are left out of it. A fragment may so hold
// more than one operation needs. What is left out are statements, wherever they stand on their lines.

import { isWithin, type Span, spanOf } from './scope.ts'
import type { Script } from './script.ts'
import { mayGo } from './statement-removal.ts'

/** The statements that make functions which nobody calls, or which only such functions call; those in others of them, too. */
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
