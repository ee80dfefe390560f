// Scripts that are joined from the texts of their files are what the contract says: the text, its hash, and where its lines come from.

import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import contract from '../../lua/contract.json' with { type: 'json' }
import type { LinkedScript } from './linked.ts'

const GENERATED = join(import.meta.dirname, '../generated')

interface Described {
  readonly sha1: string
  readonly source: string
  readonly lines: readonly unknown[]
}
const operations = new Map<string, Described>(Object.entries(contract.operations))

async function scripts(): Promise<LinkedScript[]> {
  const files = readdirSync(GENERATED).filter((file) => !['shared.ts', 'bits.ts'].includes(file))
  const modules = await Promise.all(files.map((file) => import(join(GENERATED, file)) as Promise<object>))
  return modules
    .flatMap((each) => Object.values(each) as { readonly script: LinkedScript }[])
    .map(({ script }) => script)
}

test('each script of each structure is the one of the contract, with its hash and the places of its lines', async () => {
  const all = await scripts()

  expect(all.map(({ name }) => name).toSorted()).toEqual([...operations.keys()].toSorted())
  for (const { name, sha1, source, lines } of all) {
    expect(sha1, name).toBe(operations.get(name)?.sha1)
    expect(createHash('sha1').update(source).digest('hex'), name).toBe(sha1)
    expect(placed(source, lines), name).toEqual(placed(source, operations.get(name)?.lines as typeof lines))
  }
})

/** File and line of each line. */
function placed(source: string, runs: LinkedScript['lines']): string[] {
  return source.split('\n').map((_, at) => {
    const [first, file, line] = runs.findLast(([sent]) => sent <= at + 1) ?? [0, '', 0]
    return `${file}:${line + at + 1 - first}`
  })
}
