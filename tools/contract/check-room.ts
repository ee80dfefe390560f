// What Redis would refuse to compile, though it is Lua.

import { parse } from 'luaparse'
import type { SentText } from './contract.ts'
import { locate } from './locate.ts'
import type { Problem } from './problem.ts'
import { roomTaken, type Taken } from './room.ts'

interface Limit {
  readonly most: number
  readonly of: (taken: Taken) => number
  readonly mend: string
}

// The numbers of Lua 5.1; of registers and levels it keeps a few for itself.
const LIMITS: readonly Limit[] = [
  {
    most: 200,
    of: ({ locals }) => locals,
    mend: 'locals at once: put some into a block, do … end, or into a table',
  },
  { most: 60, of: ({ outer }) => outer, mend: 'locals of functions around it: pass them as a table' },
  { most: 240, of: ({ registers }) => registers, mend: 'values at once: pass them as a table' },
  { most: 190, of: ({ levels }) => levels, mend: 'levels of nesting: make functions of the inner ones' },
]

/** Of levels and parentheses that only group, for Lua counts both. */
const DEEPEST = 190

export function hasRoom(text: SentText): boolean {
  const problems: Problem[] = []
  checkRoom(text, '', problems)
  return problems.length === 0
}

/** The text is Lua already, but for how much it takes. `file`: the operation. */
export function checkRoom({ source, lines }: SentText, file: string, problems: Problem[]): void {
  const all = roomTaken(parse(source, { luaVersion: '5.1', locations: true }))
  const found = problems.length
  for (const taken of all) {
    for (const { most, of, mend } of LIMITS) {
      if (of(taken) <= most) continue
      const isScript = taken.line === 1 // its first line may be of keys.lua
      const place = isScript ? { file, line: 1 } : locate(lines, taken.line)
      const what = isScript ? 'the script' : 'this function'
      problems.push({ ...place, message: `${what} has ${of(taken)} ${mend}` })
    }
  }
  if (problems.length > found) return
  const deepest = groupsInEachOther(source) + Math.max(...all.map(({ levels }) => levels))
  if (deepest > DEEPEST)
    problems.push({
      file,
      line: 1,
      message: `the script has ${deepest} parentheses and levels in each other: compute parts of it first, in locals`,
    })
}

/** What calls something: a name that is no word of Lua, or what ends a value. */
const CALLED = /(?:[)\]}'"]|(?!\b(?:and|or|not|return|if|elseif|while|until|in)\b)\b[A-Za-z_]\w*)\s*$/

/**
 * How many parentheses that only group are in each other: the parser forgets them. Those of calls it knows. Texts and comments
 * count along: they hold few.
 */
function groupsInEachOther(source: string): number {
  const open: boolean[] = []
  let [groups, most] = [0, 0]
  for (const { 0: sign, index } of source.matchAll(/[()]/g)) {
    if (sign === '(') {
      const isGroup = !CALLED.test(source.slice(Math.max(0, index - 40), index))
      open.push(isGroup)
      groups += isGroup ? 1 : 0
    } else if (open.pop()) groups -= 1
    most = Math.max(most, groups)
  }
  return most
}
