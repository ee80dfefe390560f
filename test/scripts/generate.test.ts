// The command `perilune generate`, as a process.

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
import { dirname, join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { commandOf } from '../programs/fork.ts'

const FIXTURE = join(import.meta.dirname, 'fixtures/redis')
const HEAD = `--[[
Counts.

@returns counted
@cost    O(1)
]]
`
const KEYS = "return {\n  count = 'string', -- the number\n}\n"
const COUNT = `${HEAD}redis.call('SET', keys.count, '1')\nreturn { 'counted' }\n`
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perilune-command-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

interface Ended {
  status: number | null
  stdout: string
  stderr: string
}

function perilune(...args: string[]): Ended {
  const command = commandOf(new URL('../../tools/perilune.ts', import.meta.url))
  return spawnSync(process.execPath, [...command, ...args], { cwd: folder, encoding: 'utf8' })
}

function generate(...options: string[]): Ended {
  return perilune('generate', 'app/redis', '--out', 'app/made/redis.ts', ...options)
}

function lua(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    const full = join(folder, 'app/redis', path)
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, text)
    const keys = join(dirname(full), 'keys.lua')
    if (!path.startsWith('shared/') && !existsSync(keys)) writeFileSync(keys, KEYS)
  }
}

function fixture(): void {
  cpSync(FIXTURE, join(folder, 'app/redis'), { recursive: true })
}

test('a run writes the module; another run and a check find nothing to do', () => {
  fixture()

  expect(generate()).toMatchObject({ status: 0, stdout: 'app/made/redis.ts written\n', stderr: '' })
  expect(generate()).toMatchObject({ status: 0, stdout: 'app/made/redis.ts is up to date\n' })
  expect(generate('--check')).toMatchObject({ status: 0 })

  const module = readFileSync(join(folder, 'app/made/redis.ts'), 'utf8')
  expect(module).toBe(readFileSync(join(import.meta.dirname, 'generated/redis.ts'), 'utf8'))
  expect(module).toContain('~<namespace>:{visits:* &<namespace>:{visits:* -@all')
})

test('scripts keep the names of their sources on request, and a check then requires it, too', () => {
  fixture()

  expect(generate('--readable')).toMatchObject({ status: 0 })

  const module = readFileSync(join(folder, 'app/made/redis.ts'), 'utf8')
  expect(module).toContain('for at = visits_at, #visits, 2 do')
  expect(generate('--readable', '--check')).toMatchObject({ status: 0 })
  expect(generate('--check')).toMatchObject({ status: 1 })
})

test('a check fails when the module is not up to date, and writes nothing', () => {
  fixture()
  expect(generate('--check')).toMatchObject({
    status: 1,
    stderr: 'app/made/redis.ts differs: run perilune generate app/redis --out app/made/redis.ts\n',
  })
  expect(existsSync(join(folder, 'app/made'))).toBe(false)

  generate()
  appendFileSync(join(folder, 'app/made/redis.ts'), '// edited\n')

  expect(generate('--check')).toMatchObject({ status: 1 })
  expect(readFileSync(join(folder, 'app/made/redis.ts'), 'utf8')).toContain('// edited')
})

test('a folder that breaks the grammar is reported line by line, and nothing is written', () => {
  fixture()
  lua({
    'guild-names/wrong.lua': `${HEAD}redis.call('SET', 'other', '1')\nreturn { 'counted' }\n`,
    'guild-names/unclear.lua': `${COUNT}total = 1\n`,
  })

  const { status, stdout, stderr } = generate()

  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toMatch(/^app\/redis\/guild-names\/unclear\.lua:\d+ syntax error: /)
  expect(stderr).toMatch(/^app\/redis\/guild-names\/wrong\.lua:7 /m)
  expect(existsSync(join(folder, 'app/made'))).toBe(false)
})

test('the command reports what is missing', () => {
  mkdirSync(join(folder, 'empty'))

  expect(perilune()).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('usage: perilune generate DIR'),
  })
  expect(perilune('generate', 'empty')).toMatchObject({ status: 1, stderr: expect.stringContaining('usage') })
  expect(perilune('generate', 'empty', '--oot', 'a.ts').stderr).toContain("'--oot'")
  expect(existsSync(join(folder, 'a.ts'))).toBe(false)
})

test('only a TypeScript module is written: a typing error does not overwrite another file', () => {
  fixture()
  lua({ 'guild-names/add.json': '{}' })
  for (const out of ['app/redis/guild-names/add.json', 'app/redis/guild-names', 'redis.js']) {
    const message = `--out must be a TypeScript module, such as redis.ts, not ${out}\n`
    expect(perilune('generate', 'app/redis', '--out', out)).toMatchObject({ status: 1, stderr: message })
  }
  expect(readFileSync(join(folder, 'app/redis/guild-names/add.json'), 'utf8')).toBe('{}')
})

test('--help and --version answer and do nothing', () => {
  expect(perilune('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--check') })
  expect(perilune('--version').stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})
