// The declarations of arguments.

import { HOLD, LOOK, looking, SEATS, type Mistake } from './theatre.ts'

export const DECLARATIONS: readonly Mistake[] = [
  {
    mistake: 'no kind and no meaning',
    change: { [HOLD]: ['local person = ARGV[2] -- text: who wants it', 'local person = ARGV[2]'] },
    says: [
      `${HOLD}:9 a declaration is one line, with kind and meaning: write local name = ARGV[1] -- text: what it is`,
    ],
  },
  {
    mistake: 'no kind',
    change: {
      [HOLD]: ['local person = ARGV[2] -- text: who wants it', 'local person = ARGV[2] -- who wants it'],
    },
    says: [
      `${HOLD}:9 a declaration is one line, with kind and meaning: write local name = ARGV[1] -- text: what it is`,
    ],
  },
  {
    mistake: 'a kind of another language',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person = ARGV[2] -- string: who wants it',
      ],
    },
    says: [`${HOLD}:9 there is no kind of argument string: use text`],
  },
  {
    mistake: 'a misspelt kind',
    change: {
      [HOLD]: ['local person = ARGV[2] -- text: who wants it', 'local person = ARGV[2] -- txt: who wants it'],
    },
    says: [`${HOLD}:9 there is no kind of argument txt: did you mean text?`],
  },
  {
    mistake: 'a kind that does not exist',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person = ARGV[2] -- money: who wants it',
      ],
    },
    says: [`${HOLD}:9 there is no kind of argument money: use text, bytes, integer, number, flag`],
  },
  {
    mistake: 'a number that is not converted',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person = ARGV[2] -- integer: who wants it',
      ],
    },
    says: [`${HOLD}:9 "ARGV[2]" is text or bytes: for integer write tonumber(ARGV[2])`],
  },
  {
    mistake: 'a text that is converted',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person = tonumber(ARGV[2]) -- text: who wants it',
      ],
    },
    says: [`${HOLD}:9 "tonumber(ARGV[2])" is integer or number: for text write ARGV[2]`],
  },
  {
    mistake: 'a flag that is not compared',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person = ARGV[2] -- flag: who wants it',
      ],
    },
    says: [`${HOLD}:9 "ARGV[2]" is text or bytes: for flag write ARGV[2] == '1'`],
  },
  {
    mistake: 'a flag that is compared with a number',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person = ARGV[2] == 1 -- flag: who wants it',
      ],
    },
    says: [
      `${HOLD}:9 the declaration cannot be read from "ARGV[2] == 1": write ARGV[1], tonumber(ARGV[1]), tonumber(ARGV[1] or 7), ARGV[1] == '1', ARGV[1] ~= '0', or local name, name_at = ARGV, 1 when repeated`,
      `${HOLD}:11 HSETNX takes text and numbers, and person is true or false: write condition and '1' or '0'`,
    ],
  },
  {
    mistake: 'a default of a text',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        "local person = ARGV[2] or 'Ada' -- text: who wants it",
      ],
    },
    says: [
      `${HOLD}:9 the declaration cannot be read from "ARGV[2] or 'Ada'": write ARGV[1], tonumber(ARGV[1]), tonumber(ARGV[1] or 7), ARGV[1] == '1', ARGV[1] ~= '0', or local name, name_at = ARGV, 1 when repeated`,
    ],
  },
  {
    mistake: 'a default below zero',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person = tonumber(ARGV[2] or -1) -- integer: who wants it',
      ],
    },
    says: [
      `${HOLD}:9 the declaration cannot be read from "tonumber(ARGV[2] or -1)": write ARGV[1], tonumber(ARGV[1]), tonumber(ARGV[1] or 7), ARGV[1] == '1', ARGV[1] ~= '0', or local name, name_at = ARGV, 1 when repeated`,
    ],
  },
  {
    mistake: 'a default that is too large',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person = tonumber(ARGV[2] or 9007199254740993) -- integer: who wants it',
      ],
    },
    says: [`${HOLD}:9 the default is too large: write at most 9007199254740991`],
  },
  {
    mistake: 'a number that is left out',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person = ARGV[3] -- text: who wants it',
      ],
    },
    says: [`${HOLD}:9 write ARGV[2] here, not 3: the numbers count up from 1`],
  },
  {
    mistake: 'numbers from zero',
    change: { [HOLD]: ['ARGV[1]', 'ARGV[0]'] },
    says: [
      `${HOLD}:8 write ARGV[1] here, not 0: the numbers count up from 1`,
      `${HOLD}:9 write ARGV[1] here, not 2: the numbers count up from 1`,
    ],
  },
  {
    mistake: 'two in one line',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person, rest = ARGV[2], ARGV[3] -- text: who wants it',
      ],
    },
    says: [`${HOLD}:9 this line declares person, rest: write one declaration a line`],
  },
  {
    mistake: 'three in one line',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person, rest, more = ARGV[2], ARGV[3], ARGV[4] -- text: who wants it',
      ],
    },
    says: [`${HOLD}:9 this line declares person, rest, more: write one declaration a line`],
  },
  {
    mistake: 'a name with a capital',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local personName = ARGV[2] -- text: who wants it',
      ],
    },
    says: [
      `${HOLD}:9 personName is not in lower case with underscores: write person_name`,
      `${HOLD}:11 person is defined nowhere: define it as a local above this line, or in a module below shared`,
    ],
  },
  {
    mistake: 'a word of Lua for a name',
    change: {
      [HOLD]: ['local person = ARGV[2] -- text: who wants it', 'local end = ARGV[2] -- text: who wants it'],
    },
    says: [
      `${HOLD}:9 syntax error: <name> expected near 'end': this word belongs to Lua, so take another name`,
    ],
  },
  {
    mistake: 'an argument that is not used',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person = ARGV[2] -- text: who wants it\nlocal row = ARGV[3] -- text: the row',
      ],
    },
    says: [`${HOLD}:10 the argument row is never used: remove it, or use it`],
  },
  {
    mistake: 'two of one name',
    change: {
      [HOLD]: ['local person = ARGV[2] -- text: who wants it', 'local seat = ARGV[2] -- text: who wants it'],
    },
    says: [
      `${HOLD}:8 the argument seat is never used: remove it, or use it`,
      `${HOLD}:9 there is another argument called seat: rename one`,
      `${HOLD}:11 person is defined nowhere: define it as a local above this line, or in a module below shared`,
    ],
  },
  {
    mistake: 'an argument called keys',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person = ARGV[2] -- text: who wants it\nlocal keys = ARGV[3] -- text: the keys',
      ],
    },
    says: [
      `${HOLD}:10 keys is the table of keys: take another name for this local`,
      `${HOLD}:12 HSETNX takes a key here, and keys is none: list it in keys.lua, and write keys.name`,
      `${HOLD}:15 seats_of takes a key here, and keys is none: list it in keys.lua, and write keys.name`,
    ],
  },
  {
    mistake: 'an argument called as a library',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person = ARGV[2] -- text: who wants it\nlocal string = ARGV[3] -- text: a string',
      ],
    },
    says: [
      `${HOLD}:10 string belongs to Lua: take another name for this local`,
      `${HOLD}:10 the argument string is never used: remove it, or use it`,
    ],
  },
  {
    mistake: 'arguments that are one in TypeScript',
    change: {
      [LOOK]: looking(
        "local row_1 = ARGV[1] -- text: a row\nlocal row1 = ARGV[2] -- text: another\n\nredis.call('HMGET', keys.seats, row_1, row1)\nreturn { 'seen' }\n",
      ),
    },
    says: [`${LOOK}:9 row_1 and row1 are both row1 in TypeScript: rename one`],
  },
  {
    mistake: 'an argument that every object has',
    change: {
      [LOOK]: looking(
        "local value_of = ARGV[1] -- text: a row\n\nredis.call('HGET', keys.seats, value_of)\nreturn { 'seen' }\n",
      ),
    },
    says: [
      `${LOOK}:8 every object of JavaScript has something called valueOf: take another name for value_of`,
    ],
  },
  {
    mistake: 'ARGV in the script',
    change: { [HOLD]: ['seat, person) ==', 'seat, ARGV[2]) =='] },
    says: [
      `${HOLD}:9 the argument person is never used: remove it, or use it`,
      `${HOLD}:11 ARGV stands in the declarations only, directly behind the head: write local name = ARGV[1] -- text: what it is there, and name here`,
    ],
  },
  {
    mistake: 'ARGV in a function',
    change: { [SEATS]: ["redis.call('HLEN', seats)", "redis.call('HLEN', seats) + ARGV[1]"] },
    says: [
      `${SEATS}:2 ARGV stands in the declarations only, directly behind the head: write local name = ARGV[1] -- text: what it is there, and name here`,
    ],
  },
  {
    mistake: 'a comment between declarations',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        '-- The person.\nlocal person = ARGV[2] -- text: who wants it',
      ],
    },
    says: [
      `${HOLD}:10 ARGV stands in the declarations only, directly behind the head: write local name = ARGV[1] -- text: what it is there, and name here`,
    ],
  },
  {
    mistake: 'a repeated argument without fields',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person, person_at = ARGV, 2 -- repeated (): who wants it',
      ],
    },
    says: [`${HOLD}:9 this repeated argument has no field: write repeated (id:integer): what it is`],
  },
  {
    mistake: 'a list in a repeated argument',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person, person_at = ARGV, 2 -- repeated (all:[id:integer]): who wants it',
      ],
    },
    says: [`${HOLD}:9 all is a list in a list: give its fields to the list around it`],
  },
  {
    mistake: 'a repeated argument whose field may be null',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person, person_at = ARGV, 2 -- repeated (name:text?): who wants it',
      ],
    },
    says: [`${HOLD}:9 the field name of a repeated argument cannot be null: remove its question mark`],
  },
  {
    mistake: 'a repeated argument from another place',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person, person_at = ARGV, 3 -- repeated (name:text): who wants it',
      ],
    },
    says: [`${HOLD}:9 write ARGV, 2 here, not 3: the numbers count up from 1`],
  },
  {
    mistake: 'a repeated argument in one name',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person = ARGV, 2 -- repeated (name:text): who wants it',
      ],
    },
    says: [
      `${HOLD}:9 the declaration cannot be read from "ARGV, 2": write ARGV[1], tonumber(ARGV[1]), tonumber(ARGV[1] or 7), ARGV[1] == '1', ARGV[1] ~= '0', or local name, name_at = ARGV, 1 when repeated`,
    ],
  },
  {
    mistake: 'an argument behind a repeated one',
    change: {
      [LOOK]: looking(
        "local rows, rows_at = ARGV, 1 -- repeated (row:text): rows\nlocal seat = ARGV[2] -- text: the seat\n\nredis.call('HGET', keys.seats, rows[rows_at] .. seat)\nreturn { 'seen' }\n",
      ),
    },
    says: [`${LOOK}:9 no argument may follow rows, which is repeated: move rows to the end`],
  },
  {
    mistake: 'a walk by a wrong step',
    change: {
      [LOOK]: looking(
        "local rows, rows_at = ARGV, 1 -- repeated (row:text at:integer): rows\n\nfor at = rows_at, #rows do\n  redis.call('HGET', keys.seats, rows[at])\nend\nreturn { 'seen' }\n",
      ),
    },
    says: [`${LOOK}:10 rows comes in groups of 2: write #ROWS as the step, or 2`],
  },
  {
    mistake: 'fields of a table that is defined nowhere',
    change: {
      [LOOK]: looking(
        "local rows, rows_at = ARGV, 1 -- repeated ROWS: rows\n\nredis.call('HGET', keys.seats, rows[rows_at])\nreturn { 'seen' }\n",
      ),
    },
    says: [
      `${LOOK}:8 ROWS names no fields in any module: write local NAME = fields({ 'first:text', 'second:integer' }) or bits({ 'first', 'second' })`,
      `${LOOK}:8 this repeated argument has no field: write repeated (id:integer): what it is`,
    ],
  },
  {
    mistake: 'caller without call',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        'local person = ARGV[2] -- text: who wants it\nlocal caller = ARGV[3] -- text: process and slot',
      ],
    },
    says: [`${HOLD}:10 the argument caller is never used: remove it, or use it`],
  },
]
