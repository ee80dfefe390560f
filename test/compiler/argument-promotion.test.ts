// Functions take what they read of tables of keys and arguments; the script does the same.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, expect, inject, onTestFinished, test } from 'vitest'
import { compileTree } from '../../tools/contract/compile.ts'
import type { OperationContract } from '../../tools/contract/contract.ts'
import type { TextForm } from '../../tools/contract/sent-text.ts'

const client = new Redis(inject('redisPort'))
afterAll(() => client.disconnect())

const KEYS = `return {
  state = 'string', -- the gauge
  log = 'list', -- what it showed
  seen = 'set', -- by whom
  more = 'hash', -- what else
}
`
const MODULE = `local SHOWN = arguments({
  text = 'text', -- what it shows
  times = 'integer', -- how often
  loud = 'flag', -- whether in capitals
})
local function log_shown(keys, shown)
  redis.call('RPUSH', keys.log, shown.text .. shown.times)
  return redis.call('LLEN', keys.log)
end
local function note(keys, shown, by)
  redis.call('SADD', keys.seen, by)
  return log_shown(keys, shown)
end
local function all_of(keys)
  redis.call('HSET', keys.more, 'a', '1')
  return redis.call('LLEN', keys.log)
    + redis.call('SCARD', keys.seen)
    + redis.call('STRLEN', keys.state)
    + redis.call('HLEN', keys.more)
end
local function said(shown)
  return shown.loud and string.upper(shown.text) or shown.text
end
local function store(unit, shown)
  unit.shown = shown
  return unit
end
local function change_stored(unit, shown, field)
  unit.shown[field] = 'late'
  return shown.text
end
local function change(shown)
  shown.text = shown.text .. '!'
  return shown.text
end
local function count_down(keys, shown, left)
  if left == 0 then
    return redis.call('LLEN', keys.log)
  end
  log_shown(keys, shown)
  return count_down(keys, shown, left - 1)
end
local function maybe(shown)
  return shown and shown.text or 'nothing'
end
local function later(keys)
  return function()
    return redis.call('LLEN', keys.log)
  end
end
local function sum(keys, ...)
  local all = 0
  for _, each in ipairs({ ... }) do
    all = all + each
  end
  return all + redis.call('LLEN', keys.log)
end
`
const HEAD = `--[[
Sets the gauge.

@returns set  value:text
@cost    O(1)
]]
local shown = ARGV[1] -- SHOWN: what it shows
local by = ARGV[4] -- text: who shows it

`
const END = `redis.call('SET', keys.state, by)\nreturn { 'set', tostring(value) }\n`

function compiled(body: string, form: TextForm): OperationContract {
  const root = join(mkdtempSync(join(tmpdir(), 'perilune-promotion-')), 'redis')
  onTestFinished(() => rmSync(join(root, '..'), { recursive: true }))
  mkdirSync(join(root, 'gauge'), { recursive: true })
  mkdirSync(join(root, 'shared'))
  writeFileSync(join(root, 'gauge/keys.lua'), KEYS)
  writeFileSync(join(root, 'gauge/set.lua'), `${HEAD}${body}${END}`)
  writeFileSync(join(root, 'shared/shown.lua'), MODULE)
  const operation = compileTree(root, undefined, undefined, { form }).operations['gauge/set']
  if (operation === undefined) throw new Error('nothing was compiled')
  return operation
}

function sent(name: string): string {
  return compiled(BODIES[name] ?? '', 'short').source
}

async function played({ source, keys }: OperationContract): Promise<unknown> {
  const all = ['state', 'log', 'seen', 'more'].map((part) => `{promotion}:${part}`)
  await client.del(...all)
  const own = keys.map(({ part }) => `{promotion}:${part}`)
  const reply = await client.eval(source, own.length, ...own, 'text', '3', '1', 'me')
  return [reply, await client.lrange(all[1] ?? '', 0, -1), await client.smembers(all[2] ?? '')]
}

