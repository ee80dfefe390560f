// Folders as editors, checkouts and file systems leave them: valid files are accepted, all others are rejected with
// file and line.

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { CommandError } from '../../tools/command/error.ts'
import { generate } from '../../tools/command/generate.ts'

const LIBRARY = join(import.meta.dirname, '../../lua')
const COUNT = `--[[
Counts.

@returns counted
@cost    O(1)
]]
redis.call('SET', keys.count, '1')
return { 'counted' }
`

const KEYS = "return {\n  count = 'string', -- the number\n}\n"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perilune-files-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

function lua(path: string, text: string | Uint8Array): void {
  const full = join(folder, 'redis', path)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, text)
  const isOperation = /^(?!shared\/)[^/]+\/[^/]+$/.test(path)
  if (isOperation) writeFileSync(join(dirname(full), 'keys.lua'), KEYS)
}

const run = (check = false, out = 'redis.ts'): string =>
  generate({ folder: join(folder, 'redis'), out: join(folder, out), check, library: LIBRARY })
const written = (): string => readFileSync(join(folder, 'redis.ts'), 'utf8')

/** The errors of the command, without the path to the folder. */
function problems(): string[] {
  try {
    run()
  } catch (error) {
    if (error instanceof CommandError) return error.message.replaceAll(`${folder}/`, '').split('\n')
    throw error
  }
  return []
}

test('a byte order mark and Windows line breaks make no difference', () => {
  lua('demo/count.lua', COUNT)
  run()
  const plain = written()

  lua('demo/count.lua', `\ufeff${COUNT.replaceAll('\n', '\r\n')}`)

  expect(run()).toMatch(/redis\.ts is up to date$/)
  expect(written()).toBe(plain)
})

test('a module that was checked out with Windows line breaks is up to date, and with any other change it is not', () => {
  lua('demo/count.lua', COUNT)
  run()
  writeFileSync(join(folder, 'redis.ts'), written().replaceAll('\n', '\r\n'))

  expect(run(true)).toMatch(/redis\.ts is up to date$/)
  writeFileSync(join(folder, 'redis.ts'), written().replace("'SET'", "'DEL'"))
  expect(() => run(true)).toThrow('redis.ts differs')
})

test('text that is not UTF-8 is rejected with its position, in operations and modules', () => {
  const latin = (text: string): Uint8Array => Buffer.from(text, 'latin1')
  lua('demo/count.lua', latin(COUNT.replace('Counts', 'Compté')))
  lua('demo/more.lua', COUNT.replace('redis.call', 'odd()\nredis.call'))
  lua('shared/odd.lua', latin("local function odd()\n  return 'é'\nend\n"))

  const refused = 'this line is not UTF-8: save the file as UTF-8, or write a byte as \\233'
  expect(problems()).toEqual([`redis/demo/count.lua:2 ${refused}`, `redis/shared/odd.lua:2 ${refused}`])
})

test('invisible characters are rejected: they would not reach Redis unchanged', () => {
  lua('demo/count.lua', COUNT.replace("'1'", "'\0'"))
  lua('demo/more.lua', COUNT.replace("'1'", "'\x1b'"))

  expect(problems()).toEqual([
    'redis/demo/count.lua:7 this line has the control character \\0: write it so, in a text',
    'redis/demo/more.lua:7 this line has the control character \\27: write it so, in a text',
  ])
})

test('Lua files that are no operation and no module are rejected', () => {
  lua('count.lua', COUNT)
  lua('demo/count.lua', COUNT)
  lua('demo/deep/count.lua', COUNT)
  lua('demo/loud.LUA', COUNT)
  lua('demo/notes.txt', 'nothing')
  lua('shared/deep/odd.lua', 'local function odd() end')

  const refused =
    'this file is no operation and no module: move it to <structure>/<operation>.lua, or to shared'
  expect(problems()).toEqual([
    `redis/count.lua:1 ${refused}`,
    `redis/demo/deep/count.lua:1 ${refused}`,
    `redis/demo/loud.LUA:1 ${refused}`,
  ])
})

test('a folder that is a symbolic link is a structure like others', () => {
  lua('demo/count.lua', COUNT)
  symlinkSync(join(folder, 'redis/demo'), join(folder, 'redis/linked'))

  run()

  expect(written()).toContain('export function linked(')
})

test('names of folders and modules occur unchanged in the module', () => {
  lua("it's/count.lua", COUNT)
  expect(problems()).toEqual([
    "redis/it's/count.lua:1 it's is not in lower case with hyphens: rename it to it-s",
  ])
  rmSync(join(folder, 'redis'), { recursive: true })

  lua('demo/count.lua', COUNT.replace('redis.call', 'odd()\nredis.call'))
  lua("shared/it's.lua", 'local function odd() end\n')
  run()

  expect(written()).toContain(String.raw`'redis/shared/it\'s.lua'`)
})

test('an error of the file system is reported in one line', () => {
  lua('demo/count.lua', COUNT)
  mkdirSync(join(folder, 'taken.ts'))
  const messageOf = (call: () => unknown): string => {
    try {
      call()
    } catch (error) {
      if (error instanceof CommandError) return error.message
      throw error
    }
    return ''
  }

  expect(messageOf(() => run(false, 'taken.ts'))).toMatch(/^cannot write .*taken\.ts: EISDIR/)
  expect(messageOf(() => run(true, 'taken.ts'))).toMatch(/^cannot read .*taken\.ts: EISDIR/)
  if (process.getuid?.() === 0) return
  chmodSync(join(folder, 'redis/demo/count.lua'), 0)
  expect(messageOf(() => run())).toMatch(/^cannot read .*count\.lua: EACCES/)
})
