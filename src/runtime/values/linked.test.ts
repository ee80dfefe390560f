// Scripts that are assembled from their files match the contract: the text, its hash, and the origin of its lines.

import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import contract from '../../../lua/contract.json' with { type: 'json' }
import { readContract } from '../../../test/conformance/files.ts'
import { type ContractOperation, operationOf } from '../../testing/vector-contract.ts'
import { linked, type LinkedScript, type LuaText } from './linked.ts'

const GENERATED = join(import.meta.dirname, '../../generated')

async function scripts(): Promise<LinkedScript[]> {
  const files = readdirSync(GENERATED).filter((file) => !['shared.ts', 'bits.ts'].includes(file))
  const modules = await Promise.all(files.map((file) => import(join(GENERATED, file)) as Promise<object>))
  return modules
    .flatMap((each) => Object.values(each) as { readonly script: LinkedScript }[])
    .map(({ script }) => script)
}

test('each script matches the contract, with its hash and the origin of its lines', async () => {
  const [all, known] = [await scripts(), readContract()]

  expect(all.map(({ name }) => name).toSorted()).toEqual(Object.keys(contract.operations).toSorted())
  for (const { name, sha1, source, lines } of all) {
    const operation = operationOf(known, name)
    expect(sha1, name).toBe(operation.sha1)
    expect(createHash('sha1').update(source).digest('hex'), name).toBe(sha1)
    expect(source, name).toBe(operation.source)
    expect(placed(source, lines), name).toEqual(placesOf(operation))
  }
})

test('a script begins with its keys, and the table of keys if its functions need it', () => {
  const text: LuaText = { file: 'lua/gauge/read', taken: [6, 2, -4, 1, 9, 1], text: 'b\nc\na\nd' }

  const script = linked(
    'gauge/read',
    '',
    { reads: true, bytes: false },
    ['state', 'spare-log', 'ids'],
    [{ locals: [1, 3] }, text, 2, 1, { table: [2, 3] }, 0, 2, 3, 1],
  )

  expect(script.source.split('\n')).toEqual([
    'local a=KEYS[1]',
    'local b=KEYS[3]',
    'a',
    'local K={',
    'spare_log=KEYS[2],',
    'ids=b,',
    '}',
    'b',
    'c',
    'd',
  ])
  expect(placed(script.source, script.lines)).toEqual([
    ...Array.from({ length: 2 }, () => 'lua/gauge/keys.lua:1'),
    'lua/gauge/read.lua:5',
    ...Array.from({ length: 4 }, () => 'lua/gauge/keys.lua:1'),
    'lua/gauge/read.lua:7',
    'lua/gauge/read.lua:8',
    'lua/gauge/read.lua:15',
  ])
})

/** File and line of each line. */
function placed(source: string, runs: LinkedScript['lines']): string[] {
  return source.split('\n').map((_, at) => {
    const [first, file, line] = runs.findLast(([sent]) => sent <= at + 1) ?? [0, '', 0]
    return `${file}:${line + at + 1 - first}`
  })
}

/** The same from the contract, which has no lines of keys. */
function placesOf({ structure, pieces = [] }: ContractOperation): string[] {
  return pieces.flatMap((piece) => {
    if (typeof piece === 'string') return piece.split('\n').map(() => `lua/${structure}/keys.lua:1`)
    const [of = 0, from = 0, count = 0] = piece
    const { file = '', numbers = [] } = contract.texts[of] ?? {}
    return numbers.slice(from, from + count).map((number) => `${file}:${number}`)
  })
}
