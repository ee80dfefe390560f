// What a newcomer gets wrong, and what the compiler then says: the place, and what to write.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { compileTree } from '../../tools/contract/compile.ts'
import { ContractError } from '../../tools/contract/problem.ts'

const LIBRARY = join(import.meta.dirname, '../../lua')

const KEYS = `return {
  seats = 'hash', -- seat -> who has it
  waiting = 'list', -- those who wait
}
`
const OPERATION = `--[[
Gives a seat to one person.

@returns held  seats:integer
@returns taken
@cost    O(1)
]]
local seat = ARGV[1] -- text: the seat
local person = ARGV[2] -- text: who wants it

if redis.call('HSETNX', keys.seats, seat, person) == 0 then
  return { 'taken' }
end
return { 'held', seats_of(keys.seats) }
`
const MODULE = `local function seats_of(seats)
  return redis.call('HLEN', seats)
end
`
const FILES = { 'theatre/keys.lua': KEYS, 'theatre/hold.lua': OPERATION, 'shared/seats.lua': MODULE }

/** What is said of the folder where one text of a file is another; null: the file is not there. */
function saidOf(file: keyof typeof FILES, right: string | null, wrong = ''): string[] {
  const root = join(mkdtempSync(join(tmpdir(), 'perilune-newcomer-')), 'redis')
  onTestFinished(() => rmSync(join(root, '..'), { recursive: true }))
  for (const [path, text] of Object.entries(FILES)) {
    if (path === file && right === null) continue
    if (path === file) expect(text).toContain(right)
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), path === file && right !== null ? text.replace(right, wrong) : text)
  }
  try {
    compileTree(root, '0.0.0', LIBRARY)
    return []
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    return error.problems.map(({ file: at, line, message }) => `${at}:${line} ${message}`)
  }
}

test('the folder is right as it is', () => {
  expect(saidOf('theatre/hold.lua', 'Gives', 'Gives')).toEqual([])
})

const HOLD = 'theatre/hold.lua'
const AT = 'redis/theatre/hold.lua'

test.each<[string, string, string, string]>([
  [
    'a misspelt key',
    'keys.seats, seat',
    'keys.saets, seat',
    `${AT}:11 the structure has no key saets: did you mean seats?`,
  ],
  [
    'a key that is not listed',
    'keys.seats, seat',
    'keys.reserved, seat',
    `${AT}:11 the structure has no key reserved`,
  ],
  [
    'a key by its number',
    'keys.seats, seat',
    'KEYS[1], seat',
    `${AT}:11 keys have names: write keys.name, and in redis/theatre/keys.lua the line name = 'hash', -- what it holds`,
  ],
  [
    'a key as a text',
    'keys.seats, seat',
    "'seats', seat",
    `${AT}:11 HSETNX takes a key here, and 'seats' is not a declared key`,
  ],
  [
    'a command of another kind',
    'keys.seats, seat',
    'keys.waiting, seat',
    `${AT}:11 HSETNX works on a hash, and waiting is a list`,
  ],
  [
    'a misspelt function',
    'seats_of(',
    'seat_of(',
    `${AT}:14 seat_of is defined nowhere: did you mean seats_of?`,
  ],
  ['a command in small letters', "'HSETNX'", "'hsetnx'", `${AT}:11 write the command in capitals: HSETNX`],
  [
    'a command in a variable',
    "'HSETNX'",
    'person',
    `${AT}:11 the command of redis.call must be a string literal`,
  ],
  ['a command that is none', "'HSETNX'", "'HSETNXX'", `${AT}:11 HSETNXX is no command that scripts may call`],
  [
    'a command over all keys',
    "redis.call('HSETNX', keys.seats, seat, person)",
    "redis.call('KEYS', '*')",
    `${AT}:11 KEYS is no command that scripts may call`,
  ],
  [
    'a call that is not the same twice',
    "redis.call('HSETNX', keys.seats, seat, person)",
    "redis.call('HINCRBY', keys.seats, seat, 1)",
    `${AT}:11 HINCRBY twice is not HINCRBY once`,
  ],
  [
    'the time of the server',
    'seats_of(keys.seats)',
    "redis.call('TIME')[1]",
    `${AT}:14 only shared/clock reads TIME`,
  ],
  [
    'a global that is set',
    "return { 'held'",
    "total = 1\nreturn { 'held'",
    `${AT}:14 the global total may not be set`,
  ],
  [
    'no @returns',
    '@returns held  seats:integer\n@returns taken\n',
    '',
    `${AT}:1 the head declares no answer: write @returns word`,
  ],
  ['no @cost', '@cost    O(1)\n', '', `${AT}:1 the head has no @cost`],
  [
    'an answer that the head has not',
    "{ 'taken' }",
    "{ 'full' }",
    `${AT}:12 the head does not declare @returns full`,
  ],
  [
    'nil in an answer',
    'seats_of(keys.seats) }',
    'nil }',
    `${AT}:14 nil ends an answer early: write false for null`,
  ],
  ['too few values', ', seats_of(keys.seats) }', ' }', `${AT}:14 held has 0 values, the head declares 1`],
  [
    'a type that does not exist',
    'seats:integer',
    'seats:int',
    `${AT}:4 seats has the unknown type int: use integer, number, big, text, bytes, flag`,
  ],
  ['an argument with another number', 'ARGV[2]', 'ARGV[3]', `${AT}:9 the next number of ARGV is 2, not 3`],
  [
    'a number that is not converted',
    '-- text: who wants it',
    '-- integer: who wants it',
    `${AT}:9 "ARGV[2]" is declared as text or bytes, not as integer`,
  ],
  [
    'an argument without a meaning',
    ' -- text: who wants it',
    '',
    `${AT}:9 a declaration is one line: local name = ARGV[1]`,
  ],
  [
    'a flag that is compared with a number',
    'ARGV[2] -- text',
    'ARGV[2] == 1 -- flag',
    `${AT}:9 cannot read "ARGV[2] == 1"`,
  ],
  [
    'no answer at the end',
    "return { 'held', seats_of(keys.seats) }\n",
    '',
    `${AT}:11 the script can end without an answer`,
  ],
])('%s', (_, right, wrong, said) => {
  expect(saidOf(HOLD, right, wrong)).toContainEqual(expect.stringContaining(said))
})

const MODULE_AT = 'redis/shared/seats.lua'

test.each<[string, string, string, string]>([
  [
    'a function that is defined twice',
    MODULE,
    MODULE + MODULE,
    `${MODULE_AT}:4 seats_of is defined in redis/shared/seats.lua, too: rename one`,
  ],
  [
    'functions that need each other',
    MODULE,
    MODULE.replace('return', 'again(seats)\n  return') +
      'local function again(seats)\n  seats_of(seats)\nend\n',
    'these need each other, and Lua knows a name only behind its definition',
  ],
  [
    'a function of the module for all',
    'local function',
    'function',
    `${MODULE_AT}:1 a module holds local functions and constants, and nothing else`,
  ],
])('%s', (_, right, wrong, said) => {
  expect(saidOf('shared/seats.lua', right, wrong)).toContainEqual(expect.stringContaining(said))
})

test('a kind of key that does not exist', () => {
  expect(saidOf('theatre/keys.lua', "'hash'", "'map'")).toContainEqual(
    expect.stringContaining(
      `redis/theatre/keys.lua:2 seats: "map" is no kind of key: use string, hash, list`,
    ),
  )
})

test('no list of keys', () => {
  expect(saidOf('theatre/keys.lua', null)).toContainEqual(expect.stringContaining('redis/theatre/keys.lua'))
})
