// Lua: its supported features, and constructs that are always rejected.

import { before, HOLD, type Mistake } from './theatre.ts'

export const LUA: readonly Mistake[] = [
  {
    mistake: 'the clock of the machine',
    change: before('local now = os.time()'),
    says: [
      `${HOLD}:11 the global os may not be used: clock_us() gives the time of the server in microseconds`,
    ],
  },
  {
    mistake: 'output',
    change: before('print(seat)'),
    says: [
      `${HOLD}:11 the global print may not be used: a script writes nothing out, so put the value into the answer`,
    ],
  },
  {
    mistake: 'JSON',
    change: before('local text = cjson.encode({ seat })'),
    says: [
      `${HOLD}:11 the global cjson may not be used: pass each value as an argument, and lists as repeated arguments and lists in answers`,
    ],
  },
  {
    mistake: 'MessagePack',
    change: before('local text = cmsgpack.pack(seat)'),
    says: [
      `${HOLD}:11 the global cmsgpack may not be used: pass each value as an argument, and lists as repeated arguments and lists in answers`,
    ],
  },
  {
    mistake: 'a module that is required',
    change: before("local seats = require('seats')"),
    says: [
      `${HOLD}:11 the global require may not be used: call functions of modules below shared by their names`,
    ],
  },
  {
    mistake: 'a file that is run',
    change: before("dofile('seats.lua')"),
    says: [
      `${HOLD}:11 the global dofile may not be used: call functions of modules below shared by their names`,
    ],
  },
  {
    mistake: 'text as code',
    change: before("local f = loadstring('return 1')"),
    says: [`${HOLD}:11 the global loadstring may not be used: write the code out`],
  },
  {
    mistake: 'code that is loaded',
    change: before("local f = load('return 1')"),
    says: [`${HOLD}:11 the global load may not be used: write the code out`],
  },
  {
    mistake: 'the table of globals',
    change: before('local seats = _G.seats'),
    says: [`${HOLD}:11 the global _G may not be used: write local variables`],
  },
  {
    mistake: 'an environment',
    change: before('local all = getfenv(1)'),
    says: [`${HOLD}:11 the global getfenv may not be used: write local variables`],
  },
  {
    mistake: 'an environment that is set',
    change: before('setfenv(1, {})'),
    says: [`${HOLD}:11 the global setfenv may not be used: write local variables`],
  },
  {
    mistake: 'a metatable',
    change: before('local all = setmetatable({}, {})'),
    says: [`${HOLD}:11 the global setmetatable may not be used: write plain tables and functions`],
  },
  {
    mistake: 'rawset',
    change: before('rawset({}, 1, 1)'),
    says: [`${HOLD}:11 the global rawset may not be used: write plain tables and functions`],
  },
  {
    mistake: 'xpcall',
    change: before('xpcall(tostring, tostring)'),
    says: [`${HOLD}:11 the global xpcall may not be used: write pcall`],
  },
  {
    mistake: 'the collector',
    change: before('collectgarbage()'),
    says: [`${HOLD}:11 the global collectgarbage may not be used: remove it`],
  },
  {
    mistake: 'a library of a newer Lua',
    change: before('local length = utf8.len(seat)'),
    says: [`${HOLD}:11 the global utf8 may not be used: Redis has Lua 5.1, with string and bit`],
  },
  {
    mistake: 'a global',
    change: before('total = 1'),
    says: [`${HOLD}:11 the global total may not be set: write local before its first use`],
  },
  {
    mistake: 'a global function',
    change: before('function total() end'),
    says: [`${HOLD}:11 the global total may not be set: write local before its first use`],
  },
  {
    mistake: 'a local called as a library',
    change: before('local table = {}'),
    says: [`${HOLD}:11 table belongs to Lua: take another name for this local`],
  },
  {
    mistake: 'a local called keys',
    change: before('local keys = {}'),
    says: [
      `${HOLD}:11 keys is the table of keys: take another name for this local`,
      `${HOLD}:12 HSETNX takes a key here, and keys is none: list it in keys.lua, and write keys.name`,
      `${HOLD}:15 seats_of takes a key here, and keys is none: list it in keys.lua, and write keys.name`,
    ],
  },
  {
    mistake: 'a misspelt name',
    change: { [HOLD]: ['seats_of(', 'seat_of('] },
    says: [`${HOLD}:14 seat_of is defined nowhere: did you mean seats_of?`],
  },
  {
    mistake: 'a name that is defined nowhere',
    change: before('local lease = open_queue(person)'),
    says: [
      `${HOLD}:11 open_queue is defined nowhere: define it as a local above this line, or in a module below shared`,
    ],
  },
  {
    mistake: 'a function before its definition',
    change: before('again()\nlocal function again() end'),
    says: [`${HOLD}:11 again is not known yet: move its definition in line 12 above this line`],
  },
  {
    mistake: 'a misspelt function of a library',
    change: before("local text = string.fromat('%d', 1)"),
    says: [`${HOLD}:11 string has no fromat: did you mean format?`],
  },
  {
    mistake: 'a function that a library has not',
    change: before('local text = string.split(seat)'),
    says: [
      `${HOLD}:11 string has no split: it has byte, char, find, format, gmatch, gsub, len, lower, match, rep, reverse, sub, upper`,
    ],
  },
  {
    mistake: 'random numbers',
    change: before('local n = math.random(5)'),
    says: [
      `${HOLD}:11 math.random may not be used: Redis sets the seed before each call, so all calls get the same numbers: take a random number as an argument`,
    ],
  },
  {
    mistake: 'unpack of a newer Lua',
    change: before('local n = table.unpack({ 1 })'),
    says: [`${HOLD}:11 table.unpack may not be used: write unpack`],
  },
  {
    mistake: 'pack of a newer Lua',
    change: before('local all = table.pack(1)'),
    says: [`${HOLD}:11 table.pack may not be used: write { … }`],
  },
  {
    mistake: 'the length of a table in an old Lua',
    change: before('local n = table.getn({})'),
    says: [`${HOLD}:11 table.getn may not be used: write #list`],
  },
  {
    mistake: 'the remainder of an old Lua',
    change: before('local n = math.mod(5, 2)'),
    says: [`${HOLD}:11 math.mod may not be used: write a % b`],
  },
  {
    mistake: 'whole numbers of a newer Lua',
    change: before('local n = math.tointeger(5)'),
    says: [
      `${HOLD}:11 math.tointeger may not be used: Redis has Lua 5.1, where math.floor gives whole numbers`,
    ],
  },
  {
    mistake: 'bytes of a newer Lua',
    change: before("local text = string.pack('i4', 5)"),
    says: [`${HOLD}:11 string.pack may not be used: write struct.pack and struct.unpack`],
  },
  {
    mistake: 'a loop without an end',
    change: before('while true do\n  seats_of(keys.seats)\nend'),
    says: [
      `${HOLD}:11 this loop never ends: count its turns, for i = 1, limit do, or leave it with break or return`,
    ],
  },
  {
    mistake: 'a loop that repeats without an end',
    change: before('repeat\n  seats_of(keys.seats)\nuntil false'),
    says: [
      `${HOLD}:11 this loop never ends: count its turns, for i = 1, limit do, or leave it with break or return`,
    ],
  },
  {
    mistake: 'a loop to infinity',
    change: before('for _ = 1, math.huge do\n  for _ = 1, 2 do\n    break\n  end\nend'),
    says: [
      `${HOLD}:11 this loop never ends: count its turns, for i = 1, limit do, or leave it with break or return`,
    ],
  },
  {
    mistake: 'a text that is compared with a number',
    change: before("if person == 1 then\n  return { 'taken' }\nend"),
    says: [
      `${HOLD}:11 person (text) and 1 (a number) are compared by ==, and Lua converts neither: write tonumber(…) around the text`,
    ],
  },
  {
    mistake: 'a stored text that is compared with a number',
    change: before("if redis.call('HGET', keys.seats, seat) == 1 then\n  return { 'taken' }\nend"),
    says: [
      `${HOLD}:11 this value (text) and 1 (a number) are compared by ==, and Lua converts neither: write tonumber(…) around the text`,
    ],
  },
  {
    mistake: 'a truth value that is compared with a number',
    change: before("if (seat == '') == 1 then\n  return { 'taken' }\nend"),
    says: [
      `${HOLD}:11 this value (true or false) and 1 (a number) are compared by ==, and Lua converts neither: compare values of one kind`,
    ],
  },
  {
    mistake: 'nil in a text',
    change: before("local text = 'seat ' .. nil"),
    says: [
      `${HOLD}:11 this value is nil, and .. takes text and numbers: write a value for it, or tostring(…)`,
    ],
  },
  {
    mistake: 'a truth value in a sum',
    change: before("local sum = 1 + (seat == '')"),
    says: [
      `${HOLD}:11 this value is true or false, and + takes text and numbers: write a value for it, or tostring(…)`,
    ],
  },
  {
    mistake: 'the list of Lua 5.0 in a function of any number of values',
    change: before('local function many(...)\n  return #arg\nend\nlocal all = many(seat)'),
    says: [
      `${HOLD}:12 arg is something else in a function with ..., which hides what it was: write local list = { ... }, or take another name`,
    ],
  },
  {
    mistake: 'a parameter that the list of Lua 5.0 hides',
    change: before('local function many(arg, ...)\n  return { arg, ... }\nend\nlocal all = many(seat)'),
    says: [
      `${HOLD}:12 arg is something else in a function with ..., which hides what it was: write local list = { ... }, or take another name`,
    ],
  },
  {
    mistake: 'less than nothing',
    change: before('local least = -0'),
    says: [
      `${HOLD}:11 Lua 5.1 takes 0 and -0 for one constant, and has the one that it meets first: write 0, or -1 / math.huge`,
    ],
  },
  {
    mistake: 'a number of newer Luas',
    change: before('local width = 0x1p-4'),
    says: [
      `${HOLD}:11 0x1p-4 is no number of Lua 5.1: write decimals or 0xff, and a blank behind the number`,
    ],
  },
  {
    mistake: 'a word right behind a number',
    change: before('local width = 3and 4'),
    says: [`${HOLD}:11 3and is no number of Lua 5.1: write decimals or 0xff, and a blank behind the number`],
  },
  {
    mistake: 'a name that every object has in JavaScript',
    change: before('local name = constructor.name'),
    says: [
      `${HOLD}:11 constructor is defined nowhere: define it as a local above this line, or in a module below shared`,
    ],
  },
]
