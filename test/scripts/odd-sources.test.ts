// For any form of the source: the script that is sent to Redis behaves like the source, and the module passes the type
// checker.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { generate } from '../../tools/command/generate.ts'
import { compileTree } from '../../tools/contract/compile.ts'
import type { OperationContract } from '../../tools/contract/contract.ts'
import { locate } from '../../tools/contract/locate.ts'
import { ContractError } from '../../tools/contract/problem.ts'
import { countOf } from '../proof.ts'
import { byHand, KEYS, type OddSource, oddSource } from './odd-source.ts'

const ROOT = join(import.meta.dirname, '../..')
const LIBRARY = join(ROOT, 'lua')
const RUNS = countOf(5_000, 400)

let folder: string
let client: Redis
beforeAll(() => {
  mkdirSync(join(ROOT, '.perilune'), { recursive: true })
  folder = mkdtempSync(join(ROOT, '.perilune/odd-'))
  client = new Redis(inject('redisPort'))
})
afterAll(() => {
  client.disconnect()
  rmSync(folder, { recursive: true })
})

const KEY = 'odd-sources:{odd}:state'

interface Ran {
  readonly reply: unknown
  /** The line of an error that Lua threw, in the text that ran. */
  readonly errorLine: number | null
  readonly state: unknown
}

async function run(source: string): Promise<Ran> {
  await client.del(KEY)
  const outcome = await client.eval(source, 1, KEY, 'given').then(
    (reply: unknown) => ({ reply, errorLine: null }),
    ({ message }: Error) => ({
      // Lua calls a local as the text does that ran.
      reply: message.replaceAll(
        /user_script:\s?\d+|f_[0-9a-f]+|script: [0-9a-f]+|(?<=local |upvalue )'\w+'/g,
        '',
      ),
      errorLine: Number(/user_script:\s?(\d+)/.exec(message)?.[1] ?? 0),
    }),
  )
  return { ...outcome, state: await client.hgetall(KEY) }
}

function put(root: string, { operation, fragment }: OddSource, name = 'act'): void {
  const files = { [`odd/${name}`]: operation, 'odd/keys': KEYS, 'shared/odd': fragment }
  for (const [path, text] of Object.entries(files)) {
    if (text === '') continue
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, `${path}.lua`), text)
  }
}

/** Null where it is refused; then every problem has its place. */
function compiled(source: OddSource): OperationContract | null {
  const root = join(folder, 'redis')
  rmSync(root, { recursive: true, force: true })
  put(root, source)
  try {
    return compileTree(root, undefined, LIBRARY).operations['odd/act'] ?? null
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    for (const { file, line } of error.problems) {
      expect(file).toMatch(/^redis\/(odd\/act|shared\/odd)\.lua$/)
      expect(line).toBeGreaterThan(0)
    }
    return null
  }
}

test('the sent script does what the source does, and reports an error at its place', async () => {
  const played: OddSource[] = []
  const property = fc.asyncProperty(fc.gen(), async (gen) => {
    const source = oddSource(gen)
    const operation = compiled(source)
    if (operation === null) return
    played.push(source)
    const [wanted, found] = [await run(byHand(source)), await run(operation.source)]
    expect({ ...found, errorLine: 0 }).toEqual({ ...wanted, errorLine: 0 })
    if (found.errorLine !== null && source.fragment === '')
      expect(locate(operation.lines, found.errorLine).line).toBe(wanted.errorLine)
  })
  await fc.assert(property, { numRuns: RUNS })
  expect(played.length).toBeGreaterThan(RUNS / 3)
  expect(typeErrorsOf(played.filter(({ fragment }) => fragment === '').slice(0, 100))).toBe('')
}, 600_000)

/** One module with all of them. */
function typeErrorsOf(sources: readonly OddSource[]): string {
  const root = join(folder, 'all')
  for (const [at, source] of sources.entries()) put(root, source, `act-${at}`)
  generate({ folder: root, out: join(folder, 'all.ts'), check: false, library: LIBRARY })
  const config = { extends: join(ROOT, 'tsconfig.json'), files: ['all.ts'], include: [], exclude: [] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  return spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' }).stdout
}

test('a module contains the compiled text, byte for byte', async () => {
  const source: OddSource = {
    operation: `--[[\nActs.\n\n@returns done  text:text\n@reads\n@cost    O(1)\n]]\nlocal odd = '\`\${x}\\\\' .. [[\\]] .. 'é€😀' .. "\\n\\\`" -- \`\${y}\u2028\\\nredis.call('HLEN', keys.state)\nreturn { 'done', odd }\n`,
    fragment: '',
  }
  const root = join(folder, 'bytes')
  put(root, source)
  generate({ folder: root, out: join(folder, 'bytes.ts'), check: false, library: LIBRARY })
  const module: { preload(redis: unknown): Promise<void> } = await import(join(folder, 'bytes.ts'))
  const scripts: { readonly source: string; readonly sha1: string }[] = []

  await module.preload({ runtime: { preload: (all: typeof scripts) => scripts.push(...all) } })

  const sent = `local a=KEYS[1]\nlocal b='\`\${x}\\\\'..[[\\]]..'é€😀'.."\\n\\\`"\nredis.call('HLEN',a)\nreturn{'done',b}`
  expect(scripts[0]?.source).toBe(sent)
  expect(await client.script('LOAD', sent)).toBe(scripts[0]?.sha1)
})
