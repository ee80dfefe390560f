// Legal but unusual Lua: the sent script behaves like its source.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, expect, inject, onTestFinished, test } from 'vitest'
import { compileTree } from '../../tools/contract/compile.ts'
import type { OperationContract } from '../../tools/contract/contract.ts'
import type { TextForm } from '../../tools/contract/sent-text.ts'
import { BODIES } from './odd-lua.ts'

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
const PARTS = ['state', 'log', 'log_key', 'keys', 'self', 'arg', 'constructor']
const LIST = `return {\n  state = 'string', -- the gauge\n${PARTS.slice(1)
  .map((part) => `  ${part} = 'list', --[[ what\n  it showed ]]\n`)
  .join('')}}\n`

function compiled(body: string, form: TextForm): OperationContract {
  const root = join(mkdtempSync(join(tmpdir(), 'perilune-odd-lua-')), 'redis')
  onTestFinished(() => rmSync(join(root, '..'), { recursive: true }))
  mkdirSync(join(root, 'gauge'), { recursive: true })
  writeFileSync(join(root, 'gauge/keys.lua'), LIST)
  writeFileSync(join(root, 'gauge/set.lua'), `${HEAD}${body}${END}`)
  const operation = compileTree(root, undefined, undefined, { form }).operations['gauge/set']
  if (operation === undefined) throw new Error('nothing was compiled')
  return operation
}

/** The text as its author means it: `keys` is a table of all keys. */
function plain(body: string): string {
  const table = PARTS.map((part, at) => `${part} = KEYS[${at + 1}]`).join(', ')
  return `local keys, value = { ${table} }, ARGV[1]\n${body}${END}`
}

async function played(source: string, parts: readonly string[]): Promise<unknown> {
  const all = PARTS.map(keyOf)
  await client.del(...all)
  const reply = await client.eval(source, parts.length, ...parts.map(keyOf), 'v')
  const lists = await Promise.all(all.slice(1).map((key) => client.lrange(key, 0, -1)))
  return [reply, await client.get(all[0] ?? ''), lists]
}

function keyOf(part: string): string {
  return `{odd-lua}:${part}`
}

test.each(Object.entries(BODIES))('%s: the sent script does what the source says', async (_, body) => {
  const wanted = await played(plain(body), PARTS)

  for (const form of ['short', 'readable'] as const) {
    const { source, keys } = compiled(body, form)
    const parts = keys.map(({ part }) => part.replaceAll('-', '_'))
    expect(await played(source, parts)).toEqual(wanted)
  }
})
