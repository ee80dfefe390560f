// Arguments that many operations take in sequence: declared in a module, and one local in an operation.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { compileTree } from '../../tools/contract/compile.ts'
import type { OperationContract } from '../../tools/contract/contract.ts'

const HEAD = '--[[\nStores.\n\n@returns stored\n@cost    O(1)\n]]\n'
const KEYS = "-- The keys of a gauge.\nreturn {\n  state = 'hash', -- what it shows\n}\n"
const MODULE = `-- Where it was read.
local PLACE = arguments({
  river = 'text', -- its name
  km = 'integer', -- from the source
  tidal = 'flag', -- whether the sea reaches it
  note = 'bytes', -- what the reader wrote
  level = 'number', -- in m
})

local function store(state, place)
  redis.call('HSET', state, place.river, place.km + place.level, 'note', place.tidal and place.note or '')
end
`
const BODY = `local id = ARGV[1] -- text: of the reading
local place = ARGV[2] -- PLACE: where it was read
local more = ARGV[7] -- text: anything

store(keys.state, place)
redis.call('HSET', keys.state, 'id', id, 'more', more)
`

function compiled(): OperationContract | undefined {
  const root = join(mkdtempSync(join(tmpdir(), 'perilune-arguments-')), 'redis')
  onTestFinished(() => rmSync(join(root, '..'), { recursive: true }))
  mkdirSync(join(root, 'gauge'), { recursive: true })
  mkdirSync(join(root, 'shared'))
  writeFileSync(join(root, 'gauge/keys.lua'), KEYS)
  writeFileSync(join(root, 'gauge/put.lua'), `${HEAD}${BODY}return { 'stored' }\n`)
  writeFileSync(join(root, 'shared/gauges.lua'), MODULE)
  return compileTree(root, '0.0.0', undefined, { form: 'readable' }).operations['gauge/put']
}

test('a caller passes each of them, and the operation has them in one table', () => {
  const operation = compiled()

  expect(operation?.arguments).toEqual([
    { name: 'id', type: 'text', about: 'of the reading' },
    { name: 'river', type: 'text', about: 'its name' },
    { name: 'km', type: 'integer', about: 'from the source' },
    { name: 'tidal', type: 'flag', about: 'whether the sea reaches it' },
    { name: 'note', type: 'bytes', about: 'what the reader wrote' },
    { name: 'level', type: 'number', about: 'in m' },
    { name: 'more', type: 'text', about: 'anything' },
  ])
  expect(operation?.source).toContain(
    "local place = { river = ARGV[2], km = tonumber(ARGV[3]), tidal = ARGV[4] == '1', note = ARGV[5], level = tonumber(ARGV[6]) }",
  )
  expect(operation?.source).not.toMatch(/PLACE|arguments/)
})
