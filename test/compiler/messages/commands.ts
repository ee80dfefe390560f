// Commands of Redis.

import { before, HOLD, type Mistake } from './theatre.ts'

export const COMMANDS: readonly Mistake[] = [
  {
    mistake: 'a misspelt command',
    change: { [HOLD]: ["'HSETNX'", "'HSTNX'"] },
    says: [`${HOLD}:11 a script may not call HSTNX: did you mean HSETNX?`],
  },
  {
    mistake: 'a command that does not exist',
    change: { [HOLD]: ["'HSETNX'", "'RESERVE'"] },
    says: [
      `${HOLD}:11 a script may not call RESERVE: write a command of Redis that reads or changes listed keys`,
    ],
  },
  {
    mistake: 'a command in small letters',
    change: { [HOLD]: ["'HSETNX'", "'hsetnx'"] },
    says: [`${HOLD}:11 the command is not in capitals: write HSETNX`],
  },
  {
    mistake: 'a command in a variable',
    change: { [HOLD]: ["'HSETNX'", 'person'] },
    says: [`${HOLD}:11 the command is not written out: write it as a text, redis.call('GET', …)`],
  },
  {
    mistake: 'no command',
    change: before('redis.call()'),
    says: [`${HOLD}:11 the command is not written out: write it as a text, redis.call('GET', …)`],
  },
  {
    mistake: 'a command with its arguments in one text',
    change: before("redis.call('HSET seats a b')"),
    says: [
      `${HOLD}:11 the command has its arguments in one text: write each by itself, redis.call('GET', keys.name)`,
    ],
  },
  {
    mistake: 'a command over all keys',
    change: before("redis.call('KEYS', '*')"),
    says: [
      `${HOLD}:11 a script may not call KEYS: it reaches keys that keys.lua does not list; write the keys that it is about`,
    ],
  },
  {
    mistake: 'a command that deletes all',
    change: before("redis.pcall('FLUSHALL')"),
    says: [
      `${HOLD}:11 a script may not call FLUSHALL: it reaches keys that keys.lua does not list; write the keys that it is about`,
    ],
  },
  {
    mistake: 'a command that waits',
    change: before("redis.call('BLPOP', keys.waiting, 1)"),
    says: [`${HOLD}:11 a script may not call BLPOP: a script cannot wait; write LPOP or a similar command`],
  },
  {
    mistake: 'a transaction',
    change: before("redis.call('MULTI')"),
    says: [`${HOLD}:11 a script may not call MULTI: remove it, for the whole script is one step`],
  },
  {
    mistake: 'another script',
    change: before("redis.call('EVAL', 'return 1', 0)"),
    says: [`${HOLD}:11 a script may not call EVAL: call a function of a module below shared`],
  },
  {
    mistake: 'the time of the server',
    change: before("local time = redis.call('TIME')"),
    says: [`${HOLD}:11 a script may not call TIME: clock_us() gives the time of the server in microseconds`],
  },
  {
    mistake: 'redis.call in a local',
    change: before("local call = redis.call\ncall('HLEN', keys.seats)"),
    says: [`${HOLD}:11 redis.call may not be passed on: call it here, redis.call('GET', …)`],
  },
  {
    mistake: 'redis.call as an argument',
    change: before("pcall(redis.call, 'HLEN', keys.seats)"),
    says: [`${HOLD}:11 redis.call may not be passed on: call it here, redis.call('GET', …)`],
  },
  {
    mistake: 'redis in a local',
    change: before("local server = redis\nserver.call('HLEN', keys.seats)"),
    says: [
      `${HOLD}:11 redis may not be passed on or indexed: write redis.call('GET', …), redis.pcall or redis.error_reply`,
    ],
  },
  {
    mistake: 'redis in brackets',
    change: before("redis['call']('HLEN', keys.seats)"),
    says: [
      `${HOLD}:11 redis may not be passed on or indexed: write redis.call('GET', …), redis.pcall or redis.error_reply`,
    ],
  },
  {
    mistake: 'redis with a colon',
    change: before("redis:call('HLEN', keys.seats)"),
    says: [
      `${HOLD}:11 redis:call may not be used: write redis.call('GET', …), redis.pcall or redis.error_reply`,
    ],
  },
  {
    mistake: 'the log of the server',
    change: before("redis.log('a seat')"),
    says: [
      `${HOLD}:11 redis.log may not be used: a script writes nothing out, so put the value into the answer`,
    ],
  },
  {
    mistake: 'a status of Redis',
    change: { [HOLD]: ["return { 'held', seats_of(keys.seats) }", "return redis.status_reply('OK')"] },
    says: [
      `${HOLD}:4 no return gives the answer held: remove @returns held, or return it`,
      `${HOLD}:14 redis.status_reply may not be used: write return { 'word', … }`,
      `${HOLD}:14 this is no answer: write return { 'word', value }, or return redis.error_reply('INVALID argument: problem')`,
    ],
  },
  {
    mistake: 'replication by hand',
    change: before('redis.replicate_commands()'),
    says: [`${HOLD}:11 redis.replicate_commands may not be used: remove it`],
  },
  {
    mistake: 'the hash of a text',
    change: before("local sum = redis.sha1hex('x')"),
    says: [
      `${HOLD}:11 redis.sha1hex may not be used: write redis.call('GET', …), redis.pcall or redis.error_reply`,
    ],
  },
  {
    mistake: 'all of a hash',
    change: before("local all = redis.call('HGETALL', keys.seats)"),
    says: [
      `${HOLD}:11 HGETALL reads all that the key holds, and @cost says O(1): write what bounds it, such as @cost O(seats), or read less`,
    ],
  },
  {
    mistake: 'all of a list',
    change: before("local all = redis.call('LRANGE', keys.waiting, 0, -1)"),
    says: [
      `${HOLD}:11 LRANGE reads all that the key holds, and @cost says O(1): write what bounds it, such as @cost O(seats), or read less`,
    ],
  },
  {
    mistake: 'nil for an argument',
    change: before("redis.call('HSET', keys.seats, seat, nil)"),
    says: [
      `${HOLD}:11 HSET takes text and numbers, and this value is nil: write '' for what is not there, or leave the argument out`,
    ],
  },
  {
    mistake: 'a truth value for an argument',
    change: before("redis.call('HSET', keys.seats, seat, true)"),
    says: [
      `${HOLD}:11 HSET takes text and numbers, and this value is true or false: write condition and '1' or '0'`,
    ],
  },
  {
    mistake: 'a table for an argument',
    change: before("redis.call('HSET', keys.seats, seat, {})"),
    says: [
      `${HOLD}:11 HSET takes text and numbers, and this value is a table: write unpack(list), or one value of it`,
    ],
  },
  {
    mistake: 'a function for an argument',
    change: before("redis.call('HSET', keys.seats, seat, function() end)"),
    says: [`${HOLD}:11 HSET takes text and numbers, and this value is a function: call it`],
  },
  {
    mistake: 'a call that is not the same twice',
    change: before("redis.call('HINCRBY', keys.seats, seat, 1)"),
    says: [
      `${HOLD}:11 HINCRBY twice is not HINCRBY once, and a call whose answer was lost is sent again: let theatre/hold take a call id (local call_id = ARGV[1] -- CALL_ID: of this call, with recall and remember_answer); or say in its head what makes it safe: @repeats why`,
    ],
  },
  {
    mistake: 'a call id that is not remembered',
    change: {
      [HOLD]: [
        'local person = ARGV[2] -- text: who wants it',
        "local person = ARGV[2] -- text: who wants it\nlocal caller = ARGV[3] -- text: process and slot\nlocal call = ARGV[4] -- text: number of the call in that slot\n\nredis.call('HINCRBY', keys.seats, caller, call)",
      ],
    },
    says: [
      `${HOLD}:13 HINCRBY twice is not HINCRBY once, and theatre/hold takes a call id that it does not remember: recall and remember_answer do; or say in its head what makes it safe: @repeats why`,
    ],
  },
  {
    mistake: 'too few arguments',
    change: before("redis.call('HGET', keys.seats)"),
    says: [`${HOLD}:11 HGET has 1 of 2 arguments: write the missing ones behind it`],
  },
  {
    mistake: 'too few arguments of a command that takes many',
    change: before("redis.call('HSET', keys.seats, seat)"),
    says: [`${HOLD}:11 HSET has 2 of at least 3 arguments: write the missing ones behind it`],
  },
  {
    mistake: 'too many arguments',
    change: before("redis.call('HGET', keys.seats, seat, person)"),
    says: [`${HOLD}:11 HGET has 3 arguments and takes 2: remove the last ones`],
  },
]
