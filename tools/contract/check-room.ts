// What Redis would refuse to compile, though it is Lua.

import { parse } from 'luaparse'
import { locate } from './include.ts'
import type { Problem } from './problem.ts'
import { roomTaken, type Taken } from './room.ts'
import type { SentText } from './sent-text.ts'

interface Limit {
  readonly most: number
  readonly of: (taken: Taken) => number
  readonly remedy: string
}

// The numbers of Lua 5.1; of registers and levels it keeps a few for itself.
const LIMITS: readonly Limit[] = [
  {
    most: 200,
    of: ({ locals }) => locals,
    remedy: 'locals at once: put some into a block, do … end, or into a table',
  },
  { most: 60, of: ({ outer }) => outer, remedy: 'locals of functions around it: pass them as a table' },
  { most: 240, of: ({ registers }) => registers, remedy: 'values at once: pass them as a table' },
  { most: 190, of: ({ levels }) => levels, remedy: 'levels of nesting: make functions of the inner ones' },
]

/** The text is Lua already, but for how much it takes. */
export function checkRoom({ source, lines }: SentText, problems: Problem[]): void {
  for (const taken of roomTaken(parse(source, { luaVersion: '5.1', locations: true }))) {
    for (const { most, of, remedy } of LIMITS) {
      if (of(taken) <= most) continue
      const what = taken.line === 1 ? 'the script' : 'this function'
      problems.push({ ...locate(lines, taken.line), message: `${what} has ${of(taken)} ${remedy}` })
    }
  }
  const deepest = parentheses(source)
  if (deepest > 180)
    problems.push({ ...locate(lines, 1), message: `the script has ${deepest} parentheses in each other` })
}

/** The parser forgets those around a value. Texts and comments count along: they hold few. */
function parentheses(source: string): number {
  let [open, most] = [0, 0]
  for (const [sign] of source.matchAll(/[()]/g)) {
    open = sign === '(' ? open + 1 : Math.max(0, open - 1)
    most = Math.max(most, open)
  }
  return most
}
