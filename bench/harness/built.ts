// The library and the service as they are shipped: compiled from the sources as they are now. What `tsx`
// runs keeps the names of functions, which costs a fifth of the time of a hot path.

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'tsdown'
import type * as IoredisDriver from '../../src/drivers/ioredis.ts'
import type * as Perilune from '../../src/index.ts'

export interface Built {
  readonly perilune: typeof Perilune.perilune
  readonly text: typeof Perilune.text
  readonly ioredis: typeof IoredisDriver.ioredis
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

let library: Promise<Built> | undefined

/** Built once a process. */
export function builtLibrary(): Promise<Built> {
  library ??= loadLibrary()
  return library
}

/** The path of a module that starts the service, with the library in it. */
export async function builtService(): Promise<string> {
  return join(await compile({ main: 'server/main.ts' }), 'main.mjs')
}

async function loadLibrary(): Promise<Built> {
  const directory = await compile({ index: 'src/index.ts', ioredis: 'src/drivers/ioredis.ts' })
  const load = (name: string): Promise<Built> => import(pathToFileURL(join(directory, name)).href)
  const [{ perilune, text }, { ioredis }] = await Promise.all([load('index.mjs'), load('ioredis.mjs')])
  return { perilune, text, ioredis }
}

/** Inside `node_modules`, where what was compiled finds its dependencies; gone when this process ends. */
async function compile(entry: Record<string, string>): Promise<string> {
  const cache = join(ROOT, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const outDir = mkdtempSync(join(cache, 'perilune-bench-'))
  process.once('exit', () => rmSync(outDir, { recursive: true, force: true }))
  await build({
    config: false,
    cwd: ROOT,
    entry,
    outDir,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    dts: false,
    logLevel: 'warn',
    deps: { neverBundle: dependenciesOfService() },
    alias: {
      'perilune/ioredis': join(ROOT, 'src/drivers/ioredis.ts'),
      perilune: join(ROOT, 'src/index.ts'),
    },
  })
  return outDir
}

function dependenciesOfService(): string[] {
  const text = readFileSync(join(ROOT, 'server/package.json'), 'utf8')
  const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(text)
  return Object.keys(dependencies).filter((name) => name !== 'perilune')
}
