// TypeScript of users, in the module systems that they have, against the types of the archive.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Ended, installArchive, PUBLIC_NAMES, runProgram, writeProgram } from './archive.ts'

const TSC = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc')
const OPTIONS = {
  target: 'es2023',
  lib: ['es2023', 'esnext.disposable'],
  types: ['node'],
  strict: true,
  skipLibCheck: false,
  rootDir: '.',
}
/** Every public name, and a line that compiles only when types are found: a missing one is `any`. */
const IMPORTS = `${PUBLIC_NAMES.map((name, index) => `import * as part${index} from '${name}'`).join('\n')}
import { perilune, type Perilune } from 'perilune'
// @ts-expect-error -- a function
export const wrong: string = perilune
export type Started = Perilune
console.log([${PUBLIC_NAMES.map((_, index) => `part${index}`).join(', ')}].every((part) => typeof part === 'object'))
`
const OK: Ended = { status: 0, stdout: 'true\n', stderr: '' }

let folder: string

beforeAll(() => {
  folder = installArchive(['@types', 'ioredis'])
})
afterAll(() => rmSync(folder, { recursive: true }))

/**
 * Compiles `program.ts` of a package in a folder of its own, into `program.js` next to it; returns the output of the
 * compiler.
 */
function compile(type: 'commonjs' | 'module', options: object, text: string): Ended {
  writeProgram(folder, {
    [`${type}/package.json`]: JSON.stringify({ type }),
    [`${type}/tsconfig.json`]: JSON.stringify({
      compilerOptions: { ...OPTIONS, ...options },
      files: ['program.ts'],
    }),
    [`${type}/program.ts`]: text,
  })
  return runProgram(folder, TSC, '-p', type)
}

test.each(['commonjs', 'module'] as const)(
  'a package of type %s compiles with `module: nodenext`, and runs',
  (type) => {
    expect(compile(type, { module: 'nodenext' }, IMPORTS)).toEqual({ status: 0, stdout: '', stderr: '' })

    expect(runProgram(folder, `${type}/program.js`)).toEqual(OK)
  },
)

test('a CommonJS package compiles `import library = require()`, and runs', () => {
  const text = `import library = require('perilune')
const made: typeof library.perilune = library.perilune
console.log(typeof made === 'function')`

  expect(compile('commonjs', { module: 'nodenext' }, text)).toEqual({ status: 0, stdout: '', stderr: '' })
  expect(runProgram(folder, 'commonjs/program.js')).toEqual(OK)
})

test.each(['esm', 'cjs'] as const)(
  'a program compiles with `moduleResolution: bundler`, and runs when it is bundled as %s',
  async (format) => {
    const options = { module: 'esnext', moduleResolution: 'bundler' }
    expect(compile('module', options, IMPORTS)).toEqual({ status: 0, stdout: '', stderr: '' })

    const bundle = format === 'esm' ? 'bundle.mjs' : 'bundle.cjs'
    await build({
      entryPoints: [join(folder, 'module/program.js')],
      outfile: join(folder, bundle),
      bundle: true,
      format,
      platform: 'node',
      target: 'node20.19',
      logLevel: 'silent',
    })
    expect(runProgram(folder, bundle)).toEqual(OK)
  },
)
