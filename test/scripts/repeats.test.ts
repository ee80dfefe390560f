// Which scripts of users are refused because running them twice is not running them once.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { compileTree } from '../../tools/contract/compile.ts'
import { ContractError } from '../../tools/contract/problem.ts'

const LIBRARY = join(import.meta.dirname, '../../lua')
const KEYS = `local count = KEYS[1] -- string: a number
local items = KEYS[2] -- list: items
local ranks = KEYS[3] -- sorted set: ranks
local log = KEYS[4] -- stream: what happened
local copy = KEYS[5] -- sorted set: ranks too
local some = KEYS[6] -- set: members
local more = KEYS[7] -- set: other members
`
const USED = `redis.call('DEL', count, items, ranks, log, copy, some, more)\nreturn { 'done' }\n`

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perilune-repeats-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

/** What is wrong with `redis/demo/act.lua` beside these fragments. */
function problems(text: string, fragments: Readonly<Record<string, string>> = {}): string[] {
  const root = join(folder, 'redis')
  for (const [path, lua] of Object.entries({ 'demo/act': text, ...fragments })) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, `${path}.lua`), lua)
  }
  try {
    compileTree(root, undefined, LIBRARY)
    return []
  } catch (error) {
    if (error instanceof ContractError) return error.message.split('\n')
    throw error
  }
}

function script(body: string, tags = ''): string {
  return `--[[\nActs.\n\n@returns done\n@cost    O(1)\n${tags}]]\n${KEYS}\n${body}\n${USED}`
}

const REFUSED = [
  `redis.call('INCR', count)`,
  `redis.call('INCRBY', count, '5')`,
  `redis.call('DECR', count)`,
  `redis.call('APPEND', count, 'x')`,
  `redis.call('GETDEL', count)`,
  `redis.call('SET', count, '0', 'GET')`,
  `redis.call('BITFIELD', count, 'INCRBY', 'u8', '0', '1')`,
  `redis.pcall('LPUSH', items, 'x')`,
  `redis.call('RPOP', items)`,
  `redis.call('LMOVE', items, items, 'LEFT', 'RIGHT')`,
  `redis.call('LREM', items, '1', 'x')`,
  `redis.call('LREM', items, #items, 'x')`,
  `redis.call('LTRIM', items, '1', '-1')`,
  `redis.call('LTRIM', items, 0, -2)`,
  `redis.call('ZINCRBY', ranks, '1', 'x')`,
  `redis.call('ZADD', ranks, 'INCR', '1', 'x')`,
  `redis.call('ZADD', ranks, tostring(10), '1', 'x')`,
  `redis.call('ZPOPMIN', ranks)`,
  `redis.call('ZREMRANGEBYRANK', ranks, '0', '9')`,
  `redis.call('ZUNIONSTORE', ranks, 2, ranks, copy)`,
  `redis.call('ZUNIONSTORE', copy, 2, ranks, ranks, copy)`,
  `redis.call('ZDIFFSTORE', ranks, 2, copy, ranks)`,
  `redis.call('ZRANGESTORE', ranks, ranks, '1', '-1')`,
  `redis.call('SDIFFSTORE', some, more, some)`,
  `redis.call('BITOP', 'NOT', count, count)`,
  `redis.call('BITOP', 'XOR', count, count, count)`,
  `redis.call('BITOP', 'ONE', count, count)`,
  `redis.call('BITOP', string.upper('not'), count, count)`,
  `redis.call('BITFIELD', count, unpack({ 'INCRBY', 'u8', '0', '1' }))`,
  `redis.call('SET', count, '0', string.upper('get'))`,
  `redis.call('XADD', log, '*', 'what', 'x')`,
  `redis.call('XGROUP', 'CREATE', log, 'all', '0')`,
  `redis.call('RENAME', ranks, copy)`,
]

test.each(REFUSED)('refused without a call id: %s', (body) => {
  const name = /'([A-Z]+)'/.exec(body)?.[1]

  expect(problems(script(body))).toEqual([
    `redis/demo/act.lua:15 ${name} twice is not ${name} once, and a call whose answer was lost is sent again: ` +
      'let demo/act take a call id (caller and call, with recall and remember_answer); or say in its head what makes it safe: @repeats why',
  ])
})

