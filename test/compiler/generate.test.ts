import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commandOf } from '../programs/fork.ts'

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'perilune-generate-'))
  cpSync(join(import.meta.dirname, 'fixtures/good'), join(root, 'lua'), { recursive: true })
  writeFileSync(join(root, 'package.json'), '{ "version":"1.2.3" }')
})
afterEach(() => rmSync(root, { recursive: true }))

function generate(...options: string[]): { status: number | null; stdout: string; stderr: string } {
  const command = commandOf(new URL('../../tools/generate.ts', import.meta.url))
  return spawnSync(process.execPath, [...command, '--root', root, ...options], { encoding: 'utf8' })
}

test('one run writes contract, modules and docs; a check after it finds nothing to do', () => {
  mkdirSync(join(root, 'docs/structures'), { recursive: true })
  writeFileSync(join(root, 'docs/structures/demo.md'), '<!-- generated:keys -->\n<!-- /generated:keys -->\n')

  expect(generate()).toMatchObject({ status: 0 })
  expect(generate('--check')).toMatchObject({ status: 0, stdout: '' })

  expect(readFileSync(join(root, 'lua/contract.json'), 'utf8')).toContain('"version":"1.2.3"')
  expect(readFileSync(join(root, 'src/generated/demo.ts'), 'utf8')).toContain("from '../driver.ts'")
  expect(readFileSync(join(root, 'docs/structures/demo.md'), 'utf8')).toContain('`note-sequence`')
  expect(readFileSync(join(root, 'docs/compatibility.md'), 'utf8')).toContain('| newer | 7.0.0 | none |')
})

test('a check names every file that differs, fails, and writes nothing', () => {
  generate()
  const module = join(root, 'src/generated/demo.ts')
  appendFileSync(module, '// edited\n')
  rmSync(join(root, 'docs/compatibility.md'))

  const { status, stdout } = generate('--check')

  expect(status).toBe(1)
  expect(stdout.trim().split('\n').toSorted()).toEqual([
    'docs/compatibility.md differs: run npm run generate',
    'src/generated/demo.ts differs: run npm run generate',
  ])
  expect(readFileSync(module, 'utf8')).toContain('// edited')
  expect(existsSync(join(root, 'docs/compatibility.md'))).toBe(false)
})

test('the module of a removed structure is deleted', () => {
  generate()
  rmSync(join(root, 'lua/newer'), { recursive: true })

  expect(generate('--check').stdout).toContain('src/generated/newer.ts differs')
  generate()

  expect(existsSync(join(root, 'src/generated/newer.ts'))).toBe(false)
})

test('a tree that breaks the grammar is reported line by line, and nothing is written', () => {
  appendFileSync(join(root, 'lua/demo/clear.lua'), 'total = 1\n')

  const { status, stderr } = generate()

  expect(status).toBe(1)
  expect(stderr.trim()).toMatch(/^lua\/demo\/clear\.lua:\d+ syntax error: /)
  expect(existsSync(join(root, 'lua/contract.json'))).toBe(false)
})
