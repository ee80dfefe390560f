// Locals and parameters are short in what is sent, and mean what they did.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, expect, inject, onTestFinished, test } from 'vitest'
import { compileTree } from '../../tools/contract/compile.ts'
import type { OperationContract } from '../../tools/contract/contract.ts'

const client = new Redis(inject('redisPort'))
afterAll(() => client.disconnect())

const HEAD = `--[[
Sets the gauge.

@returns set  value:text
@cost    O(1)
]]
local value = ARGV[1] -- text: what it shows

`
const END = `redis.call('SET', keys.state, tostring(value))\nreturn { 'set', tostring(value) }\n`

/** An operation with this body, and with this module. */
function compiled(body: string, module = '', form: 'short' | 'readable' = 'short'): OperationContract {
  const root = join(mkdtempSync(join(tmpdir(), 'perilune-short-')), 'redis')
  onTestFinished(() => rmSync(join(root, '..'), { recursive: true }))
  mkdirSync(join(root, 'gauge'), { recursive: true })
  mkdirSync(join(root, 'shared'))
  writeFileSync(
    join(root, 'gauge/keys.lua'),
    "return {\n  state = 'string', -- the gauge\n  log = 'list', -- what it showed\n}\n",
  )
  writeFileSync(join(root, 'gauge/set.lua'), `${HEAD}${body}${END}`)
  writeFileSync(join(root, 'shared/odd.lua'), module)
  const operation = compileTree(root, undefined, undefined, { form }).operations['gauge/set']
  if (operation === undefined) throw new Error('nothing was compiled')
  return operation
}

/** The sent text after the declarations, without the end. */
function sentLines(body: string, module?: string): string[] {
  return compiled(body, module).source.split('\n').slice(2, -2)
}

async function played(source: string): Promise<unknown> {
  const keys = ['{short-names}:state', '{short-names}:log']
  await client.del(...keys)
  const reply = await client.eval(source, 2, ...keys, 'v')
  return [reply, await client.get(keys[0] ?? ''), await client.lrange(keys[1] ?? '', 0, -1)]
}

