// The list of keys.

import { HOLD, KEYS, LOOK, looking, type Mistake } from './theatre.ts'

export const KEY_LIST: readonly Mistake[] = [
  {
    mistake: 'no list',
    change: { [KEYS]: null },
    says: [
      `${HOLD}:11 redis/theatre/keys.lua is missing: write return { name = 'hash', -- what it holds }, one key a line, in that file`,
    ],
  },
  {
    mistake: 'a list under another name',
    change: { [KEYS]: null, 'redis/theatre/Keys.lua': "return {\n  seats = 'hash', -- seats\n}\n" },
    says: [
      `${HOLD}:11 redis/theatre/keys.lua is missing: write return { name = 'hash', -- what it holds }, one key a line, in that file`,
      'redis/theatre/Keys.lua:1 Keys.lua is not the list of keys: rename it to keys.lua',
      'redis/theatre/Keys.lua:1 the file does not begin with a head: write --[[ in line 1, then what the operation does, and ]]',
    ],
  },
  {
    mistake: 'an empty list',
    change: { [KEYS]: '' },
    says: [
      `${KEYS}:1 this file is not a list of keys: write return { name = 'hash', -- what it holds }, one key a line`,
    ],
  },
  {
    mistake: 'a list that is not returned',
    change: { [KEYS]: "local keys = { seats = 'hash' }\n" },
    says: [
      `${KEYS}:1 this file is not a list of keys: write return { name = 'hash', -- what it holds }, one key a line`,
    ],
  },
  {
    mistake: 'a list as JSON',
    change: { [KEYS]: '{ "seats": "hash" }\n' },
    says: [`${KEYS}:1 syntax error: unexpected symbol '{' near '"seats"'`],
  },
  {
    mistake: 'a list of names',
    change: { [KEYS]: "return {\n  'seats',\n}\n" },
    says: [
      `${KEYS}:2 this key has no name: write return { name = 'hash', -- what it holds }, one key a line`,
    ],
  },
  {
    mistake: 'two keys in a line',
    change: { [KEYS]: "return { seats = 'hash', waiting = 'list' } -- seats\n" },
    says: [
      `${KEYS}:1 this line lists two keys: write return { name = 'hash', -- what it holds }, one key a line`,
    ],
  },
  {
    mistake: 'no comma',
    change: { [KEYS]: ["'hash',", "'hash'"] },
    says: [
      `${KEYS}:3 syntax error: '}' expected near 'waiting': write a comma after the entry before it, or close the braces`,
    ],
  },
  {
    mistake: 'a kind that does not exist',
    change: { [KEYS]: ["'hash'", "'map'"] },
    says: [
      `${KEYS}:2 there is no kind of key map: use 'string', 'hash', 'list', 'set', 'zset', 'sorted set', 'stream', 'list, set, hash or sorted set'`,
    ],
  },
  {
    mistake: 'a misspelt kind',
    change: { [KEYS]: ["'hash'", "'hahs'"] },
    says: [`${KEYS}:2 there is no kind of key hahs: did you mean hash?`],
  },
  {
    mistake: 'a kind that is no text',
    change: { [KEYS]: ["'hash'", '1'] },
    says: [
      `${KEYS}:2 the key seats has no kind: write return { name = 'hash', -- what it holds }, one key a line`,
    ],
  },
  {
    mistake: 'no meaning',
    change: { [KEYS]: [' -- seat -> who has it', ''] },
    says: [`${KEYS}:2 the key seats has no meaning: write it after the key, -- what it holds`],
  },
  {
    mistake: 'a meaning above the key',
    change: {
      [KEYS]: ["  seats = 'hash', -- seat -> who has it", "  -- seat -> who has it\n  seats = 'hash',"],
    },
    says: [`${KEYS}:3 the key seats has no meaning: write it after the key, -- what it holds`],
  },
  {
    mistake: 'a name with a capital',
    change: { [KEYS]: ['waiting', 'waitingList'] },
    says: [`${KEYS}:3 waitingList is not in lower case with underscores: write waiting_list`],
  },
  {
    mistake: 'a name that is there twice',
    change: { [KEYS]: ['waiting', 'seats'] },
    says: [`${KEYS}:3 the key seats is listed twice: rename one`],
  },
  {
    mistake: 'a name that is taken on clusters',
    change: {
      [KEYS]: "return {\n  seats = 'hash', -- seats\n  never = 'hash', -- nothing\n}\n",
      [LOOK]: looking("redis.call('HLEN', keys.never)\nreturn { 'seen' }\n"),
    },
    says: [
      `${KEYS}:3 a key may not be called never, for callers add one of this name on a cluster: take another name`,
    ],
  },
]