const BODIES: Record<string, string> = {
  'keys and arguments': 'local value = note(keys, shown, by)\n',
  'all that a table has': 'local value = all_of(keys) + note(keys, shown, by) + all_of(keys)\n',
  'a table that is stored': 'local unit = store({}, shown)\nlocal value = said(shown) .. said(unit.shown)\n',
  'a table that is changed': 'local value = change(shown) .. said(shown) .. change(shown) .. shown.text\n',
  'a table that is changed by another name while a function has it':
    "local unit = store({}, shown)\nlocal value = change_stored(unit, shown, by == 'me' and 'text' or 'loud') .. said(shown)\n",
  'names like those that the compiler makes':
    "local shown__text, shown___text = 'a', 'b'\nlocal value = shown__text .. said(shown) .. shown___text .. note(keys, shown, by)\n",
  'a function that calls itself': 'local value = count_down(keys, shown, shown.times)\n',
  'a table or nothing': 'local value = maybe(shown) .. maybe(nil)\n',
  'a function that outlives the call':
    'local value = note(keys, shown, by) + later(keys)() + later(keys)()\n',
  'more arguments than are named': 'local value = sum(keys, 1, 2, note(keys, shown, by))\n',
  'a function that is handed on':
    'local hand = said\nlocal value = hand(shown) .. said(shown) .. tostring(pcall(said, shown))\n',
  'a table of its own':
    "local own = { text = 'mine', times = 1 }\nlocal value = log_shown(keys, own) + log_shown(keys, shown)\n",
  'a field that the table has not': 'local value = tostring(shown.lout) .. said(shown)\n',
  'a local with the name of a key': "local log = 'x'\nlocal value = log .. note(keys, shown, log) .. log\n",
  'a table whose field is set as a function':
    "function shown.text()\n  return 't'\nend\nlocal value = said({ text = shown.text(), loud = true }) .. said({ text = 'x' })\n",
  'a function that is set to one of fewer parameters':
    "local tell = function()\n  return 'none'\nend\nlocal first = tell(shown)\ntell = said\nlocal value = first .. tell(shown) .. said(shown)\n",
  'a table for a function of any number of values':
    "local function count(...)\n  return select('#', ...)\nend\nlocal value = count(shown, shown) .. said(shown)\n",
  'a method that is handed the table':
    "local teller = { mark = '!' }\nfunction teller:tell(shown)\n  return shown.text .. self.mark\nend\nlocal value = teller:tell(shown) .. said(shown)\n",
  'names that are hidden':
    "local function show(text)\n  local shown, log = { text = text, loud = false }, 1\n  return said(shown) .. log\nend\nlocal value = show('own') .. said(shown) .. note(keys, shown, by)\n",
}

test.each(Object.entries(BODIES))('%s: the script does what its source says', async (_, body) => {
  expect(await played(compiled(body, 'short'))).toEqual(await played(compiled(body, 'readable')))
})

test('a table that is never needed whole is not created, and its functions take the fields that they read', () => {
  const lines = sent('keys and arguments').split('\n')

  expect(lines).not.toContain('local K={')
  expect(lines).toContain('local d,e=ARGV[1],tonumber(ARGV[2])')
  expect(lines.filter((line) => /function|local \w+=note/.test(line))).toEqual([
    'local function note(a,b,c,d,e)',
    'local function log_shown(a,b,c)',
    'local g=note(b,c,d,e,f)',
  ])
})

test('a function that reads many fields of a table takes the table', () => {
  const text = sent('all that a table has')

  expect(text).toContain('local function all_of(a)\n')
  expect(text).toContain('=all_of(K)+note(K.log,K.seen,')
})

test('a table that other code may change or keep stays a table', () => {
  expect(sent('a table that is changed')).toContain('={text=ARGV[1],times=')
  expect(sent('a table that is stored')).toContain('={text=ARGV[1],times=')
})
