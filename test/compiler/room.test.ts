// The limits of Lua: every script that a real server compiles is accepted, and any other is rejected with file and
// line.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { compileTree } from '../../tools/contract/compile.ts'
import { ContractError } from '../../tools/contract/problem.ts'

const HEAD = `--[[
Acts.

@returns done
@cost    O(1)
]]
local state = redis.call('GET', keys.state)

`
const END = `redis.call('SET', keys.state, 'x')\nreturn { 'done' }\n`

const times = (count: number, each: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => each(at)).join('')
const listed = (count: number, each: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => each(at)).join(', ')

/** Null where it is refused. */
function built(body: string): { source: string } | string {
  const root = join(mkdtempSync(join(tmpdir(), 'perilune-room-')), 'redis')
  onTestFinished(() => rmSync(join(root, '..'), { recursive: true }))
  mkdirSync(join(root, 'demo'), { recursive: true })
  writeFileSync(join(root, 'demo/keys.lua'), "return {\n  state = 'string', -- the state\n}\n")
  writeFileSync(join(root, 'demo/act.lua'), `${HEAD}${body}\n${END}`)
  try {
    return { source: compileTree(root).operations['demo/act']?.source ?? '' }
  } catch (error) {
    if (error instanceof ContractError) return error.message
    throw error
  }
}

const SHAPES: [what: string, least: number, most: number, body: (count: number) => string][] = [
  ['locals', 190, 200, (count) => times(count, (at) => `local a${at} = state\n`)],
  ['locals of one name', 190, 200, (count) => times(count, () => 'local a = state\n')],
  ['locals in a block', 190, 200, (count) => `do\n${times(count, (at) => `local a${at} = state\n`)}end`],
  ['parameters', 190, 200, (count) => `local function f(${listed(count, (at) => `p${at}`)})\nend\nf()`],
  [
    'loops in each other',
    40,
    50,
    (count) => `${times(count, () => 'for _ = 1, 2 do\n')}${times(count, () => 'end\n')}`,
  ],
  [
    'locals of functions around it',
    50,
    61,
    (count) =>
      `${times(count, (at) => `local a${at} = state\n`)}local function f()\nlocal function g()\nreturn ${listed(count, (at) => `a${at}`)}\nend\nreturn g\nend\nf()`,
  ],
  ['arguments', 200, 247, (count) => `local function f(...)\nend\nf(${listed(count, () => '1')})`],
  ['values set at once', 150, 200, (count) => `local a\n${listed(count, () => 'a')} = 1`],
  ['parentheses', 150, 198, (count) => `local a = ${'('.repeat(count)}state${')'.repeat(count)}`],
  ['texts put together', 150, 198, (count) => `local a = state${" .. 'x'".repeat(count)}`],
  ['blocks in each other', 150, 199, (count) => `${'do\n'.repeat(count)}${'end\n'.repeat(count)}`],
  [
    'functions in each other',
    60,
    99,
    (count) => `local a = ${'function() return '.repeat(count)}1${' end'.repeat(count)}\na()`,
  ],
  ['tables in each other', 150, 199, (count) => `local a = ${'{'.repeat(count)}${'}'.repeat(count)}`],
  [
    'operators and parentheses in each other',
    60,
    99,
    (count) => `local a = ${'(state or '.repeat(count)}1${')'.repeat(count)}`,
  ],
  ['calls in each other', 60, 198, (count) => `local a = ${'tostring('.repeat(count)}1${')'.repeat(count)}`],
  ['signs', 150, 198, (count) => `local a = ${'not '.repeat(count)}1`],
]

test.each(SHAPES)('%s: as many as a server compiles, and no more', async (_, least, most, body) => {
  const client = new Redis(inject('redisPort'))
  onTestFinished(() => client.disconnect())
  const compiles = (source: string): Promise<boolean> =>
    client.script('LOAD', source).then(
      () => true,
      () => false,
    )

  for (const count of [1, least, most - 1, most, most + 1, most + 40]) {
    const found = built(body(count))
    if (count <= least) expect(found).toHaveProperty('source')
    if (count > most) expect(found).toMatch(/^redis\/demo\/act\.lua:\d+ (the script|this function) has \d+ /)
    if (typeof found === 'object') expect([count, await compiles(found.source)]).toEqual([count, true])
  }
})

test('functions that are not sent take no room', () => {
  expect(built(times(300, (at) => `local function f${at}()\nend\n`))).toHaveProperty('source')
})
