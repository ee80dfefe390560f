// The package has one build, of ES modules. Programs import it, or load it with `require`, and get the same modules.

import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { transform } from 'esbuild'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { installArchive, PUBLIC_NAMES, runProgram, writeProgram } from './archive.ts'

const COMMAND = 'dist/cli.mjs'

let folder: string
let files: string[]

beforeAll(() => {
  folder = installArchive(['ioredis'])
  files = readdirSync(installed('.'), { recursive: true, encoding: 'utf8' })
})
afterAll(() => rmSync(folder, { recursive: true }))

function installed(path: string): string {
  return join(folder, 'node_modules/perilune', path)
}

test('every public name is one module for require and for import, and Node warns of nothing', () => {
  const names = JSON.stringify(PUBLIC_NAMES)
  const text = `async function main() {
  const required = ${names}.map((name) => [name, require(name)])
  for (const [name, own] of required) console.log(name, own === await import(name))
}
main()`
  writeProgram(folder, { 'program.cjs': text })

  const { status, stdout, stderr } = runProgram(folder, 'program.cjs')

  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout.trimEnd().split('\n')).toEqual(PUBLIC_NAMES.map((name) => `${name} true`))
})

describe('a program that imports the library and requires it', () => {
  const plugin = `exports.PeriluneError = require('perilune').PeriluneError`
  const shown = `console.log(PeriluneError === plugin.PeriluneError)`

  test('has each class once where a CommonJS program imports the library', () => {
    const text = `import('perilune').then((imported) => {
  console.log(require('perilune').PeriluneError === imported.PeriluneError)
})`
    writeProgram(folder, { 'program.cjs': text })

    expect(runProgram(folder, 'program.cjs').stdout).toBe('true\n')
  })

  const both = [`import { PeriluneError } from 'perilune'`, `import plugin from './plugin.cjs'`]
  const orders: [string, string[]][] = [
    ['first', both],
    ['last', both.toReversed()],
  ]
  test.each(orders)('has each class once where an ES module imports the library %s', (_, imports) => {
    writeProgram(folder, { 'plugin.cjs': plugin, 'program.mjs': [...imports, shown].join('\n') })

    expect(runProgram(folder, 'program.mjs')).toEqual({ status: 0, stdout: 'true\n', stderr: '' })
  })
})

test('a CommonJS program works with Redis', () => {
  const text = `const { Redis } = require('ioredis')
const { connect } = require('perilune/connection')
const { ioredis } = require('perilune/ioredis')
const { lock } = require('perilune/lock')
const { queue } = require('perilune/queue')

async function main() {
  const client = new Redis(${inject('redisPort')})
  const connection = connect(ioredis(client), { namespace: 'package-test' })
  const name = 'commonjs:' + process.pid
  const lease = await lock(connection, name).acquire()
  const again = await lock(connection, name).tryAcquire()
  await lease.release()
  const mails = queue(connection, name)
  await mails.recurring.set('daily', { name: 'mail', payload: {}, cron: '0 7 * * *', timeZone: 'Europe/Oslo' })
  await mails.enqueue('mail', { to: 'ada' })
  const [job] = await mails.claim()
  await job.ack()
  console.log(again, job.payload.to)
  await connection.close()
  client.disconnect()
}
main()`
  writeProgram(folder, { 'program.cjs': text })

  expect(runProgram(folder, 'program.cjs')).toEqual({ status: 0, stdout: 'null ada\n', stderr: '' })
})

test('the contract is loaded by both', () => {
  const required = `console.log(Object.keys(require('perilune/contract.json').structures).length > 0)`
  const imported = `import contract from 'perilune/contract.json' with { type: 'json' }
console.log(Object.keys(contract.structures).length > 0)`
  writeProgram(folder, { 'program.cjs': required, 'program.mjs': imported })

  expect(runProgram(folder, 'program.cjs').stdout).toBe('true\n')
  expect(runProgram(folder, 'program.mjs').stdout).toBe('true\n')
})

describe('the archive', () => {
  test('has each module once, with its types, and no source map', () => {
    const built = files.filter((path) => path.startsWith('dist/'))
    const modules = built.filter((path) => path.endsWith('.mjs'))
    const types = built.filter((path) => path.endsWith('.d.mts'))

    expect(built.filter((path) => !modules.includes(path) && !types.includes(path))).toEqual([])
    const publicModules = PUBLIC_NAMES.map((name) => name.replace(/^perilune\/?/, '') || 'index')
    expect(modules).toEqual(expect.arrayContaining(publicModules.map((name) => `dist/${name}.mjs`)))
    expect(types).toEqual(expect.arrayContaining(publicModules.map((name) => `dist/${name}.d.mts`)))
  })

  test('has no module with a top-level await, which require could not load', async () => {
    expect(await waitsAtTopLevel('await null')).toBe(true)

    const modules = files.filter((path) => path.endsWith('.mjs') && path !== COMMAND)
    const waiting = await Promise.all(
      modules.map((path) => waitsAtTopLevel(readFileSync(installed(path), 'utf8'))),
    )

    expect(modules.length).toBeGreaterThan(PUBLIC_NAMES.length)
    expect(modules.filter((_, index) => waiting[index])).toEqual([])
  })
})

/** esbuild refuses to make CommonJS of such a module. */
async function waitsAtTopLevel(text: string): Promise<boolean> {
  try {
    await transform(text, { format: 'cjs', platform: 'node', logLevel: 'silent' })
    return false
  } catch (error) {
    if (String(error).includes('Top-level await')) return true
    throw error
  }
}
