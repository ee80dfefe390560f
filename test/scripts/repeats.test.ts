// Which scripts of users are refused because running them twice is not running them once.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { compileTree } from '../../tools/contract/compile.ts'
import { ContractError } from '../../tools/contract/problem.ts'

const LIBRARY = join(import.meta.dirname, '../../lua')
const KEYS = `return {
  count = 'string', -- a number
  items = 'list', -- items
  ranks = 'sorted set', -- ranks
  log = 'stream', -- what happened
  copy = 'sorted set', -- ranks too
  some = 'set', -- members
  more = 'set', -- other members
  calls = 'hash', -- the calls
}
`
const USED = `redis.call('DEL', keys.count, keys.items, keys.ranks, keys.log, keys.copy, keys.some, keys.more)\nreturn { 'done' }\n`

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perilune-repeats-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

/** The faults of `redis/demo/act.lua` next to these fragments. */
function problems(text: string, fragments: Readonly<Record<string, string>> = {}): string[] {
  const root = join(folder, 'redis')
  for (const [path, lua] of Object.entries({ 'demo/act': text, 'demo/keys': KEYS, ...fragments })) {
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
  return `--[[\nActs.\n\n@returns done\n@cost    O(1)\n${tags}]]\n${body}\n${USED}`
}

const REFUSED = [
  `redis.call('INCR', keys.count)`,
  `redis.call('INCRBY', keys.count, '5')`,
  `redis.call('DECR', keys.count)`,
  `redis.call('APPEND', keys.count, 'x')`,
  `redis.call('GETDEL', keys.count)`,
  `redis.call('SET', keys.count, '0', 'GET')`,
  `redis.call('BITFIELD', keys.count, 'INCRBY', 'u8', '0', '1')`,
  `redis.pcall('LPUSH', keys.items, 'x')`,
  `redis.call('RPOP', keys.items)`,
  `redis.call('LMOVE', keys.items, keys.items, 'LEFT', 'RIGHT')`,
  `redis.call('LREM', keys.items, '1', 'x')`,
  `redis.call('LREM', keys.items, #keys.items, 'x')`,
  `redis.call('LTRIM', keys.items, '1', '-1')`,
  `redis.call('LTRIM', keys.items, 0, -2)`,
  `redis.call('ZINCRBY', keys.ranks, '1', 'x')`,
  `redis.call('ZADD', keys.ranks, 'INCR', '1', 'x')`,
  `redis.call('ZADD', keys.ranks, tostring(10), '1', 'x')`,
  `redis.call('ZPOPMIN', keys.ranks)`,
  `redis.call('ZREMRANGEBYRANK', keys.ranks, '0', '9')`,
  `redis.call('ZUNIONSTORE', keys.ranks, 2, keys.ranks, keys.copy)`,
  `redis.call('ZUNIONSTORE', keys.copy, 2, keys.ranks, keys.ranks, keys.copy)`,
  `redis.call('ZDIFFSTORE', keys.ranks, 2, keys.copy, keys.ranks)`,
  `redis.call('ZRANGESTORE', keys.ranks, keys.ranks, '1', '-1')`,
  `redis.call('SDIFFSTORE', keys.some, keys.more, keys.some)`,
  `redis.call('BITOP', 'NOT', keys.count, keys.count)`,
  `redis.call('BITOP', 'XOR', keys.count, keys.count, keys.count)`,
  `redis.call('BITOP', 'ONE', keys.count, keys.count)`,
  `redis.call('BITOP', string.upper('not'), keys.count, keys.count)`,
  `redis.call('BITFIELD', keys.count, unpack({ 'INCRBY', 'u8', '0', '1' }))`,
  `redis.call('SET', keys.count, '0', string.upper('get'))`,
  `redis.call('XADD', keys.log, '*', 'what', 'x')`,
  `redis.call('XGROUP', 'CREATE', keys.log, 'all', '0')`,
  `redis.call('RENAME', keys.ranks, keys.copy)`,
]

test.each(REFUSED)('rejected without a call id: %s', (body) => {
  const name = /'([A-Z]+)'/.exec(body)?.[1]

  expect(problems(script(body))).toEqual([
    `redis/demo/act.lua:7 ${name} twice is not ${name} once, and a call whose answer was lost is sent again: ` +
      'let demo/act take a call id (local call_id = ARGV[1] -- CALL_ID: of this call, with recall and remember_answer); or say in its head what makes it safe: @repeats why',
  ])
})

const ALLOWED = [
  `redis.call('SET', keys.count, '1', 'PX', '10')`,
  `redis.call('SETRANGE', keys.count, '0', 'x')`,
  `redis.call('BITFIELD', keys.count, 'SET', 'u8', '0', '1')`,
  `redis.call('LREM', keys.items, '0', 'x')`,
  `redis.call('LTRIM', keys.items, '0', '9')`,
  `redis.call('LTRIM', keys.items, '0', '-1')`,
  `redis.call('LTRIM', keys.items, -10, -1)`,
  `redis.call('ZADD', keys.ranks, 'GT', '1', 'x')`,
  `redis.call('ZADD', keys.ranks, 'NX', 'CH', tostring(1), 'x', tostring(2), 'y')`,
  `redis.call('ZADD', keys.ranks, unpack({ '1', 'x' }))`,
  `redis.call('ZREMRANGEBYRANK', keys.ranks, '0', '-11')`,
  `redis.call('ZREMRANGEBYRANK', keys.ranks, 10, -1)`,
  `redis.call('ZUNIONSTORE', keys.copy, 1, keys.ranks)`,
  `redis.call('ZDIFFSTORE', keys.copy, 2, keys.ranks, keys.ranks)`,
  `redis.call('ZRANGESTORE', keys.copy, keys.ranks, '1', '-1')`,
  `redis.call('SDIFFSTORE', keys.some, keys.some, keys.more)`,
  `redis.call('SINTERSTORE', keys.some, keys.more, keys.some)`,
  `redis.call('SUNIONSTORE', keys.some, keys.more, keys.some)`,
  `redis.call('BITOP', 'AND', keys.count, keys.count)`,
  `redis.call('SET', keys.count, '0', 'PX', tostring(10))`,
  `redis.call('SET', keys.count, tostring(10))`,
  `redis.call('XTRIM', keys.log, 'MAXLEN', '10')`,
  `redis.call('XGROUP', 'DESTROY', keys.log, 'all')`,
]

test.each(ALLOWED)('the same when it runs twice: %s', (body) => {
  expect(problems(script(body))).toEqual([])
})

const DIFF = "redis.call('SDIFFSTORE', into, from, besides)"

test.each([
  [`local function less(into, from, besides) ${DIFF} end less(keys.some, keys.more, keys.some)`, 1],
  [`local function less(into, from, besides) ${DIFF} end less(keys.some, keys.some, keys.more)`, 0],
  [
    `local function less(into, from, besides) ${DIFF} end less(keys.some, keys.some, keys.more) less(keys.more, keys.more, keys.some)`,
    0,
  ],
  [
    `local all = { some = keys.some } ${DIFF.replace('into', 'keys.some').replace('from', 'keys.more').replace('besides', 'all.some')}`,
    1,
  ],
  [
    `local all = { more = keys.more } ${DIFF.replace('into', 'keys.some').replace('from', 'keys.some').replace('besides', 'all.more')}`,
    0,
  ],
  [
    `local function less(keys) ${DIFF.replace('into', 'keys.some').replace('from', 'keys.more').replace('besides', 'keys.some')} end local all = { some = keys.some, more = keys.more } less(all)`,
    1,
  ],
])('a key is the same under any name: %s', (body, found) => {
  expect(problems(script(body))).toHaveLength(found)
})

const INCR = `redis.call('INCR', keys.count)`

test('a script that states why it may run twice is accepted', () => {
  expect(problems(script(INCR, '@repeats only the holder of a token comes this far\n'))).toEqual([])
})

test('the reason why it may run twice must be stated, and must not when nothing is written', () => {
  const reads = `--[[\nLooks.\n\n@returns done\n@cost    O(1)\n@reads\n@repeats why\n]]
redis.call('GET', keys.count)\nreturn { 'done' }\n`

  expect(problems(script(INCR, '@repeats\n'))).toEqual([
    'redis/demo/act.lua:6 @repeats has no reason: write why the script may run twice',
  ])
  expect(problems(reads)).toEqual([
    'redis/demo/act.lua:7 a script with @reads may always run twice: remove @repeats',
  ])
})

test('a warning in a module names the line and the operation that runs it; a function without a caller never runs', () => {
  const fragment = `local function tally(key)\n  return redis.call('INCR', key)\nend

local function tally_all(key)\n  return redis.call('DECR', key)\nend\n`
  const found = problems(script('tally(keys.count)'), { 'shared/tally': fragment })

  expect(found).toEqual([
    expect.stringMatching(/^redis\/shared\/tally\.lua:2 INCR twice is .* let demo\/act take a call id/),
  ])
})

const ID = 'local call_id = ARGV[1] -- CALL_ID: of this call\n'
const RECALL = `local remembered = try(recall(redis.call('HGET', keys.calls, call_id.caller), call_id))
if remembered then
  return { 'done' }
end
`
const REMEMBER = `remember_answer(keys.calls, call_id, 5, 'done')\n`

function remembering(body: string): string {
  const head = `--[[\nActs.\n\n@returns done\n@cost    O(1)\n]]\n`
  return `${head}${ID}\n${body}return { 'done' }\n`
}

test('a script that remembers its calls may do anything', () => {
  expect(problems(remembering(`${RECALL}${INCR}\n${REMEMBER}`))).toEqual([])
})

const OWN = 'local function recall() end\nlocal function remember_answer() end\n'

test('a call id that is taken and not remembered is not enough', () => {
  const unremembered = `redis.call('HSET', keys.calls, call_id.caller, call_id.call)\n${INCR}\n`

  const expected = expect.stringMatching(
    /INCR twice is not INCR once, and demo\/act takes a call id that it does not remember: recall and remember_answer do/,
  )
  expect(problems(remembering(unremembered))).toEqual([expected])
  expect(problems(remembering(`${RECALL}${INCR}\n`))).toEqual([expected])
  expect(problems(remembering(`${OWN}${unremembered}recall()\nremember_answer()\n`))).toEqual([expected])
})

test('the folders of Perilune itself state it in their prose', () => {
  expect(() => compileTree(LIBRARY)).not.toThrow()
})
