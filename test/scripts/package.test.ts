// The archive that users install: its command compiles, and what it writes runs on what it holds.

import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { installArchive } from '../package/archive.ts'

const ROOT = join(import.meta.dirname, '../..')

const PROGRAM = `
import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { testClock } from 'perilune/testing'
import { guildNames, visits } from './redis.ts'

const client = new Redis(Number(process.argv[2]))
const redis = perilune(ioredis(client), { namespace: 'package-test' })
const clock = testClock(redis)
const guild = guildNames(redis, 'seven')
await guild.clear()
const { status } = await guild.add({ member: 'ada' })
const { names }: { readonly names: readonly string[] } = await guild.complete({ prefix: 'a' })
const own = visits(redis, String(process.pid))
const { total, last } = await own.addUp({ weight: 2, visits: [{ place: 'lake', times: 2 }] })
clock.advance('5m')
const later = await own.addUp({ weight: 1, visits: [] })
console.log(status, names.join(), total, later.last - last)
await redis.close()
client.disconnect()
`
// Stricter than most, as what is written must compile anywhere.
const CONFIG = {
  compilerOptions: {
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023', 'esnext.disposable'],
    types: ['node'],
    noEmit: true,
    strict: true,
    allowImportingTsExtensions: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noUnusedLocals: true,
    noUnusedParameters: true,
    noPropertyAccessFromIndexSignature: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
  },
  include: ['*.ts'],
}

test('the packed command compiles a folder, and its module compiles and runs on the packed library', () => {
  const folder = installArchive(['ioredis', '@types'])
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const bin = join(folder, 'node_modules/perilune', commandOf(folder))
  cpSync(join(import.meta.dirname, 'fixtures/redis'), join(folder, 'redis'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'program.ts'), PROGRAM)
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG))
  const run = (file: string, ...args: string[]): string =>
    execFileSync(file, args, { cwd: folder, encoding: 'utf8' })
  const program = (file: string, ...args: string[]): string =>
    run(process.execPath, join(ROOT, 'node_modules', file), ...args)

  expect(run(bin, 'generate', 'redis', '--out', 'redis.ts')).toBe('redis.ts written\n')
  expect(run(bin, 'generate', 'redis', '--out', 'redis.ts', '--check')).toBe('redis.ts is up to date\n')
  expect(program('typescript/bin/tsc', '-p', '.')).toBe('')
  expect(program('tsx/dist/cli.mjs', 'program.ts', String(inject('redisPort')))).toBe(
    'added ada 4 300000000n\n',
  )
})

test('the packed doctor runs where no client is installed, and brings the licences of what is in it', () => {
  const folder = installArchive([])
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const bin = join(folder, 'node_modules/perilune', commandOf(folder))
  const args = ['doctor', `redis://127.0.0.1:${inject('redisPort')}`, '--structures', 'cache', '--json']

  const { stdout, stderr } = spawnSync(bin, args, { cwd: folder, encoding: 'utf8' })

  expect(stderr).toBe('')
  expect(JSON.parse(stdout).checks[0]).toMatchObject({ id: 'reach', state: 'ok' })
  const chunks = readdirSync(join(ROOT, 'dist')).filter((name) => name.startsWith('command-'))
  const texts = chunks.map((name) => readFileSync(join(ROOT, 'dist', name), 'utf8')).join('')
  for (const name of ['ioredis', 'cli-table3', 'denque']) expect(texts).toContain(`Includes ${name}:`)
  expect(texts).toContain('Permission is hereby granted')
  expect(readFileSync(join(ROOT, 'dist/cli.mjs'), 'utf8')).not.toContain('ECONNREFUSED')
})

test('the command keeps the licence notice of the parser that is built into it', () => {
  const notice = readFileSync(join(ROOT, 'node_modules/luaparse/LICENSE'), 'utf8').trim()

  expect(readFileSync(join(ROOT, 'dist/cli.mjs'), 'utf8')).toContain(notice)
})

function commandOf(folder: string): string {
  const manifest = Object(
    JSON.parse(readFileSync(join(folder, 'node_modules/perilune/package.json'), 'utf8')),
  )
  return String(manifest.bin.perilune)
}
