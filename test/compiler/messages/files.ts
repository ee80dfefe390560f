// Files, folders and names.

import { before, HOLD, KEYS, LOOK, looking, SEATS, type Mistake } from './theatre.ts'

export const FILES: readonly Mistake[] = [
  {
    mistake: 'an operation outside a structure',
    change: { 'redis/look.lua': looking("redis.call('HLEN', keys.seats)\nreturn { 'seen' }\n") },
    says: [
      'redis/look.lua:1 this file is no operation and no module: move it to <structure>/<operation>.lua, or to shared',
    ],
  },
  {
    mistake: 'a folder in a structure',
    change: { 'redis/theatre/deep/look.lua': looking("redis.call('HLEN', keys.seats)\nreturn { 'seen' }\n") },
    says: [
      'redis/theatre/deep/look.lua:1 this file is no operation and no module: move it to <structure>/<operation>.lua, or to shared',
    ],
  },
  {
    mistake: 'an ending in capitals',
    change: { 'redis/theatre/look.LUA': looking("redis.call('HLEN', keys.seats)\nreturn { 'seen' }\n") },
    says: [
      'redis/theatre/look.LUA:1 this file is no operation and no module: move it to <structure>/<operation>.lua, or to shared',
    ],
  },
  {
    mistake: 'a folder with a capital',
    change: {
      'redis/TheatreHall/look.lua': looking("redis.call('HLEN', keys.seats)\nreturn { 'seen' }\n"),
      'redis/TheatreHall/keys.lua': "return {\n  seats = 'hash', -- seats\n}\n",
    },
    says: [
      'redis/TheatreHall/look.lua:1 TheatreHall is not in lower case with hyphens: rename it to theatre-hall',
    ],
  },
  {
    mistake: 'a blank in a name',
    change: { 'redis/theatre/look at.lua': looking("redis.call('HLEN', keys.seats)\nreturn { 'seen' }\n") },
    says: ['redis/theatre/look at.lua:1 look at is not in lower case with hyphens: rename it to look-at'],
  },
  {
    mistake: 'an underscore in a name',
    change: { 'redis/theatre/look_at.lua': looking("redis.call('HLEN', keys.seats)\nreturn { 'seen' }\n") },
    says: ['redis/theatre/look_at.lua:1 look_at is not in lower case with hyphens: rename it to look-at'],
  },
  {
    mistake: 'a reserved word',
    change: { 'redis/theatre/delete.lua': looking("redis.call('HLEN', keys.seats)\nreturn { 'seen' }\n") },
    says: ['redis/theatre/delete.lua:1 delete is a reserved word in other languages: rename the file'],
  },
  {
    mistake: 'a structure of Perilune',
    change: {
      'redis/lock/look.lua': looking("redis.call('HLEN', keys.seats)\nreturn { 'seen' }\n"),
      'redis/lock/keys.lua': "return {\n  seats = 'hash', -- seats\n}\n",
    },
    says: ['redis/lock/look.lua:1 lock is a structure of Perilune: rename the folder'],
  },
  {
    mistake: 'a name that the module has',
    change: {
      'redis/buffer/look.lua': looking("redis.call('HLEN', keys.seats)\nreturn { 'seen' }\n"),
      'redis/buffer/keys.lua': "return {\n  seats = 'hash', -- seats\n}\n",
    },
    says: ['redis/buffer/look.lua:1 the module has another Buffer: rename the folder or the file'],
  },
  {
    mistake: 'a name that every object has',
    change: { 'redis/theatre/then.lua': looking("redis.call('HLEN', keys.seats)\nreturn { 'seen' }\n") },
    says: ['redis/theatre/then.lua:1 every object of JavaScript has a method of this name: rename the file'],
  },
  {
    mistake: 'two names that become one',
    change: {
      'redis/theatre-look/at.lua': looking("redis.call('HLEN', keys.seats)\nreturn { 'seen' }\n"),
      'redis/theatre-look/keys.lua': "return {\n  seats = 'hash', -- seats\n}\n",
      'redis/theatre/look-at.lua': looking("redis.call('HLEN', keys.seats)\nreturn { 'seen' }\n"),
    },
    says: [
      'redis/theatre-look/at.lua:1 the module has another theatreLookAt: rename the folder or the file',
      'redis/theatre-look/at.lua:1 the module has another TheatreLookAtAnswer: rename the folder or the file',
      'redis/theatre-look/at.lua:1 the module has another TheatreLookAtArguments: rename the folder or the file',
    ],
  },
  {
    mistake: 'caller without call',
    change: {
      [LOOK]: looking(
        "local caller = ARGV[1] -- text: process\n\nredis.call('HGET', keys.seats, caller)\nreturn { 'seen' }\n",
      ),
    },
    says: [`${LOOK}:1 caller and call are the id of a call: declare both as text, or rename the one`],
  },
  {
    mistake: 'a field called status',
    change: {
      [LOOK]:
        "--[[\nLooks.\n\n@returns seen  value:integer status:integer\n@reads\n@cost    O(1)\n]]\nlocal count = redis.call('HLEN', keys.seats)\nreturn { 'seen', count, count }\n",
    },
    says: [`${LOOK}:1 @returns seen has a field called status, which is the word itself: rename the field`],
  },
  {
    mistake: 'line breaks of old Macs',
    change: { [KEYS]: "return {\r  seats = 'hash', -- seats\r}\r" },
    says: [
      `${KEYS}:1 this line has line breaks of old Macs: save the file with line breaks of Unix or Windows`,
    ],
  },
  {
    mistake: 'a control character',
    change: before("local text = '\0'"),
    says: [`${HOLD}:11 this line has the control character \\0: write it so, in a text`],
  },
  {
    mistake: 'no operations',
    change: { [HOLD]: null, [SEATS]: null },
    says: ['redis has no operations: write them as redis/<structure>/<operation>.lua'],
  },
]
