// Keys in operations and modules.

import { before, HOLD, LOOK, looking, SEATS, type Mistake } from './theatre.ts'

export const KEYS: readonly Mistake[] = [
  {
    mistake: 'a misspelt key',
    change: { [HOLD]: ['keys.seats, seat', 'keys.saets, seat'] },
    says: [`${HOLD}:11 the structure has no key saets: did you mean seats?`],
  },
  {
    mistake: 'a key that is not listed',
    change: { [HOLD]: ['keys.seats, seat', 'keys.reserved, seat'] },
    says: [
      `${HOLD}:11 the structure has no key reserved: list it in its keys.lua, reserved = 'hash', -- what it holds`,
    ],
  },
  {
    mistake: 'a key by its number',
    change: { [HOLD]: ['keys.seats, seat', 'KEYS[1], seat'] },
    says: [
      `${HOLD}:11 keys have names: write keys.name, and in redis/theatre/keys.lua the line name = 'hash', -- what it holds`,
    ],
  },
  {
    mistake: 'a declaration by number of a listed key',
    change: { [HOLD]: ['local seat =', 'local seats = KEYS[1] -- hash: the seats\nlocal seat ='] },
    says: [`${HOLD}:8 remove this line and write keys.seats, for redis/theatre/keys.lua lists the key`],
  },
  {
    mistake: 'a declaration by number of another key',
    change: { [HOLD]: ['local seat =', 'local rows = KEYS[1] -- hash: the rows\nlocal seat ='] },
    says: [
      `${HOLD}:8 remove this line and write keys.rows, and in redis/theatre/keys.lua the line rows = 'hash', -- the rows`,
    ],
  },
  {
    mistake: 'KEYS in the script',
    change: before("if #KEYS > 1 then\n  return { 'taken' }\nend"),
    says: [
      `${HOLD}:11 KEYS stands in the declarations only: write keys.name, and in a module take the key as a parameter`,
    ],
  },
  {
    mistake: 'the number of keys in a local',
    change: before('local count = #KEYS'),
    says: [
      `${HOLD}:11 a declaration is one line, with kind and meaning: write local name = ARGV[1] -- text: what it is`,
    ],
  },
  {
    mistake: 'a key by its name alone',
    change: { [HOLD]: ['keys.seats, seat', 'seats, seat'] },
    says: [
      `${HOLD}:11 HSETNX takes a key here, and seats is none: write keys.seats`,
      `${HOLD}:11 seats is defined nowhere: write keys.seats for the key`,
    ],
  },
  {
    mistake: 'a key in quotes',
    change: { [HOLD]: ['keys.seats, seat', "'seats', seat"] },
    says: [`${HOLD}:11 HSETNX takes a key here, and 'seats' is none: write keys.seats`],
  },
  {
    mistake: 'a key in quotes that is not listed',
    change: { [HOLD]: ['keys.seats, seat', "'rows', seat"] },
    says: [
      `${HOLD}:11 HSETNX takes a key here, and 'rows' is none: list it in keys.lua, and write keys.name`,
    ],
  },
  {
    mistake: 'a key that is put together',
    change: { [HOLD]: ['keys.seats, seat', "keys.seats .. ':' .. seat, person"] },
    says: [
      `${HOLD}:11 HSETNX takes a key here, and this value is none: a key cannot be put together, so store the parts as fields of a hash, or open a unit for each name`,
    ],
  },
  {
    mistake: 'a key from a local',
    change: before("local other = keys.seats .. seat\nredis.call('DEL', other)"),
    says: [`${HOLD}:12 DEL takes a key here, and other is none: list it in keys.lua, and write keys.name`],
  },
  {
    mistake: 'an argument as a key',
    change: before("redis.call('DEL', seat)"),
    says: [`${HOLD}:11 DEL takes a key here, and seat is none: list it in keys.lua, and write keys.name`],
  },
  {
    mistake: 'a stored value as a key',
    change: before("local other = redis.call('HGET', keys.seats, seat)\nredis.call('DEL', other)"),
    says: [`${HOLD}:12 DEL takes a key here, and other is none: list it in keys.lua, and write keys.name`],
  },
  {
    mistake: 'a key by its name in brackets',
    change: { [HOLD]: ['keys.seats, seat', "keys['seats'], seat"] },
    says: [`${HOLD}:11 the key cannot be seen here: write its name, keys.name`],
  },
  {
    mistake: 'a key by a computed name',
    change: { [HOLD]: ['keys.seats, seat', 'keys[seat], seat'] },
    says: [`${HOLD}:11 the key cannot be seen here: write its name, keys.name`],
  },
  {
    mistake: 'the table of keys in a local',
    change: before('local all = keys'),
    says: [`${HOLD}:11 the table keys is kept here: pass it to a function, or write keys.name for one key`],
  },
  {
    mistake: 'a key that is set',
    change: before("keys.seats = 'other'"),
    says: [
      `${HOLD}:11 keys.seats may not be set, for it is the name of a key: call a command to change what the key holds`,
    ],
  },
  {
    mistake: 'a global that is called as a key',
    change: before('seats = 1'),
    says: [
      `${HOLD}:11 the global seats may not be set: write local seats for a value, and redis.call('SET', keys.seats, …) or a similar command for the key`,
    ],
  },
  {
    mistake: 'the table of keys in a module',
    change: { [SEATS]: ["'HLEN', seats", "'HLEN', keys.seats"] },
    says: [
      `${SEATS}:2 a module does not see the table keys: pass it as the first parameter, or the key keys.seats`,
    ],
  },
  {
    mistake: 'a key in quotes in a module',
    change: { [SEATS]: ["'HLEN', seats", "'HLEN', 'seats'"] },
    says: [`${SEATS}:2 HLEN takes a key here, and 'seats' is none: write keys.seats`],
  },
  {
    mistake: 'KEYS in a module',
    change: { [SEATS]: ['seats)\nend', 'KEYS)\nend'] },
    says: [
      `${SEATS}:2 KEYS stands in the declarations only: write keys.name, and in a module take the key as a parameter`,
    ],
  },
  {
    mistake: 'a command of another kind',
    change: { [HOLD]: ['keys.seats, seat', 'keys.waiting, seat'] },
    says: [
      `${HOLD}:11 HSETNX works on a hash, and waiting is a list: take a command of a list, or list the key as 'hash'`,
    ],
  },
  {
    mistake: 'a command of another kind in a module',
    change: { [HOLD]: ['seats_of(keys.seats)', 'seats_of(keys.waiting)'] },
    says: [
      `${HOLD}:14 HLEN works on a hash, and waiting is a list: take a command of a list, or list the key as 'hash'`,
    ],
  },
  {
    mistake: 'a function without its key',
    change: { [HOLD]: ['seats_of(keys.seats)', 'seats_of()'] },
    says: [`${HOLD}:14 seats_of takes a key as argument 1, which is missing here: write keys.name`],
  },
  {
    mistake: 'a function with another key',
    change: { [HOLD]: ['seats_of(keys.seats)', "seats_of('other')"] },
    says: [
      `${HOLD}:14 seats_of takes a key here, and 'other' is none: list it in keys.lua, and write keys.name`,
    ],
  },
  {
    mistake: 'a function of keys that is passed on',
    change: before('pcall(seats_of, keys.seats)'),
    says: [
      `${HOLD}:11 seats_of takes keys, and may not be passed on: call it here, so that its keys can be seen`,
    ],
  },
  {
    mistake: 'a key that a function changes',
    change: { [SEATS]: ['return', "seats = seats .. 'x'\n  return"] },
    says: [
      `${SEATS}:3 HLEN takes a key here, and seats is none: its value changes, so take another name for the other value`,
    ],
  },
  {
    mistake: 'a key two calls away',
    change: before('local function count(key)\n  return seats_of(key)\nend\ncount(person)'),
    says: [`${HOLD}:14 count takes a key here, and person is none: list it in keys.lua, and write keys.name`],
  },
  {
    mistake: 'a table with another key by name',
    change: before(
      "local all = { seats = keys.seats, other = 'other' }\nredis.call('DEL', all.seats, all.other)",
    ),
    says: [`${HOLD}:11 DEL takes a key here, and 'other' is none: list it in keys.lua, and write keys.name`],
  },
  {
    mistake: 'a table with another key',
    change: before(
      "local all = { keys.seats, 'other' }\nfor _, key in ipairs(all) do\n  redis.call('DEL', key)\nend",
    ),
    says: [`${HOLD}:11 DEL takes a key here, and 'other' is none: list it in keys.lua, and write keys.name`],
  },
  {
    mistake: 'a table of keys with names',
    change: before("redis.call('DEL', unpack({ one = keys.seats }))"),
    says: [`${HOLD}:11 DEL takes a key here: write the keys as a plain list, { keys.one, keys.other }`],
  },
  {
    mistake: 'a table of keys with a key that is not used',
    change: before("local all = { one = keys.seats, other = keys.waiting }\nredis.call('DEL', all.one)"),
    says: [`${HOLD}:11 the key all.other is never used: remove it`],
  },
  {
    mistake: 'a table of keys that is changed',
    change: before("local all = { keys.seats }\nall[2] = 'other'\nredis.call('DEL', all[2])"),
    says: [
      `${HOLD}:12 all holds keys, which may only be read, counted and looped over: make another table for other values`,
    ],
  },
  {
    mistake: 'a table of keys that is passed to a library',
    change: before("local all = { keys.seats }\ntable.insert(all, 'other')\nredis.call('DEL', unpack(all))"),
    says: [
      `${HOLD}:12 all holds keys, which may only be read, counted and looped over: make another table for other values`,
    ],
  },
  {
    mistake: 'a table of keys by name that is changed',
    change: before("local all = { seats = keys.seats }\nall.seats = 'other'\nredis.call('DEL', all.seats)"),
    says: [
      `${HOLD}:12 all holds keys, which may only be read, counted and looped over: make another table for other values`,
    ],
  },
  {
    mistake: 'no key',
    change: before("redis.call('DEL')"),
    says: [`${HOLD}:11 DEL has no key here: write it after the command, as keys.name`],
  },
  {
    mistake: 'a computed number of keys',
    change: before("redis.call('ZUNION', #seat, keys.seats)"),
    says: [`${HOLD}:11 the number of keys of ZUNION is not written out: write it as a number, such as 2`],
  },
  {
    mistake: 'fewer keys than their number',
    change: before("redis.call('ZUNION', 2, keys.seats)"),
    says: [
      `${HOLD}:11 ZUNION has 2 keys by its number, and not as many after it: write the number of keys that follow`,
    ],
  },
  {
    mistake: 'more keys than are listed',
    change: before("redis.call('ZUNION', 2, keys.seats, 'other')"),
    says: [
      `${HOLD}:11 ZUNION takes a key here, and 'other' is none: list it in keys.lua, and write keys.name`,
    ],
  },
  {
    mistake: 'streams without their word',
    change: before("redis.call('XREAD', 'COUNT', 1)"),
    says: [`${HOLD}:11 XREAD does not show its streams: write 'STREAMS', the keys, and as many ids`],
  },
  {
    mistake: 'repeated keys',
    change: {
      [LOOK]: looking(
        "local others, others_at = KEYS, 1 -- repeated hash: others\n\nredis.call('HLEN', others[others_at])\nreturn { 'seen' }\n",
      ),
    },
    says: [`${LOOK}:1 a handle has the keys of one unit: list each key in keys.lua instead of repeated keys`],
  },
  {
    mistake: 'repeated keys of a kind that does not exist',
    change: {
      [LOOK]: looking(
        "local others, others_at = KEYS, 1 -- repeated map: others\n\nredis.call('HLEN', others[others_at])\nreturn { 'seen' }\n",
      ),
    },
    says: [
      `${LOOK}:8 there is no kind of key map: use 'string', 'hash', 'list', 'set', 'zset', 'sorted set', 'stream', 'list, set, hash or sorted set'`,
    ],
  },
  {
    mistake: 'repeated keys behind an argument',
    change: {
      [LOOK]: looking(
        "local seat = ARGV[1] -- text: the seat\nlocal others, others_at = KEYS, 1 -- repeated hash: others\n\nredis.call('HGET', others[others_at], seat)\nreturn { 'seen' }\n",
      ),
    },
    says: [`${LOOK}:9 keys are declared before the first argument: move this line up`],
  },
  {
    mistake: 'repeated keys that are not used',
    change: {
      [LOOK]: looking(
        "local others, others_at = KEYS, 2 -- repeated hash: others\n\nredis.call('HLEN', keys.seats)\nreturn { 'seen' }\n",
      ),
    },
    says: [
      `${LOOK}:8 the key others is never used: remove it, or use it`,
      `${LOOK}:8 the key others_at is never used: remove it, or use it`,
    ],
  },
  {
    mistake: 'repeated keys that are set',
    change: {
      [LOOK]: looking(
        "local others, others_at = KEYS, 1 -- repeated hash: others\n\nothers = {}\nredis.call('HLEN', others[others_at])\nreturn { 'seen' }\n",
      ),
    },
    says: [
      `${LOOK}:10 others is the key declared in line 8, and may not be set: take another name for this value`,
      `${LOOK}:11 HLEN takes a key here, and others is none: its value changes, so take another name for the other value`,
    ],
  },
  {
    mistake: 'repeated keys that a local hides',
    change: {
      [LOOK]: looking(
        "local others, others_at = KEYS, 1 -- repeated hash: others\n\ndo\n  local others = 1\nend\nredis.call('HLEN', others[others_at])\nreturn { 'seen' }\n",
      ),
    },
    says: [`${LOOK}:11 others is the key declared in line 8: take another name for this local`],
  },
  {
    mistake: 'one key of two kinds',
    change: {
      [LOOK]: looking(
        "local others, others_at = KEYS, 1 -- repeated hash: others\n\nredis.call('HLEN', others[others_at])\nreturn { 'seen' }\n",
      ),
      'redis/theatre/peek.lua': looking(
        "local others, others_at = KEYS, 1 -- repeated list: others\n\nredis.call('LLEN', others[others_at])\nreturn { 'seen' }\n",
      ),
    },
    says: [
      'redis/theatre/peek.lua:8 the key others has the kind list here and hash in redis/theatre/look.lua: write one kind in both',
    ],
  },
  {
    mistake: 'the table of keys as one of any number of values',
    change: before("local function count(...)\n  return select('#', ...)\nend\nlocal all = count(keys)"),
    says: [
      `${HOLD}:14 what becomes of the table keys cannot be seen here: pass it to a function that is defined once, with a parameter for it`,
    ],
  },
  {
    mistake: 'the table of keys for a function that is set again',
    change: before(
      'local function none()\n  return 1\nend\nnone = function()\n  return 2\nend\nlocal all = none(keys)',
    ),
    says: [
      `${HOLD}:17 what becomes of the table keys cannot be seen here: pass it to a function that is defined once, with a parameter for it`,
    ],
  },
  {
    mistake: 'the table of keys for a function of fewer parameters',
    change: before('local function one(a)\n  return a\nend\nlocal all = one(seat, keys)'),
    says: [`${HOLD}:14 one takes (a), and gets 2 values: leave out what is too much`],
  },
  {
    mistake: 'a function by the name of a key',
    change: before('function keys.seats()\nend'),
    says: [
      `${HOLD}:11 keys.seats may not be set, for it is the name of a key: call a command to change what the key holds`,
    ],
  },
  {
    mistake: 'more keys by their number than a command can have',
    change: before("redis.call('ZUNION', 1e999, keys.seats)"),
    says: [
      `${HOLD}:11 ZUNION has 1e999 keys by its number, and not as many after it: write the number of keys that follow`,
    ],
  },
]
