// What the grammar had before, and what to write now.

import type { Chunk } from 'luaparse'
import type { Refuse } from './head.ts'

const INCLUDE = /^\s*@include\b/

export function refuseOldGrammar(chunk: Chunk, refuse: Refuse): void {
  for (const { value, loc } of chunk.comments ?? []) {
    if (INCLUDE.test(value))
      refuse(
        loc?.start.line ?? 1,
        'there are no includes any more: remove this line, for names are found in the modules below shared',
      )
  }
}
