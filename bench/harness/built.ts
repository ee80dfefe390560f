// The library and the service as they are shipped: compiled from the sources as they are now. What `tsx`
// runs keeps the names of functions, which costs a fifth of the time of a hot path.

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'tsdown'
import type * as IoredisDriver from '../../src/drivers/ioredis.ts'
import type * as Perilune from '../../src/index.ts'
import type * as Mysql from '../../src/sinks/mysql.ts'
import type * as Postgres from '../../src/sinks/postgres.ts'
import type * as Sqlite from '../../src/sinks/sqlite.ts'

export interface Built {
  readonly perilune: typeof Perilune.perilune
  readonly text: typeof Perilune.text
  readonly ioredis: typeof IoredisDriver.ioredis
  readonly postgres: typeof Postgres
  readonly mysql: typeof Mysql
  readonly sqlite: typeof Sqlite
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

let library: Promise<Built> | undefined

/** Built once a process. */
export function builtLibrary(): Promise<Built> {
  library ??= loadLibrary()
  return library
}

/** The library as it was built in another folder. What that lacks is taken from this one. */
export async function libraryIn(folder: string): Promise<Built> {
  const load = (name: string): Promise<Partial<Built>> =>
    import(pathToFileURL(join(folder, 'dist', `${name}.mjs`)).href)
  const [now, index, driver] = await Promise.all([builtLibrary(), load('index'), load('ioredis')])
  return { ...now, ...index, ...driver }
}

/** The path of a module that starts the service, with the library in it. */
export async function builtService(): Promise<string> {
  return join(await compile({ main: 'server/main.ts' }), 'main.mjs')
}

async function loadLibrary(): Promise<Built> {
  const directory = await compile({
    index: 'src/index.ts',
    ioredis: 'src/drivers/ioredis.ts',
    postgres: 'src/sinks/postgres.ts',
    mysql: 'src/sinks/mysql.ts',
    sqlite: 'src/sinks/sqlite.ts',
  })
  const load = <Module>(name: string): Promise<Module> =>
    import(pathToFileURL(join(directory, `${name}.mjs`)).href)
  const [{ perilune, text }, { ioredis }, postgres, mysql, sqlite] = await Promise.all([
    load<typeof Perilune>('index'),
    load<typeof IoredisDriver>('ioredis'),
    load<typeof Postgres>('postgres'),
    load<typeof Mysql>('mysql'),
    load<typeof Sqlite>('sqlite'),
  ])
  return { perilune, text, ioredis, postgres, mysql, sqlite }
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
