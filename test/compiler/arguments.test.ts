// Arguments that many operations take one behind the other: declared in a module, and in an operation one local.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { compileTree } from '../../tools/contract/compile.ts'
import type { OperationContract } from '../../tools/contract/contract.ts'
import { ContractError } from '../../tools/contract/problem.ts'

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

function compiled(body: string, module = MODULE): OperationContract | undefined {
  const root = join(mkdtempSync(join(tmpdir(), 'perilune-arguments-')), 'redis')
  onTestFinished(() => rmSync(join(root, '..'), { recursive: true }))
  mkdirSync(join(root, 'gauge'), { recursive: true })
  mkdirSync(join(root, 'shared'))
  writeFileSync(join(root, 'gauge/keys.lua'), KEYS)
  writeFileSync(join(root, 'gauge/put.lua'), `${HEAD}${body}return { 'stored' }\n`)
  writeFileSync(join(root, 'shared/gauges.lua'), module)
  return compileTree(root).operations['gauge/put']
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

test('a caller gives each of them, and the operation has them in one table', () => {
  const operation = compiled(BODY)

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

const OPERATION = 'redis/gauge/put.lua'
const IN_MODULE = 'redis/shared/gauges.lua'
const FORM =
  "write local NAME = arguments({ name = 'text', -- what it means }), one argument a line, each text, bytes, integer, number or flag"

test.each([
  [
    'a name that no module has',
    BODY.replace('PLACE', 'PALCE'),
    MODULE,
    `${OPERATION}:8 PALCE names no arguments in any module: ${FORM}`,
  ],
  [
    'a table of fields in its place',
    BODY,
    MODULE.replace(/arguments\(\{[^}]*\}\)/, "fields({ 'river:text' })"),
    `${OPERATION}:8 PLACE names no arguments in any module: ${FORM}`,
  ],
  [
    'a wrong number',
    BODY.replace('ARGV[2]', 'ARGV[3]'),
    MODULE,
    `${OPERATION}:8 the next number of ARGV is 2, not 3`,
  ],
  [
    'a number behind it that does not count all of them',
    BODY.replace('ARGV[7]', 'ARGV[3]'),
    MODULE,
    `${OPERATION}:9 the next number of ARGV is 7, not 3`,
  ],
  [
    'another way to read it',
    BODY.replace('ARGV[2]', 'tonumber(ARGV[2])'),
    MODULE,
    `${OPERATION}:8 cannot read "tonumber(ARGV[2])": write local name = ARGV[2] -- PLACE: meaning`,
  ],
  ['no meaning', BODY, MODULE.replace(' -- its name', ''), `${IN_MODULE}:2 ${FORM}`],
  ['a type that there is not', BODY, MODULE.replace("'integer'", "'int'"), `${IN_MODULE}:2 ${FORM}`],
  ['none of them', BODY, MODULE.replace(/\(\{[^}]*\}\)/, '({})'), `${IN_MODULE}:2 ${FORM}`],
  [
    'one that is there twice',
    BODY,
    MODULE.replace('km =', 'river ='),
    `${IN_MODULE}:2 PLACE has two fields called river`,
  ],
  [
    'one of the name of another argument',
    BODY.replace('local id', 'local km').replace("'id', id", "'id', km"),
    MODULE,
    `${OPERATION}:8 there is another argument called km: rename one`,
  ],
  [
    'a table that nothing uses',
    BODY.replace('store(keys.state, place)', ''),
    MODULE,
    `${OPERATION}:8 the argument place is never used`,
  ],
  [
    'a call with more values than the function takes',
    BODY.replace('(keys.state, place)', '(keys.state, id, place)'),
    MODULE,
    `${OPERATION}:11 store takes (state, place), and gets 3 values: leave out what is too much`,
  ],
  [
    'the names in the place of the values',
    BODY.replace('(keys.state, place)', '(keys.state, PLACE)'),
    MODULE,
    `${OPERATION}:11 PLACE names arguments: declare local name = ARGV[1] -- PLACE: meaning behind the head, and pass that`,
  ],
  [
    'what only tables of fields have',
    BODY.replace('more)', 'more + #PLACE + PLACE.km)'),
    MODULE,
    `${OPERATION}:12 PLACE names arguments: declare local name = ARGV[1] -- PLACE: meaning behind the head, and pass that`,
  ],
])('refused: %s', (_, body, module, expected) => {
  expect(problems(body, module)).toContain(expected)
})
