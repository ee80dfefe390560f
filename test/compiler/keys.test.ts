// The keys of a structure are listed once; a script is declared those that it uses, in the order of the list.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { compileTree } from '../../tools/contract/compile.ts'
import type { Contract } from '../../tools/contract/contract.ts'
import { locate } from '../../tools/contract/locate.ts'

const LIST = `-- The keys of a gauge.
return {
  state = 'hash', -- what it shows
  recent = 'sorted set', -- readings -> when
  spare_log = 'stream', -- all that happened
}
`
const HEAD = '--[[\nReads.\n\n@returns read\n@cost    O(1)\n]]\n'

function compiled(body: string, { keys = LIST, module = '' } = {}): Contract {
  const root = join(mkdtempSync(join(tmpdir(), 'perilune-keys-')), 'redis')
  onTestFinished(() => rmSync(join(root, '..'), { recursive: true }))
  mkdirSync(join(root, 'gauge'), { recursive: true })
  mkdirSync(join(root, 'shared'))
  writeFileSync(join(root, 'gauge/keys.lua'), keys)
  writeFileSync(join(root, 'gauge/read.lua'), `${HEAD}${body}return { 'read' }\n`)
  writeFileSync(join(root, 'shared/clean.lua'), module)
  return compileTree(root, undefined, undefined, { form: 'readable' })
}

const CLEAN = `local function drop(keys)\n  redis.call('UNLINK', keys.state, keys.spare_log)\nend
local function clean(all)\n  drop(all)\n  redis.call('UNLINK', all.recent)\nend\n`

test('a script declares the keys that it uses itself, in the order of the list', () => {
  const operation = compiled("redis.call('XLEN', keys.spare_log)\nredis.call('HDEL', keys.state, 'a')\n")
    .operations['gauge/read']

  expect(operation?.keys).toEqual([
    { name: 'state', part: 'state', type: 'hash', about: 'what it shows' },
    { name: 'spare_log', part: 'spare-log', type: 'stream', about: 'all that happened' },
  ])
  expect(operation?.source.split('\n').slice(0, 3)).toEqual([
    'local state = KEYS[1]',
    'local spare_log = KEYS[2]',
    "redis.call('XLEN', spare_log)",
  ])
  expect(locate(operation?.lines ?? [], 2)).toEqual({ file: 'redis/gauge/keys.lua', line: 5 })
})

test('keys that functions take from the table they are given are declared, too, under any name', () => {
  const operation = compiled('clean(keys)\n', { module: CLEAN }).operations['gauge/read']

  expect(operation?.keys.map(({ name }) => name)).toEqual(['state', 'recent', 'spare_log'])
})

test('a local of the script may have the name of a key', () => {
  const { source = '' } =
    compiled(
      "local state = redis.call('HGET', keys.state, 'a')\nredis.call('HSET', keys.state, 'b', state)\n",
    ).operations['gauge/read'] ?? {}

  expect(source).toContain(
    "local state = redis.call('HGET', state_key, 'a')\nredis.call('HSET', state_key, 'b', state)",
  )
})

test('a key keeps its name where a local of the script shadows it, in the list and in the table', () => {
  const { keys, source } =
    compiled(
      "local state = redis.call('HGET', keys.state, 'a')\nredis.call('HSET', keys.state, 'b', state)\ndrop(keys)\n",
      {
        module: CLEAN,
      },
    ).operations['gauge/read'] ?? expect.fail()

  expect(keys.map(({ name, part }) => [name, part])).toEqual([
    ['state', 'state'],
    ['spare_log', 'spare-log'],
  ])
  expect(source).toContain('state = state_key,')
})
