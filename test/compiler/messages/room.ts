// More than Lua has room for, and text that is none.

import { before, HOLD, type Mistake } from './theatre.ts'

const times = (count: number, each: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => each(at)).join('')
const locals = (count: number): string => times(count, (at) => `local a${at} = #seat\n`)

export const ROOM: readonly Mistake[] = [
  {
    mistake: 'too many locals',
    change: before(
      times(210, (at) => `local a${at} = #seat\nredis.call('HSET', keys.seats, a${at}, a${at})\n`),
    ),
    says: [`${HOLD}:1 the script has 214 locals at once: put some into a block, do … end, or into a table`],
  },
  {
    mistake: 'too many locals in a function',
    change: before(`local function f()\n${locals(210)}end\nf()`),
    says: [
      `${HOLD}:11 this function has 210 locals at once: put some into a block, do … end, or into a table`,
    ],
  },
  {
    mistake: 'too many locals of functions around one',
    change: before(`${locals(70)}local function f()\n  return ${times(70, (at) => `a${at} + `)}1\nend\nf()`),
    says: [`${HOLD}:81 this function has 70 locals of functions around it: pass them as a table`],
  },
  {
    mistake: 'too many values',
    change: before(`redis.call('HSET', keys.seats, ${'seat, '.repeat(250)}person)`),
    says: [`${HOLD}:1 the script has 259 values at once: pass them as a table`],
  },
  {
    mistake: 'too much nesting',
    change: before(`${'do\n'.repeat(195)}${'end\n'.repeat(195)}`),
    says: [`${HOLD}:1 the script has 196 levels of nesting: make functions of the inner ones`],
  },
  {
    mistake: 'too many parentheses',
    change: before(
      `local n = ${'('.repeat(195)}#seat${')'.repeat(195)}\nredis.call('HSET', keys.seats, n, n)`,
    ),
    says: [
      `${HOLD}:1 the script has 200 parentheses and levels in each other: compute parts of it first, in locals`,
    ],
  },
  {
    mistake: 'text that is not UTF-8',
    change: {
      [HOLD]: Buffer.from(
        "--[[\nCompté.\n\n@returns done\n@cost    O(1)\n]]\nredis.call('DEL', keys.seats)\nreturn { 'done' }\n",
        'latin1',
      ),
    },
    says: [`${HOLD}:2 this line is not UTF-8: save the file as UTF-8, or write a byte as \\233`],
  },
]
