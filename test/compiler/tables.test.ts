// Names of numbers that are known when a script is compiled: the fields of repeated arguments, and bits.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { compileTree } from '../../tools/contract/compile.ts'
import type { OperationContract } from '../../tools/contract/contract.ts'
import { bitsModule } from '../../tools/contract/emit-bits.ts'
import { ContractError } from '../../tools/contract/problem.ts'

const HEAD = '--[[\nStores.\n\n@returns stored\n@cost    O(readings)\n]]\n'
const KEYS = "-- The keys of a gauge.\nreturn {\n  state = 'hash', -- what it shows\n}\n"
const MODULE = `-- A reading: a group of a repeated argument.
local READINGS = fields({
  'place:text',
  'level:integer', -- in mm
  'until:text',
})

local STATES = bits({ 'wet', 'high_water', 'frozen' })

local function store(state, readings, at)
  if readings[at + READINGS['until']] ~= '' then
    redis.call('HSET', state, readings[at + READINGS.place], readings[at + READINGS.level] + STATES.frozen)
  end
end
`

function written(body: string, module: string): string {
  const root = join(mkdtempSync(join(tmpdir(), 'perilune-tables-')), 'redis')
  onTestFinished(() => rmSync(join(root, '..'), { recursive: true }))
  mkdirSync(join(root, 'gauge'), { recursive: true })
  mkdirSync(join(root, 'shared'))
  writeFileSync(join(root, 'gauge/keys.lua'), KEYS)
  writeFileSync(join(root, 'gauge/put.lua'), `${HEAD}${body}return { 'stored' }\n`)
  writeFileSync(join(root, 'shared/gauges.lua'), module)
  return root
}

function compiled(body: string, module = MODULE): OperationContract | undefined {
  return compileTree(written(body, module), undefined, undefined, { form: 'readable' }).operations[
    'gauge/put'
  ]
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

const WALK = `for at = readings_at, #readings, #READINGS do\n  store(keys.state, readings, at)\nend\n`
const BY_NAME = `local readings, readings_at = ARGV, 1 -- repeated READINGS: what was read\n\n${WALK}`
const FIELDS = [
  { name: 'place', type: 'text' },
  { name: 'level', type: 'integer' },
  { name: 'until', type: 'text' },
]

test('a repeated argument has the fields that a module names, and nothing of the table is sent', () => {
  const operation = compiled(BY_NAME)

  expect(operation?.arguments).toEqual([
    { name: 'readings', type: 'repeated', about: 'what was read', fields: FIELDS },
  ])
  expect(operation?.source).toContain("if readings[at + 2] ~= '' then")
  expect(operation?.source).toContain("redis.call('HSET', state, readings[at], readings[at + 1] + 4)")
  expect(operation?.source).toContain('for at = readings_at, #readings, 3 do')
  expect(operation?.source).not.toMatch(/READINGS|STATES|fields|bits/)
})

test('a declaration may begin with fields of its own, and its table is called by its own name', () => {
  const operation =
    compiled(`local pairs_of, pairs_at = ARGV, 1 -- repeated (number:integer READINGS): with numbers

for at = pairs_at, #pairs_of, #PAIRS_OF do
  redis.call('HSET', keys.state, pairs_of[at + PAIRS_OF.number], (pairs_at - at) / #PAIRS_OF)
  store(keys.state, pairs_of, at + PAIRS_OF.place)
end
`)

  expect(operation?.arguments[0]?.fields).toEqual([{ name: 'number', type: 'integer' }, ...FIELDS])
  expect(operation?.source).toContain('for at = pairs_at, #pairs_of, 4 do')
  expect(operation?.source).toContain("redis.call('HSET', state, pairs_of[at], (pairs_at - at) / 4)")
  expect(operation?.source).toContain('store(state, pairs_of, at + 1)')
})

test('the library reads the same bits', () => {
  expect(bitsModule(written(BY_NAME, MODULE))).toContain(
    'export const STATES = { wet: 1, highWater: 2, frozen: 4 } as const',
  )
})

const OPERATION = 'redis/gauge/put.lua'
const IN_MODULE = 'redis/shared/gauges.lua'
const FORM = "write local NAME = fields({ 'first:text', 'second:integer' }) or bits({ 'first', 'second' })"

test.each([
  [
    'a misspelt field',
    BY_NAME,
    MODULE.replace('READINGS.level]', 'READINGS.levl]'),
    `${IN_MODULE}:12 READINGS has no levl: did you mean level?`,
  ],
  [
    'a misspelt bit',
    BY_NAME,
    MODULE.replace('STATES.frozen', 'STATES.forzen'),
    `${IN_MODULE}:12 STATES has no forzen: did you mean frozen?`,
  ],
  [
    'a table that is no value',
    BY_NAME,
    MODULE.replace('STATES.frozen', '#tostring(STATES)'),
    `${IN_MODULE}:12 STATES names numbers: write STATES.name, or #STATES`,
  ],
  [
    'fields that no module names',
    BY_NAME.replace('repeated READINGS', 'repeated READING'),
    MODULE,
    `${OPERATION}:7 READING names no fields in any module: ${FORM}`,
  ],
  [
    'a field that is there twice',
    BY_NAME,
    MODULE.replace("'place:text'", "'level:text'"),
    `${IN_MODULE}:2 READINGS has two fields called level: rename one`,
  ],
  [
    'fields that are not written out',
    BY_NAME,
    MODULE.replace("'level:integer'", 'level'),
    `${IN_MODULE}:2 ${FORM}`,
  ],
  [
    'a walk by another step',
    BY_NAME.replace('#READINGS do', '2 do'),
    MODULE,
    `${OPERATION}:9 readings comes in groups of 3: write #READINGS as the step, or 3`,
  ],
  [
    'a table of a script in a module',
    `local other, other_at = ARGV, 1 -- repeated (id:text n:text): x\n\nredis.call('HSET', keys.state, other[other_at + OTHER.n], 1)\nlook(other)\n`,
    `${MODULE}\nlocal function look(other)\n  return other[1 + OTHER.n]\nend\n`,
    `${IN_MODULE}:17 OTHER is defined nowhere: define it as a local above this line, or in a module below shared`,
  ],
])('rejected: %s', (_, body, module, expected) => {
  expect(problems(body, module)).toContain(expected)
})