const BODIES: Record<string, [body: string, module?: string]> = {
  'a local that hides one': [
    "local one = 'a'\ndo\n  local one = 'b'\n  value = value .. one\nend\nvalue = value .. one\n",
  ],
  'a local of the same name as its value': ["local value = value .. 'x'\nlocal value = value .. 'y'\n"],
  'a function that hides what it reads of': [
    "local one = 'a'\nlocal function show(one)\n  return one .. '!'\nend\nvalue = show(one) .. one\n",
  ],
  'what a function has from around it': [
    'local count = 0\nlocal function next_one()\n  count = count + 1\n  return count\nend\nvalue = value .. next_one() .. next_one() .. count\n',
  ],
  'what another function has between': [
    "local one = 'a'\nlocal function show()\n  return one\nend\nlocal function tell(other)\n  local mine = 'm'\n  return mine .. show() .. other\nend\nvalue = tell('o') .. value\n",
  ],
  'a function that calls itself': [
    'local function sum(n)\n  if n == 0 then\n    return 0\n  end\n  return n + sum(n - 1)\nend\nvalue = value .. sum(4)\n',
  ],
  'functions in functions': [
    'local function outer(one)\n  local function inner(two)\n    return function(three)\n      return one .. two .. three\n    end\n  end\n  return inner\nend\nvalue = outer(1)(2)(3) .. value\n',
  ],
  'any number of arguments': [
    "local function count(...)\n  local first, second = ...\n  return select('#', ...) .. first .. second\nend\nvalue = count('a', 'b', 'c') .. value\n",
  ],
  loops: [
    "for at = 1, 3 do\n  local at = at * 2\n  value = value .. at\nend\nfor at, one in ipairs({ 'x', 'y' }) do\n  value = value .. at .. one\nend\nlocal left = 2\nrepeat\n  local is_over = left == 0\n  left = left - 1\nuntil is_over\nwhile left < 1 do\n  left = left + 1\nend\nvalue = value .. left\n",
  ],
  'fields, keys and methods with the names of locals': [
    "local one, two = 'a', 'b'\nlocal all = { one = two, [two] = one, two = { one = 'c' } }\nvalue = all.one .. all[two] .. all.two.one .. two:upper() .. ('x'):rep(2)\n",
  ],
  'texts and comments with code in them': [
    "local one = 'local one = two' -- local one\nlocal two = [[\n  local one  =  'b'\n\n]] --[[ one ]]\nlocal three = [==[ ]] one ]==]\nvalue = one .. two .. three .. \"one \\\n two\"\n",
  ],
  'what blanks part': [
    "local one = { [ [[a]] ] = 1, [ [=[b]=] ] = 2 }\nlocal two = 1 - - 2\nlocal three = 3 .. 'x' .. 0x1f .. ''\nlocal four = not (two == 4) and 1 or 5.\nlocal five = .5\nvalue = one.a .. one.b .. two .. three .. four .. five .. - 1\n",
  ],
  'definitions of modules': [
    "redis.call('RPUSH', keys.log, 'l')\nlocal shown = show(keys, value)\nlocal a = wrapped(shown)\nvalue = a .. LETTER\n",
    "local LETTER = 'L'\nlocal function wrapped(text)\n  local open, close = '(', ')'\n  return open .. text .. close .. LETTER\nend\nlocal function show(keys, text)\n  local text = wrapped(text)\n  return text .. redis.call('LLEN', keys.log)\nend\n",
  ],
  'definitions with short names': [
    'local one, two = a(value), K(value)\nlocal three = a(one)\nvalue = one .. two .. three\nif value ~= three then\n  value = c(value, one)\nend\n',
    "local function a(text)\n  return text .. '1'\nend\nlocal function K(b)\n  local d = a(b)\n  return d .. '2'\nend\nlocal b = { 'x' }\nlocal function c(text, other)\n  local made = text .. b[1] .. K(other)\n  return made\nend\n",
  ],
  'a function that sinks to where others are': [
    "local one, two = value .. 'a', value .. 'b'\nlocal function show()\n  return one .. two\nend\nlocal function tell(first, second)\n  local third = first .. second\n  if third ~= '' then\n    local fourth = third\n    value = fourth .. show()\n  end\nend\nif value == 'v' then\n  tell('f', 's')\nend\n",
  ],
  'more locals than letters': [
    `${Array.from({ length: 70 }, (_, at) => `local name_${at} = value .. ${at}\n`).join('')}value = ${Array.from({ length: 70 }, (_, at) => `name_${at}`).join(' .. ')}\n`,
  ],
}

test.each(Object.entries(BODIES))(
  '%s: the short text behaves like the readable one',
  async (_, [body, module]) => {
    const [short, readable] = [compiled(body, module), compiled(body, module, 'readable')]

    expect(short.source.length).toBeLessThan(readable.source.length)
    expect(await played(short.source)).toEqual(await played(readable.source))
  },
)

test('locals and parameters have short names; definitions and fields keep theirs', () => {
  const [body, module] = BODIES['definitions of modules'] ?? expect.fail()

  expect(sentLines(body, module)).toEqual([
    'local c=ARGV[1]',
    "redis.call('RPUSH',b,'l')",
    'local function wrapped(a)',
    "return'('..a..')'..'L'",
    'end',
    'local function show(a,b)',
    'local c=wrapped(b)',
    "return c..redis.call('LLEN',a)",
    'end',
    'local d=show(b,c)',
    'local e=wrapped(d)',
    "c=e..'L'",
  ])
})

test('words separated by blanks stay separated', () => {
  const [body] = BODIES['what blanks part'] ?? expect.fail()

  expect(sentLines(body)).toEqual([
    "local d=3 ..'x'..0x1f ..''",
    'local e=not((1- -2)==4)and 1 or 5.',
    'local f=.5',
    'local c={[ [[a]]]=1,[ [=[b]=]]=2}',
    'b=c.a..c.b..(1- -2)..d..e..f..-1',
  ])
})

test('a change of one definition changes no other', () => {
  const [body, module = ''] = BODIES['definitions of modules'] ?? expect.fail()
  const before = sentLines(body, module)

  const after = sentLines(
    body,
    module.replace('local open, close', "local before = 'b'\n  local open, close"),
  )

  expect(after.filter((line) => !before.includes(line))).toEqual([])
})
