// Modules, and what operations take of them.

import { before, HOLD, LOOK, looking, type Mistake, SEATS } from './theatre.ts'

export const MODULES: readonly Mistake[] = [
  {
    mistake: 'a module that acts',
    change: { [SEATS]: ['local', "redis.call('PING')\nlocal"] },
    says: [
      `${SEATS}:1 a module has local functions and constants only: write local function name(…), or move this into an operation`,
    ],
  },
  {
    mistake: 'a module that returns a table',
    change: { [SEATS]: 'local M = {}\nlocal function seats_of(seats)\n  return 1\nend\nreturn M\n' },
    says: [
      `${SEATS}:5 a module has local functions and constants only: write local function name(…), or move this into an operation`,
    ],
  },
  {
    mistake: 'a global function',
    change: { [SEATS]: ['local function', 'function'] },
    says: [
      `${SEATS}:1 a module has local functions and constants only: write local function name(…), or move this into an operation`,
      `${HOLD}:14 seats_of is defined nowhere: define it as a local above this line, or in a module below shared`,
    ],
  },
  {
    mistake: 'a definition behind the end of another one',
    change: { [SEATS]: ['end\n', 'end\n; local function none()\n  return 0\nend\n'] },
    says: [
      `${SEATS}:4 a definition of a module is sent alone, and this line begins with the end of another one: put its ; on the line above`,
    ],
  },
  {
    mistake: 'a function that is defined twice',
    change: { 'redis/shared/more.lua': 'local function seats_of(seats)\n  return 1\nend\n' },
    says: [`${SEATS}:1 seats_of is also defined in redis/shared/more.lua: rename one`],
  },
  {
    mistake: 'functions that need each other',
    change: {
      [SEATS]:
        'local function seats_of(seats)\n  return count(seats)\nend\nlocal function count(seats)\n  return seats_of(seats)\nend\n',
    },
    says: [
      `${SEATS}:1 these definitions need each other, seats_of → count → seats_of: make one of them, for Lua knows a name only behind its definition`,
    ],
  },
  {
    mistake: 'a local of the operation',
    change: { [SEATS]: ['seats)\nend', 'seats) + #person\nend'] },
    says: [
      `${SEATS}:2 person is a local of redis/theatre/hold.lua, and modules do not see it: pass it as a parameter`,
    ],
  },
  {
    mistake: 'a local of the operation that comes later',
    change: {
      [SEATS]: ['seats)\nend', 'seats) + later\nend'],
      [HOLD]: [
        "return { 'held', seats_of(keys.seats) }",
        "local later = seats_of(keys.seats)\nreturn { 'held', later }",
      ],
    },
    says: [
      `${SEATS}:2 later is a local of redis/theatre/hold.lua, and modules do not see it: pass it as a parameter`,
    ],
  },
  {
    mistake: 'syntax',
    change: { [SEATS]: ['\nend', '\n'] },
    says: [
      `${SEATS}:4 syntax error: 'end' expected near '<eof>': an if, a loop or a function has no end; else if needs two, elseif one`,
      `${HOLD}:14 seats_of is defined nowhere: define it as a local above this line, or in a module below shared`,
    ],
  },
  {
    mistake: '@optional above nothing',
    change: { [SEATS]: ['local function', '-- @optional HLEN where it is\n\nlocal function'] },
    says: [
      `${SEATS}:1 @optional is not above a function: move it right above the one that calls the command`,
    ],
  },
  {
    mistake: 'an include',
    change: before('-- @include shared/seats'),
    says: [`${HOLD}:11 remove this line: names of modules below shared are known without it`],
  },
  {
    mistake: 'a call that may be refused without try',
    change: before('local remembered = recall(seat, person)'),
    says: [`${HOLD}:11 recall may refuse the call: write local name = try(recall(…))`],
  },
  {
    mistake: 'try in an expression',
    change: { [HOLD]: ['seats_of(keys.seats) }', 'try(recall(seat, person)) }'] },
    says: [
      `${HOLD}:14 recall may refuse the call: write local name = try(recall(…))`,
      `${HOLD}:14 try stands in a statement of its own, outside functions: write local name = try(open_name(…))`,
    ],
  },
  {
    mistake: 'try in a function of a module',
    change: { [SEATS]: ['seats)\nend', 'try(seats))\nend'] },
    says: [
      `${SEATS}:2 HLEN takes a key here, and this value is none: list it in keys.lua, and write keys.name`,
      `${SEATS}:2 try stands in a statement of its own, outside functions: write local name = try(open_name(…))`,
    ],
  },
  {
    mistake: 'a table of fields that is a value',
    change: {
      [SEATS]: ['local', "local ROWS = fields({ 'row:text', 'at:integer' })\nlocal"],
      [HOLD]: ['if redis', 'local rows = ROWS\nif redis'],
    },
    says: [`${HOLD}:11 ROWS names numbers: write ROWS.name, or #ROWS`],
  },
  {
    mistake: 'a misspelt field',
    change: {
      [SEATS]: ['local', "local ROWS = fields({ 'row:text', 'at:integer' })\nlocal"],
      [HOLD]: ['if redis', 'local at = 1 + ROWS.rwo\nif redis'],
    },
    says: [`${HOLD}:11 ROWS has no rwo: did you mean row?`],
  },
  {
    mistake: 'a bit that there is not',
    change: {
      [SEATS]: ['local', "local MARKS = bits({ 'sold', 'kept' })\nlocal"],
      [HOLD]: ['if redis', 'local mark = 1 + MARKS.returned\nif redis'],
    },
    says: [`${HOLD}:11 MARKS has no returned: it has sold, kept`],
  },
  {
    mistake: 'fields that are not written out',
    change: { [SEATS]: ['local', "local ROWS = fields({ 'row:text', seats })\nlocal"] },
    says: [
      `${SEATS}:1 write local NAME = fields({ 'first:text', 'second:integer' }) or bits({ 'first', 'second' })`,
    ],
  },
  {
    mistake: 'a field that is there twice',
    change: { [SEATS]: ['local', "local ROWS = fields({ 'row:text', 'row:text' })\nlocal"] },
    says: [`${SEATS}:1 ROWS has two fields called row: rename one`],
  },
  {
    mistake: 'a slip that two operations share, which is said once',
    change: {
      [SEATS]: "local function seats_of(seats)\n  return redis.call('HLEN', 'seats') + #seats\nend\n",
      [LOOK]: looking("seats_of(keys.seats)\nreturn { 'seen' }\n"),
    },
    says: [`${SEATS}:2 HLEN takes a key here, and 'seats' is none: write keys.seats`],
  },
  {
    mistake: 'several at once, which are said in the order of the lines',
    change: before("redis.call('DEL', 'a')\ntotal = 1\nredis.call('EVAL', 'x')"),
    says: [
      `${HOLD}:11 DEL takes a key here, and 'a' is none: list it in keys.lua, and write keys.name`,
      `${HOLD}:12 the global total may not be set: write local before its first use`,
      `${HOLD}:13 a script may not call EVAL: call a function of a module below shared`,
    ],
  },
]
