// `try` ends a script with what refuses the call.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { compileTree } from '../../tools/contract/compile.ts'
import type { OperationContract } from '../../tools/contract/contract.ts'
import { locate } from '../../tools/contract/locate.ts'
import { ContractError } from '../../tools/contract/problem.ts'

const HEAD = '--[[\nReads.\n\n@reads\n@returns read level:integer\n@returns closed\n@cost    O(1)\n]]\n'
const KEYS = "-- The keys of a gauge.\nreturn {\n  state = 'hash', -- what it shows\n}\n"
const MODULE = `local function open_gauge(state)
  local layout, level = unpack(redis.call('HMGET', state, 'layout', 'level'))
  if layout ~= '1' then
    return redis.error_reply('LAYOUT ' .. layout)
  end
  return nil, tonumber(level)
end

local function open_checked(state)
  local refusal, level = open_gauge(state)
  if refusal then
    return refusal
  end
  return nil, level
end

local function refusal_of_closed(state)
  if redis.call('HEXISTS', state, 'closed') == 1 then
    return { 'closed' }
  end
  return nil
end
`

function compiled(body: string, module = MODULE): OperationContract | undefined {
  const root = join(mkdtempSync(join(tmpdir(), 'perilune-try-')), 'redis')
  onTestFinished(() => rmSync(join(root, '..'), { recursive: true }))
  mkdirSync(join(root, 'gauge'), { recursive: true })
  mkdirSync(join(root, 'shared'))
  writeFileSync(join(root, 'gauge/keys.lua'), KEYS)
  writeFileSync(join(root, 'gauge/read.lua'), `${HEAD}${body}`)
  writeFileSync(join(root, 'shared/gauges.lua'), module)
  return compileTree(root, undefined, undefined, { form: 'readable' }).operations['gauge/read']
}

function problems(...given: Parameters<typeof compiled>): string[] {
  try {
    compiled(...given)
    return []
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    return error.problems.map(({ file, line, message }) => `${file}:${line} ${message}`)
  }
}

const CLOSED = 'try(refusal_of_closed(keys.state))\n'
const READ = `${CLOSED}local level = try(open_gauge(keys.state))\nreturn { 'read', level }\n`

test('try is replaced by the lines that end the script, on its own line', () => {
  const operation = compiled(READ)

  const lines = operation?.source.split('\n') ?? []
  expect(lines).toContain('local refusal = refusal_of_closed(state) if refusal then return refusal end')
  expect(lines.slice(-2)).toEqual([
    'local refusal, level = open_gauge(state) if refusal then return refusal end',
    "return { 'read', level }",
  ])
  expect(locate(operation?.lines ?? [], lines.length - 1)).toEqual({ file: 'redis/gauge/read.lua', line: 10 })
})

test('a value that is set elsewhere may be tried, over several lines, and a local may be called refusal', () => {
  const { source } =
    compiled(`${CLOSED}local refusal
if true then
  refusal = try(
    open_checked(keys.state)
  )
end
return { 'read', refusal }
`) ?? {}

  expect(source).toMatch(
    /local refusal_ refusal_, refusal =\s+open_checked\(state\)\s+if refusal_ then return refusal_ end/,
  )
})

const AT = 'redis/gauge/read.lua'

test.each([
  [
    'a call that may be refused stands without try',
    "local level = open_gauge(keys.state)\nreturn { 'read', level }\n",
    [`${AT}:10 open_gauge may refuse the call: write local name = try(open_gauge(…))`],
  ],
  [
    'so one in another call',
    "return { 'read', tostring(open_checked(keys.state)) }\n",
    [`${AT}:10 open_checked may refuse the call: write local name = try(open_checked(…))`],
  ],
  [
    'try stands in an expression',
    "local level = 1 + try(open_gauge(keys.state))\nreturn { 'read', level }\n",
    [
      `${AT}:10 try stands in a statement of its own, outside functions: write local name = try(open_name(…))`,
    ],
  ],
  [
    'try stands in a function',
    "local function level()\n  local now = try(open_gauge(keys.state))\n  return now\nend\nreturn { 'read', level() }\n",
    [
      `${AT}:11 try stands in a statement of its own, outside functions: write local name = try(open_name(…))`,
    ],
  ],
  [
    'what is tried gives back what is no answer',
    "try(tonumber('1'))\nreturn { 'read', 1 }\n",
    [
      `${AT}:10 this is no answer: write return { 'word', value }, or return redis.error_reply('INVALID argument: problem')`,
    ],
  ],
])('rejected: %s', (_, body, expected) => {
  expect(problems(`${CLOSED}${body}`)).toEqual(expect.arrayContaining(expected))
})

test('an answer of a tried function must be declared', () => {
  const other = MODULE.replace("{ 'closed' }", "{ 'shut' }")

  expect(problems(READ, other)).toEqual(
    expect.arrayContaining([
      'redis/shared/gauges.lua:19 the head does not declare the answer shut: write @returns shut there',
      `${AT}:6 no return gives the answer closed: remove @returns closed, or return it`,
    ]),
  )
})