const ALLOWED = [
  `redis.call('SET', count, '1', 'PX', '10')`,
  `redis.call('SETRANGE', count, '0', 'x')`,
  `redis.call('BITFIELD', count, 'SET', 'u8', '0', '1')`,
  `redis.call('LREM', items, '0', 'x')`,
  `redis.call('LTRIM', items, '0', '9')`,
  `redis.call('LTRIM', items, '0', '-1')`,
  `redis.call('LTRIM', items, -10, -1)`,
  `redis.call('ZADD', ranks, 'GT', '1', 'x')`,
  `redis.call('ZADD', ranks, 'NX', 'CH', tostring(1), 'x', tostring(2), 'y')`,
  `redis.call('ZADD', ranks, unpack({ '1', 'x' }))`,
  `redis.call('ZREMRANGEBYRANK', ranks, '0', '-11')`,
  `redis.call('ZREMRANGEBYRANK', ranks, 10, -1)`,
  `redis.call('ZUNIONSTORE', copy, 1, ranks)`,
  `redis.call('ZDIFFSTORE', copy, 2, ranks, ranks)`,
  `redis.call('ZRANGESTORE', copy, ranks, '1', '-1')`,
  `redis.call('SDIFFSTORE', some, some, more)`,
  `redis.call('SINTERSTORE', some, more, some)`,
  `redis.call('SUNIONSTORE', some, more, some)`,
  `redis.call('BITOP', 'AND', count, count)`,
  `redis.call('SET', count, '0', 'PX', tostring(10))`,
  `redis.call('SET', count, tostring(10))`,
  `redis.call('XTRIM', log, 'MAXLEN', '10')`,
  `redis.call('XGROUP', 'DESTROY', log, 'all')`,
]

test.each(ALLOWED)('the same when it runs twice: %s', (body) => {
  expect(problems(script(body))).toEqual([])
})

const DIFF = "redis.call('SDIFFSTORE', into, from, besides)"

test.each([
  [`local function less(into, from, besides) ${DIFF} end less(some, more, some)`, 1],
  [`local function less(into, from, besides) ${DIFF} end less(some, some, more)`, 0],
  [`local function less(into, from, besides) ${DIFF} end less(some, some, more) less(more, more, some)`, 0],
  [
    `local keys = { some = some } ${DIFF.replace('into', 'some').replace('from', 'more').replace('besides', 'keys.some')}`,
    1,
  ],
  [
    `local keys = { more = more } ${DIFF.replace('into', 'some').replace('from', 'some').replace('besides', 'keys.more')}`,
    0,
  ],
  [
    `local function less(keys) ${DIFF.replace('into', 'keys.some').replace('from', 'keys.more').replace('besides', 'keys.some')} end local all = { some = some, more = more } less(all)`,
    1,
  ],
])('a key is the same whatever it is called: %s', (body, found) => {
  expect(problems(script(body))).toHaveLength(found)
})

const INCR = `redis.call('INCR', count)`

test('a script that says why it may run twice is believed', () => {
  expect(problems(script(INCR, '@repeats only the holder of a token comes this far\n'))).toEqual([])
})

test('why it may run twice has to be said, and not where nothing is written', () => {
  const reads = `--[[\nLooks.\n\n@returns done\n@cost    O(1)\n@reads\n@repeats why\n]]
local count = KEYS[1] -- string: a number
redis.call('GET', count)\nreturn { 'done' }\n`

  expect(problems(script(INCR, '@repeats\n'))).toEqual([
    'redis/demo/act.lua:6 @repeats says why the script may run twice',
  ])
  expect(problems(reads)).toEqual([
    'redis/demo/act.lua:7 a script with @reads may always run twice: leave @repeats out',
  ])
})

test('in a module the line is told, and the operation that runs it; what nobody calls runs never', () => {
  const fragment = `local function tally(key)\n  return redis.call('INCR', key)\nend

local function tally_all(key)\n  return redis.call('DECR', key)\nend\n`
  const found = problems(script('tally(count)'), { 'shared/tally': fragment })

  expect(found).toEqual([
    expect.stringMatching(/^redis\/shared\/tally\.lua:2 INCR twice is .* let demo\/act take a call id/),
  ])
})

const ID =
  'local caller = ARGV[1] -- text: process and slot\nlocal call = ARGV[2] -- text: number of the call\n'
const RECALL = `local remembered = try(recall(redis.call('HGET', calls, caller), call))
if remembered then
  return { 'done' }
end
`
const REMEMBER = `remember_answer(calls, caller, call, 5, 'done')\n`

function remembering(body: string): string {
  const head = `--[[\nActs.\n\n@returns done\n@cost    O(1)\n]]\n`
  const keys = `local calls = KEYS[1] -- hash: the calls\nlocal count = KEYS[2] -- string: a number\n`
  return `${head}${keys}${ID}\n${body}return { 'done' }\n`
}

test('a script that remembers its calls may do what it likes', () => {
  expect(problems(remembering(`${RECALL}${INCR}\n${REMEMBER}`))).toEqual([])
})

const OWN = 'local function recall() end\nlocal function remember_answer() end\n'

test('a call id that is taken and not remembered is not enough', () => {
  const unremembered = `redis.call('HSET', calls, caller, call)\n${INCR}\n`

  const expected = expect.stringMatching(
    /INCR twice is not INCR once, and demo\/act takes a call id that it does not remember: recall and remember_answer do/,
  )
  expect(problems(remembering(unremembered))).toEqual([expected])
  expect(problems(remembering(`${RECALL}${INCR}\n`))).toEqual([expected])
  expect(problems(remembering(`${OWN}${unremembered}recall()\nremember_answer()\n`))).toEqual([expected])
})

test('the folders of Perilune itself say it in their prose', () => {
  expect(() => compileTree(LIBRARY)).not.toThrow()
})
